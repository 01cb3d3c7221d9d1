// Opens one connection to a server: through a proxy if there is one, TLS on top. What is spoken on it is not known here.
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect as connectTCP, isIP, type Socket } from 'node:net'
import { connect as connectTLS } from 'node:tls'
import type { Way } from './access.ts'

const withinMs = 10_000
const keepAliveAfterMs = 15_000

export interface Dialled {
  readonly socket: Socket
  readonly protocol: 'h2' | 'http/1.1'
}

export async function dial(access: Way, protocols: readonly string[], signal: AbortSignal): Promise<Dialled> {
  const calling = new AbortController()
  const late = () => calling.abort(new Error(`no connection to ${access.server.host} within ${withinMs / 1000} s`))
  const callOff = () => calling.abort(signal.reason)
  const timer = setTimeout(late, withinMs)
  signal.addEventListener('abort', callOff)
  try {
    return await connect(access, protocols, calling.signal)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', callOff)
  }
}

async function connect(access: Way, protocols: readonly string[], called: AbortSignal): Promise<Dialled> {
  const { server } = access
  const isPlain = server.protocol === 'http:'
  const port = Number(server.port || (isPlain ? 80 : 443))
  const host = server.hostname.replace(/^\[|\]$/g, '')
  const below = access.proxy && (await tunnel(access.proxy, host, port, called))
  if (isPlain) {
    const socket = below ?? connectTCP({ host, port })
    await opened(socket, below ? undefined : 'connect', called)
    return { socket, protocol: 'http/1.1' }
  }
  const { certificate, key } = (await access.credentials?.()) ?? {}
  const name = access.serverName ?? host
  const socket = connectTLS({
    ...(below ? { socket: below } : { host, port }),
    ALPNProtocols: [...protocols],
    ...(isIP(name) === 0 && { servername: name }), // an address is no name for SNI; it is checked all the same
    ...(access.ca !== undefined && { ca: access.ca }),
    ...(certificate !== undefined && { cert: certificate }),
    ...(key && { key: key.open() }),
    rejectUnauthorized: access.isUnchecked !== true,
  })
  await opened(socket, 'secureConnect', called)
  return { socket, protocol: socket.alpnProtocol === 'h2' ? 'h2' : 'http/1.1' }
}

async function opened(socket: Socket, event: string | undefined, signal: AbortSignal): Promise<void> {
  if (event !== undefined) {
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: Error) => {
        signal.removeEventListener('abort', giveUp)
        if (error) socket.destroy()
        if (error) reject(error)
        else resolve()
      }
      const giveUp = () => settle(signal.reason instanceof Error ? signal.reason : new Error('called off'))
      signal.addEventListener('abort', giveUp)
      socket.once(event, () => settle())
      socket.once('error', settle)
      socket.once('close', () => settle(new Error('the connection was closed while it was opened')))
      if (signal.aborted) giveUp()
    })
  }
  socket.setNoDelay(true)
  socket.setKeepAlive(true, keepAliveAfterMs)
}

// A way through an HTTP proxy (CONNECT).
async function tunnel(proxy: URL, host: string, port: number, signal: AbortSignal): Promise<Socket> {
  const target = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const login = proxy.username
    ? Buffer.from(`${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`).toString('base64')
    : undefined
  const ask = proxy.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const request = ask({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: Number(proxy.port || (proxy.protocol === 'https:' ? 443 : 80)),
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...(login !== undefined && { 'proxy-authorization': `Basic ${login}` }) },
      agent: false,
      signal,
    })
    const fail = (why: string, cause?: unknown) =>
      reject(new Error(`the proxy ${proxy.host} gives no way to ${target}: ${why}`, { cause }))
    request.on('connect', ({ statusCode = 0, statusMessage = '' }, socket) => {
      if (statusCode === 200) return resolve(socket)
      socket.destroy()
      fail(`${statusCode} ${statusMessage}`)
    })
    request.on('response', ({ statusCode = 0 }) => {
      request.destroy()
      fail(`it answered ${statusCode}`)
    })
    request.on('error', (error) => fail(error.message, error))
    request.end()
  })
}
