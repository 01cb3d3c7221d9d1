// The API server's side of the proxy: asks in the client's name, over the client's version of HTTP.
import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { pipeline } from 'node:stream/promises'
import type { PeerCertificate, TLSSocket } from 'node:tls'
import type { Certified } from '../certificates.ts'

export interface UpstreamOptions {
  readonly server: string
  readonly ca: string // PEM
  readonly frontProxy: Certified
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly chunks: AsyncIterable<Buffer>
  readonly abort: () => void
}

export type Headers = Readonly<Record<string, string | string[]>>
export type Request = http2.Http2ServerRequest | IncomingMessage

export interface Upstream {
  ask(request: Request): Promise<Answer>
  close(): void
}

export function upstreamOf({ server, ca, frontProxy }: UpstreamOptions): Upstream {
  const credentials = { ca, cert: frontProxy.cert, key: frontProxy.key }
  const agent = new https.Agent({ ...credentials, keepAlive: true })
  // One connection upstream for each of a client's, so that what happens to one happens to the other.
  const sessions = new Map<http2.Http2Session, http2.ClientHttp2Session>()

  const sessionFor = (client: http2.Http2Session): http2.ClientHttp2Session => {
    const known = sessions.get(client)
    if (known && !known.closed && !known.destroyed) return known
    const session = http2.connect(server, credentials)
    session.on('error', () => {}) // its streams tell
    if (!known) {
      client.once('close', () => {
        sessions.get(client)?.destroy()
        sessions.delete(client)
      })
    }
    sessions.set(client, session)
    return session
  }

  return {
    ask: async (request) => {
      const headers = { ...passedOn(request.headers), ...onBehalfOf(request) }
      const session = 'stream' in request ? request.stream.session : undefined
      return session ? askHttp2(sessionFor(session), request, headers) : askHttp1(server, agent, request, headers)
    },
    close() {
      agent.destroy()
      for (const session of sessions.values()) session.destroy()
    },
  }
}

async function askHttp2(session: http2.ClientHttp2Session, request: Request, headers: Headers): Promise<Answer> {
  const stream = session.request({ ...headers, ':method': request.method, ':path': request.url })
  sendBody(request, stream)
  const [answered] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader]
  return {
    status: answered[':status'] ?? 0,
    headers: passedOn(answered),
    chunks: stream as AsyncIterable<Buffer>,
    abort: () => stream.close(http2.constants.NGHTTP2_CANCEL),
  }
}

async function askHttp1(server: string, agent: https.Agent, request: Request, headers: Headers): Promise<Answer> {
  const asked = https.request(new URL(request.url ?? '/', server), { method: request.method, headers, agent })
  sendBody(request, asked)
  const [answered] = (await once(asked, 'response')) as [IncomingMessage]
  return {
    status: answered.statusCode ?? 0,
    headers: passedOn(answered.headers),
    chunks: answered as AsyncIterable<Buffer>,
    abort: () => void answered.destroy(),
  }
}

function sendBody(request: Request, to: NodeJS.WritableStream): void {
  pipeline(request, to).catch(() => {}) // the answer, or its absence, tells
}

// Everything but what belongs to one connection, what only we may say, and compression, which would hide the lines.
function passedOn(headers: http2.IncomingHttpHeaders | IncomingHttpHeaders): Headers {
  const ours = /^(:.*|connection|keep-alive|transfer-encoding|upgrade|http2-settings|host|accept-encoding|x-remote-.*)$/
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string | string[]] => {
      return entry[1] !== undefined && !ours.test(entry[0])
    }),
  )
}

// A client certificate ends at our TLS; the API server takes our word for whose it was.
function onBehalfOf(request: Request): Headers {
  const socket = request.socket as TLSSocket
  if (!socket.authorized) return {}
  const { subject } = socket.getPeerCertificate() as Partial<PeerCertificate>
  if (!subject?.CN) return {}
  return { 'x-remote-user': subject.CN, 'x-remote-group': [subject.O ?? []].flat() }
}
