// One exchange on a plain socket, byte for byte: for requests that no client would send.
import { connect } from 'node:net'

// What came back until the other side closed.
export async function exchange(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    socket.setEncoding('utf8')
    socket.on('data', (part) => {
      answer += String(part)
    })
    // A server that refuses in the middle of a request may reset; what it said before counts.
    socket.on('error', (error) => (answer ? resolve(answer) : reject(error)))
    socket.on('close', () => resolve(answer))
  })
}
