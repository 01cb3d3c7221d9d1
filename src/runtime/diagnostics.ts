// The server of --diagnostics-address: /metrics, and /debug/flags/v to change how much is logged, for those whom the API
// server lets. Unsafe, it serves the metrics to anybody, and nothing else.
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { seal } from '../api/sealed.ts'
import type { Address } from './address.ts'
import { type Certificate, selfSigned } from './certificate.ts'
import { startCertificateFiles } from './certificatefiles.ts'
import type { Clock } from './clock.ts'
import { type Log, levelOf } from './log.ts'
import type { Reviews } from './reviews.ts'
import { answer, bounds, type Serving, serve } from './serving.ts'
import type { TlsBounds } from './tls.ts'

export interface DiagnosticsOptions {
  readonly address: Address
  readonly render: () => string // the metrics
  readonly log: Log
  readonly safety: 'none' | Safety
}

export interface Safety {
  readonly reviews: Reviews
  readonly clock: Clock
  readonly certificateFolder?: string // none: one of our own
  readonly names: readonly string[] // what our own certificate names
  readonly tls: TlsBounds
}

export async function startDiagnostics({ address, render, log, safety }: DiagnosticsOptions): Promise<Serving> {
  const pages = new Map<string, Page>()
  pages.set('/metrics', { method: 'GET', show: () => [200, render(), 'text/plain; version=0.0.4; charset=utf-8'] })
  if (safety !== 'none') pages.set('/debug/flags/v', { method: 'PUT', show: (body) => setVerbosity(body, log) })
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    answerTo(request).then(
      (shown) => answer(response, ...shown),
      (error: unknown) => {
        log.warn('a diagnostics page cannot be shown', { path: pathOf(request), error })
        answer(response, 500, 'this cannot be answered now, the log of the manager says why\n')
      },
    )
  }
  async function answerTo(request: IncomingMessage): Promise<Shown> {
    const path = pathOf(request)
    const page = pages.get(path)
    if (!page) return [404, 'there is no such page\n']
    const refusal = safety === 'none' ? undefined : await refusalOf(safety.reviews, path, request)
    if (refusal) return refusal
    // The words and the code are core's.
    if (request.method !== page.method) return [406, 'unsupported http method\n']
    return page.show(page.method === 'PUT' ? await bodyOf(request) : '')
  }
  if (safety === 'none') return serve(createHttpServer(bounds, handle), address, log)

  const { certificateFolder, clock, names, tls } = safety
  const contextOf = ({ certificate, key }: Certificate) => ({ cert: certificate, key: key.open(), ...tls })
  const files =
    certificateFolder === undefined
      ? undefined
      : startCertificateFiles(certificateFolder, {
          clock,
          log,
          renewed: (pair) => server.setSecureContext(contextOf(pair)),
        })
  const first = files?.first ?? selfSigned(['localhost', ...names], new Date())
  const server = createHttpsServer({ ...bounds, handshakeTimeout: 10_000, ...contextOf(first) }, handle)
  try {
    const serving = await serve(server, address, log)
    return { ...serving, close: async () => (files?.stop(), serving.close()) }
  } catch (error) {
    files?.stop()
    throw error
  }
}

type Shown = readonly [code: number, text: string, type?: string]

interface Page {
  readonly method: string
  show(body: string): Shown
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? ''
}

async function refusalOf(reviews: Reviews, path: string, request: IncomingMessage): Promise<Shown | undefined> {
  const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? []
  const nobody: Shown = [401, 'say who you are: send a bearer token that the API server knows\n']
  if (token === undefined) return nobody
  const verb = (request.method ?? '').toLowerCase()
  switch (await reviews.review(seal(token), { verb, path })) {
    case 'unknown':
      return nobody
    case 'denied':
      return [403, `you may not ${verb} ${path}: a ClusterRole with that nonResourceURL and verb lets you\n`]
    case 'allowed':
      return undefined
  }
}

// No more of it than a number can need. Leaving in the middle ends the request, not the connection: the answer is sent.
async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const part of request.setEncoding('utf8')) {
    body += String(part)
    if (body.length > 16) return `${body.slice(0, 16)}…`
  }
  return body
}

// Answers as core's handler of that path does when all is well.
function setVerbosity(text: string, log: Log): Shown {
  if (!/^\d{1,9}$/.test(text)) return [400, `${JSON.stringify(text)} is no whole number\n`]
  log.setLevel(levelOf(Number(text)))
  return [200, `successfully set klog.logging.verbosity to ${text}\n`]
}
