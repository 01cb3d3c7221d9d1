// One exchange on a plain socket, byte for byte: for requests that no client would send.
import { connect } from 'node:net'

// What came back until the other side closed.
export async function exchange(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    socket.setEncoding('utf8')
    socket.on('data', (part) => {
      answer += String(part)
    })
    socket.on('error', () => resolve(answer)) // who refuses in the middle of a request may also reset
    socket.on('close', () => resolve(answer))
  })
}
