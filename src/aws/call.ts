// One question over HTTP and the whole of its answer. It knows nothing of AWS's words, follows no redirect and asks once.
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { getCACertificates } from 'node:tls'
import { dial } from '../kube/dial.ts'
import { chooseProxy } from '../kube/proxy.ts'
import { AwsError } from './errors.ts'
import type { Headers } from './signature.ts'

export interface Question {
  readonly doing: string // for the error
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers: Headers
  readonly body?: string
  readonly isNear?: true // on this machine: never through a proxy
}

export interface Around {
  readonly env: NodeJS.ProcessEnv
  readonly withinMs: number
  now(): number
}

export interface Answer {
  readonly status: number
  readonly text: string
}

const largest = 256 * 1024

export async function call(question: Question, { env, withinMs }: Around): Promise<Answer> {
  const { doing, url, isNear } = question
  const way = orFinal(doing, () => {
    const proxy = isNear ? undefined : chooseProxy(url, env)
    const ca = url.protocol === 'https:' ? authorities(env['AWS_CA_BUNDLE']) : undefined
    return { server: url, ...(proxy && { proxy }), ...(ca !== undefined && { ca }) }
  })
  const signal = AbortSignal.timeout(withinMs)
  let socket: Socket | undefined
  try {
    const dialled = await dial(way, ['http/1.1'], signal)
    socket = dialled.socket
    return await exchange(question, socket, signal)
  } catch (error) {
    const why = signal.aborted ? `no answer from ${url.host} within ${withinMs / 1000} s` : tell(error, url)
    throw new AwsError({ doing, why, isFinal: false }, { cause: error })
  } finally {
    socket?.destroy()
  }
}

async function exchange(
  { method, url, headers, body }: Question,
  socket: Socket,
  signal: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({
      method,
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
      createConnection: () => socket,
      signal,
    })
    asked.on('error', reject)
    asked.on('response', (response) => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('error', reject)
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        size += chunk.length
        if (size > largest) response.destroy(new Error(`the answer is larger than ${largest / 1024} KiB`))
      })
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      )
    })
    asked.end(body)
  })
}

// What Node trusts, and those of a proxy that opens TLS on the way.
function authorities(bundle: string | undefined): string | undefined {
  if (!bundle) return undefined
  try {
    return [...getCACertificates('default'), readFileSync(bundle, 'utf8')].join('\n')
  } catch (error) {
    throw new Error(`cannot read AWS_CA_BUNDLE: ${error instanceof Error && error.message}`, { cause: error })
  }
}

function orFinal<T>(doing: string, prepare: () => T): T {
  try {
    return prepare()
  } catch (error) {
    throw new AwsError({ doing, why: String(error instanceof Error && error.message), isFinal: true }, { cause: error })
  }
}

function tell(error: unknown, { host }: URL): string {
  if (!(error instanceof Error)) return `${host}: ${String(error)}`
  const isOfTrust = 'code' in error && /CERT|ISSUER|VERIFY/.test(String(error.code))
  return `${host}: ${error.message}${isOfTrust ? ' (an authority of your own is named by AWS_CA_BUNDLE)' : ''}`
}
