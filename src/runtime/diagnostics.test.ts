import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request as ask } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { connect, type SecureVersion, type TLSSocket } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { exchange } from '../../test/raw-http.ts'
import { ApiError } from '../kube/errors.ts'
import { type Certificate, selfSigned } from './certificate.ts'
import { type DiagnosticsOptions, type Safety, startDiagnostics } from './diagnostics.ts'
import { createLog } from './log.ts'
import type { Reviews } from './reviews.ts'
import { tlsBounds } from './tls.ts'

const address = { host: '127.0.0.1', port: 0 }

// Knows Ann, who may everything, and Ben, who may nothing.
const reviews: Reviews = {
  async review(token) {
    switch (token.open()) {
      case 'ann':
        return Promise.resolve('allowed')
      case 'ben':
        return Promise.resolve('denied')
      case 'lost':
        return Promise.reject(new ApiError({ doing: 'create TokenReview', message: 'connection refused' }))
      default:
        return Promise.resolve('unknown')
    }
  },
}

async function aServer(safety: Partial<Safety> = {}, options: Partial<DiagnosticsOptions> = {}) {
  const to = new PassThrough()
  const log = createLog({ to, level: 'info' })
  const clock = virtualClock()
  const serving = await startDiagnostics({
    address,
    log,
    render: () => 'up 1\n',
    safety: { reviews, clock, names: ['capt.svc'], tls: tlsBounds('VersionTLS12', []), ...safety },
    ...options,
  })
  onTestFinished(serving.close)
  return { port: serving.port, clock, log, told: () => String(to.read() ?? ''), serving }
}

interface Call {
  readonly token?: string
  readonly method?: string
  readonly body?: string
}

async function call(port: number, path: string, { token, method = 'GET', body = '' }: Call = {}) {
  return new Promise<{ status: number | undefined; type: string | undefined; text: string }>((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const request = ask({ host: '127.0.0.1', port, path, method, headers, rejectUnauthorized: false, agent: false })
    request.on('error', reject).on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part) => {
        text += String(part)
      })
      response.on('end', () => resolve({ status: response.statusCode, type: response.headers['content-type'], text }))
    })
    request.end(body)
  })
}

test('who may sees the metrics', async () => {
  const { port } = await aServer()
  expect(await call(port, '/metrics', { token: 'ann' })).toEqual({
    status: 200,
    type: 'text/plain; version=0.0.4; charset=utf-8',
    text: 'up 1\n',
  })
  expect((await call(port, '/metrics?x=1', { token: 'ann' })).status).toBe(200)
})

test.each<[string, string | undefined, number, string]>([
  ['nobody', undefined, 401, 'say who you are'],
  ['a stranger', 'eve', 401, 'say who you are'],
  ['who may not', 'ben', 403, 'you may not get /metrics'],
  ['anybody while the API server is away', 'lost', 500, 'this cannot be answered now'],
])('%s sees nothing, and why', async (_, token, status, says) => {
  const { port } = await aServer()
  const answer = await call(port, '/metrics', token === undefined ? {} : { token })
  expect(answer.status).toBe(status)
  expect(answer.text).toContain(says)
  expect(answer.text).not.toContain('up 1')
})

test('that the API server was away is logged, without the token', async () => {
  const { port, told } = await aServer()
  await call(port, '/metrics?token=hunter2', { token: 'lost' })
  const line = told()
  expect(JSON.parse(line)).toMatchObject({
    path: '/metrics',
    error: 'cannot create TokenReview: connection refused',
  })
  expect(line).not.toMatch(/lost|hunter2/)
})

test('the API server is asked of the page and the method as the verb', async () => {
  const asked: object[] = []
  const { port } = await aServer({
    reviews: {
      async review(_, about) {
        asked.push(about)
        return Promise.resolve('denied')
      },
    },
  })
  await call(port, '/metrics?a=b', { token: 'ann' })
  expect(await call(port, '/debug/flags/v', { token: 'ann', method: 'PUT', body: '5' })).toMatchObject({ status: 403 })
  expect(asked).toEqual([
    { verb: 'get', path: '/metrics' },
    { verb: 'put', path: '/debug/flags/v' },
  ])
})

test('how much is logged can be changed, and the answers are those of core', async () => {
  const { port, log, told } = await aServer()
  const put = async (body: string) => call(port, '/debug/flags/v', { token: 'ann', method: 'PUT', body })
  expect(await put('5')).toMatchObject({ status: 200, text: 'successfully set klog.logging.verbosity to 5\n' })
  log.debug('seen')
  expect(await put('0')).toMatchObject({ status: 200 })
  log.debug('unseen')
  expect(told()).toMatch(/^[^\n]*"seen"[^\n]*\n$/)
  expect(await put('loud')).toMatchObject({
    status: 400,
    text: '"loud" is no whole number\n',
  })
  expect(await call(port, '/debug/flags/v', { token: 'ann' })).toMatchObject({
    status: 406,
    text: 'unsupported http method\n',
  })
})

