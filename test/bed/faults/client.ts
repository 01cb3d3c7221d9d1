// A client that hides nothing: what came over the wire, chunk by chunk, and how it ended. For HTTP/1.1 and HTTP/2.
import http2 from 'node:http2'
import https from 'node:https'

export type Version = 'HTTP/1.1' | 'HTTP/2'

export interface Heard {
  status: number | undefined
  headers: Readonly<Record<string, string | string[] | undefined>>
  readonly chunks: string[]
  readonly chunkTimes: number[] // milliseconds since the request
  // Undefined while it lasts; `whole` when the answer ended as it should; else what broke.
  ending: string | undefined
  hangUp(): void
}

export interface Question {
  readonly server: string
  readonly ca: string
  readonly token: string
  readonly path: string
}

export function ask(version: Version, { server, ca, token, path }: Question): Heard {
  const began = performance.now()
  const heard: Heard = {
    status: undefined,
    headers: {},
    chunks: [],
    chunkTimes: [],
    ending: undefined,
    hangUp: () => {},
  }
  const onChunk = (chunk: Buffer) => {
    heard.chunks.push(chunk.toString())
    heard.chunkTimes.push(performance.now() - began)
  }
  const onEnd = (ending: string) => (heard.ending ??= ending)
  // A stream that never began tells of its connection's end as the cause of its own.
  const onError = (error: NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException }) =>
    onEnd(error.cause?.code ?? error.code ?? error.message)
  const authorization = `Bearer ${token}`

  if (version === 'HTTP/2') {
    const session = http2.connect(server, { ca })
    session.on('error', onError)
    const stream = session.request({ ':path': path, authorization })
    stream.on('response', (headers) => Object.assign(heard, { headers, status: headers[':status'] }))
    stream.on('data', onChunk)
    stream.on('error', onError)
    stream.on('end', () => queueMicrotask(() => stream.rstCode === 0 && onEnd('whole')))
    stream.on('close', () => onEnd(stream.rstCode === 0 ? 'whole' : `stream closed with ${stream.rstCode}`))
    heard.hangUp = () => session.destroy()
  } else {
    const request = https.get(new URL(path, server), { ca, agent: false, headers: { authorization } })
    request.on('response', (response) => {
      Object.assign(heard, { headers: response.headers, status: response.statusCode })
      response.on('data', onChunk)
      response.on('error', onError)
      response.on('end', () => onEnd('whole'))
    })
    request.on('error', onError)
    heard.hangUp = () => void request.destroy()
  }
  return heard
}
