// Free ports for servers that must be told theirs before they start.
import { createServer } from 'node:net'

// Below the range from which Linux takes ports for outgoing connections (32768 up): between our look and the server's
// start nobody takes such a port by accident. Drawn at random, so beds side by side hardly ever meet.
const lowest = 15_000
const highest = 32_000
const drawn = new Set<number>()

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest))
    if (!drawn.has(port) && (await isFree(port))) {
      drawn.add(port)
      return port
    }
  }
  throw new Error(`no free port between ${lowest} and ${highest} in 100 tries`)
}

async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '0.0.0.0', () => server.close(() => resolve(true)))
  })
}
