// A thread that serves watches of prepared lines over HTTP/2 and TLS, as fast as they are taken: an API server that is never
// the one that is waited for. It knows no objects but what it is handed.
import http2 from 'node:http2'
import { parentPort, workerData } from 'node:worker_threads'

export interface Prepared {
  readonly cert: string
  readonly key: string
  readonly path: string // of the watch that gets the lines; every other hears nothing
  readonly lines: string
}

const { cert, key, path, lines } = workerData as Prepared
const bookmark = JSON.stringify({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion: '1', annotations: { 'k8s.io/initial-events-end': 'true' } } },
})

const server = http2.createSecureServer({ cert, key })
server.on('stream', (stream, headers) => {
  stream.on('error', () => {}) // who leaves, leaves
  stream.respond({ ':status': 200 })
  stream.write(`${bookmark}\n`)
  if (headers[':path']?.startsWith(`${path}?`)) parentPort?.once('message', () => stream.write(lines))
})
server.listen(0, '127.0.0.1', () => parentPort?.postMessage(server.address()))