test('a body that is far too long is refused without reading it all', async () => {
  const { port } = await aServer()
  const body = '9'.repeat(10_000_000)
  const { status, text } = await call(port, '/debug/flags/v', { token: 'ann', method: 'PUT', body })
  expect(status).toBe(400)
  expect(text.length).toBeLessThan(100)
})

test('there are no other pages', async () => {
  const { port } = await aServer()
  for (const path of ['/', '/debug', '/constructor', '/metrics/']) {
    expect((await call(port, path, { token: 'ann' })).status).toBe(404)
  }
})

test('metrics that cannot be rendered do not end the process', async () => {
  const { port, told } = await aServer(
    {},
    {
      render() {
        throw new Error('a gauge broke')
      },
    },
  )
  expect((await call(port, '/metrics', { token: 'ann' })).status).toBe(500)
  expect(told()).toContain('a gauge broke')
})

test('unsafe, anybody sees the metrics over plain HTTP, and nobody changes anything', async () => {
  const { port } = await aServer({}, { safety: 'none' })
  const metrics = await fetch(`http://127.0.0.1:${port}/metrics`)
  expect({ status: metrics.status, text: await metrics.text() }).toEqual({ status: 200, text: 'up 1\n' })
  const flags = await fetch(`http://127.0.0.1:${port}/debug/flags/v`, { method: 'PUT', body: '9' })
  expect(flags.status).toBe(404)
})

async function handshake(port: number, maxVersion: SecureVersion) {
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const opened: TLSSocket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, maxVersion }, () =>
      resolve(opened),
    )
    opened.on('error', reject)
  })
  const seen = {
    protocol: socket.getProtocol(),
    cipher: socket.getCipher().standardName,
    names: socket.getPeerCertificate().subjectaltname,
    fingerprint: socket.getPeerX509Certificate()?.fingerprint256,
  }
  socket.destroy()
  return seen
}

test('its own certificate names localhost and the service', async () => {
  const { port } = await aServer()
  expect((await handshake(port, 'TLSv1.3')).names).toBe('DNS:localhost, DNS:capt.svc')
})

test('an older TLS than allowed is refused, and the server goes on', async () => {
  const { port } = await aServer({ tls: tlsBounds('VersionTLS13', []) })
  await expect(handshake(port, 'TLSv1.2')).rejects.toThrow(/version|ECONNRESET/)
  expect(await handshake(port, 'TLSv1.3')).toMatchObject({ protocol: 'TLSv1.3' })
})

test('of TLS 1.2 only the chosen suites are spoken, and TLS 1.3 still is', async () => {
  const suite = 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384'
  const { port } = await aServer({ tls: tlsBounds('VersionTLS12', [suite]) })
  expect(await handshake(port, 'TLSv1.2')).toMatchObject({ protocol: 'TLSv1.2', cipher: suite })
  expect(await handshake(port, 'TLSv1.3')).toMatchObject({ protocol: 'TLSv1.3' })
})

test('what is no TLS at all harms nobody', async () => {
  const { port } = await aServer()
  await exchange(port, 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n')
  expect((await call(port, '/metrics', { token: 'ann' })).status).toBe(200)
})

test('a certificate from files is served, and a renewed one after it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'capt-diagnostics-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const write = ({ certificate, key }: Certificate) => {
    writeFileSync(join(folder, 'tls.crt'), certificate)
    writeFileSync(join(folder, 'tls.key'), key.open())
  }
  write(selfSigned(['first'], new Date()))
  const { port, clock } = await aServer({ certificateFolder: folder, tls: tlsBounds('VersionTLS13', []) })
  expect((await handshake(port, 'TLSv1.3')).names).toBe('DNS:first')
  write(selfSigned(['second'], new Date()))
  await clock.advance(10_000)
  expect((await handshake(port, 'TLSv1.3')).names).toBe('DNS:second')
  await expect(handshake(port, 'TLSv1.2')).rejects.toThrow(/version|ECONNRESET/)
})

test('closed, it lets go of the address at once, also of callers that linger', async () => {
  const { port, serving } = await aServer({}, { safety: 'none' })
  const lingering = exchange(port, 'GET /metr')
  await fetch(`http://127.0.0.1:${port}/metrics`)
  await serving.close()
  await expect(lingering).resolves.toBe('')
  await expect(fetch(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow('fetch failed')
})
