// A proxy between a client and the API server that breaks things on the wire, over TLS, for HTTP/1.1 and HTTP/2 alike.
// The API server is always the real one; without a rule everything passes unchanged, and who asks stays who they are.
import { once } from 'node:events'
import { ServerResponse } from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo, Server } from 'node:net'
import type { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { anAuthority } from '../certificates.ts'
import { type ConnectFault, distort, type Fault, statusOf } from './fault.ts'
import { type ConnectOccasion, type Occasion, type RequestOccasion, type Rule, rulesWithSeed } from './rules.ts'
import { type Answer, type Headers, type Request, type UpstreamOptions, upstreamOf } from './upstream.ts'
import { verbOf } from './verb.ts'
import { type Wire, wireServer } from './wire.ts'

export interface FaultProxyOptions extends UpstreamOptions {
  readonly seed?: number
}

export interface FaultProxy {
  readonly server: string // what clients connect to
  readonly ca: string // PEM
  inject(occasion: ConnectOccasion, fault: ConnectFault): Rule
  inject(occasion: RequestOccasion, fault: Fault): Rule
  // Strikes every connection that stands, now; those that come after are spared.
  strike(how: 'silence' | 'reset'): void
  heal(): void // no more faults for what comes; what fell silent stays silent
  stop(): Promise<void>
}

type Response = http2.Http2ServerResponse | ServerResponse

export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const rules = rulesWithSeed(options.seed ?? 1)
  const upstream = upstreamOf(options)
  const authority = anAuthority('fault-proxy')
  const inner = http2.createSecureServer({
    ...authority.issueServer('fault-proxy', ['127.0.0.1', 'localhost']),
    allowHTTP1: true,
    requestCert: true,
    rejectUnauthorized: false, // who comes without a certificate brings a token
    ca: options.ca,
  })
  const wires = wireServer({
    innerPort: await listen(inner),
    async onConnect(wire) {
      const fault = rules.strike({ verb: 'connect', path: '' })
      if (fault?.do === 'delay') await sleep(fault.ms)
      if (fault?.do === 'silence') wire.fallSilent()
      if (fault?.do === 'reset') wire.reset()
    },
  })

  const serve = async (request: Request, response: Response, wire: Wire): Promise<void> => {
    const { method = 'GET', url = '/' } = request
    const fault = rules.strike({ verb: verbOf(method, url), path: url })
    if (fault?.do === 'answer' && fault.isDone) await swallowed(await upstream.ask(request))
    if (fault?.do === 'answer') return answer(response, fault)
    if (fault?.do === 'delay') await sleep(fault.ms)
    const answered = await upstream.ask(request)
    response.on('close', answered.abort)
    await passOn(answered, response, fault, wire)
  }
  inner.on('request', (request: Request, response: Response) => {
    const wire = wires.wireFrom(request.socket.remotePort)
    if (!wire) return // the client has gone meanwhile
    // When the API server goes away in the middle, so do we, as a router's connection would.
    serve(request, response, wire).catch(() => wire.reset())
  })
  inner.on('secureConnection', (socket: TLSSocket) => socket.setNoDelay(true)) // no line waits for the acknowledgement of another
  inner.on('sessionError', () => {}) // a connection reset: by us, or by the client as it may

  return {
    server: `https://127.0.0.1:${await listen(wires.server)}`,
    ca: authority.cert,
    inject: (occasion: Occasion, fault: Fault) => rules.add(occasion, fault),
    strike(how) {
      for (const wire of wires.all()) {
        if (how === 'silence') wire.fallSilent()
        else wire.reset()
      }
    },
    heal: () => rules.clear(),
    async stop() {
      upstream.close()
      wires.closeAll()
      await Promise.all([close(wires.server), close(inner)])
    },
  }
}

async function swallowed({ chunks }: Answer): Promise<void> {
  for await (const _ of chunks) {
    // nobody is told
  }
}

function answer(response: Response, { code, retryAfterSeconds }: Fault & { do: 'answer' }): void {
  begin(response, code, {
    'content-type': 'application/json',
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  })
  response.end(JSON.stringify(statusOf(code, retryAfterSeconds)))
}

async function passOn(
  { status, headers, chunks }: Answer,
  response: Response,
  fault: Fault | undefined,
  wire: Wire,
): Promise<void> {
  const { 'content-length': _, ...distorted } = headers // a distorted answer has a length of its own
  begin(response, status, fault ? distorted : headers)
  for await (const step of distort(chunks, fault)) {
    if (response.destroyed) return
    if ('waitMs' in step) await sleep(step.waitMs)
    else if ('send' in step) await send(response, step.send)
    else if (step.end === 'whole') response.end()
    else {
      await sleep(letArriveMs)
      breakOff(step.end, response, wire)
    }
  }
}

function breakOff(how: 'reset' | 'reset stream' | 'silence', response: Response, wire: Wire): void {
  switch (how) {
    case 'silence':
      return wire.fallSilent()
    case 'reset stream':
      if (response instanceof ServerResponse) return wire.reset()
      return response.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR)
    case 'reset':
      return wire.reset()
  }
}

function begin(response: Response, status: number, headers: Headers): void {
  if (response instanceof ServerResponse) response.writeHead(status, headers).flushHeaders()
  else response.writeHead(status, headers)
}

const letArriveMs = 50 // a reset overtakes what was sent just before it

async function send(response: Writable, chunk: Buffer): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off('close', done)
      resolve()
    }
    response.once('close', done)
    response.write(chunk, done)
  })
}

async function listen(server: Server | http2.Http2SecureServer): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function close(server: Server | http2.Http2SecureServer): Promise<void> {
  await new Promise((resolve) => {
    server.close(resolve)
  })
}
