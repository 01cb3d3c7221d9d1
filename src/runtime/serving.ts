// What our two servers share: how much of a caller they bear, how they begin and end, how they answer. No page is here.
import type { Server, ServerOptions, ServerResponse } from 'node:http'
import type { Address } from './address.ts'
import { type Log, tellError } from './log.ts'

// Nobody who is slow, large or many takes the manager's memory or time.
export const bounds: ServerOptions = {
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 5000,
}
const mostConnections = 256

export interface Serving {
  readonly port: number
  close(): Promise<void>
}

export async function serve(server: Server, { host, port }: Address, log: Log): Promise<Serving> {
  server.maxConnections = mostConnections
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new Error(`cannot listen on ${host ?? ''}:${port}: ${tellError(error)}`, { cause: error })),
    )
    server.listen(host === undefined ? { port } : { host, port }, resolve)
  })
  server.on('error', (error) => log.warn('a server had trouble', { why: tellError(error) }))
  const bound = server.address()
  return {
    port: bound !== null && typeof bound === 'object' ? bound.port : port,
    close: async () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export function answer(response: ServerResponse, code: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(code, { 'content-type': type, 'x-content-type-options': 'nosniff' }).end(text)
}
