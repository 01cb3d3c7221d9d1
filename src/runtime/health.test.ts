import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { exchange } from '../../test/raw-http.ts'
import { type Checks, type Lasting, startHealth, watchesMove, workersMove } from './health.ts'
import { createLog } from './log.ts'

async function aServer(healthz: Checks, readyz: Checks = {}) {
  const to = new PassThrough()
  const log = createLog({ to, level: 'info' })
  const serving = await startHealth({ address: { host: '127.0.0.1', port: 0 }, healthz, readyz, log })
  onTestFinished(serving.close)
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${serving.port}${path}`)
    return { status: response.status, text: await response.text() }
  }
  return { get, port: serving.port, told: () => String(to.read() ?? '') }
}

const fine = () => undefined

test('when all is well it says ok, and on request what it looked at', async () => {
  const { get } = await aServer({ ping: fine, workers: fine })
  expect(await get('/healthz')).toEqual({ status: 200, text: 'ok' })
  expect(await get('/healthz?verbose')).toEqual({
    status: 200,
    text: '[+]ping ok\n[+]workers ok\nhealthz check passed\n',
  })
})

test('when something is wrong it says what and why', async () => {
  const { get } = await aServer({ ping: fine }, { ping: fine, caches: () => 'CAPTCluster is not there yet' })
  expect(await get('/readyz')).toEqual({
    status: 503,
    text: '[+]ping ok\n[-]caches failed: CAPTCluster is not there yet\nreadyz check failed\n',
  })
  expect(await get('/healthz')).toEqual({ status: 200, text: 'ok' })
})

test('a check that breaks is a check that fails', async () => {
  const { get } = await aServer({
    broken() {
      throw new Error('oops')
    },
  })
  expect(await get('/healthz')).toEqual({ status: 503, text: '[-]broken failed: oops\nhealthz check failed\n' })
})

test('that a check begins or ceases to fail is logged once, however its sentence changes', async () => {
  const sentences = ['late for 61 s', 'late for 62 s', undefined, undefined]
  const { get, told } = await aServer({ a: () => sentences.shift(), b: fine })
  await get('/healthz')
  await get('/healthz')
  expect(told().trimEnd().split('\n')).toEqual([expect.stringContaining('"failing":{"a":"late for 61 s"}')])
  await get('/healthz')
  await get('/healthz')
  expect(told().trimEnd().split('\n')).toEqual([expect.stringContaining('a probe passes again')])
})

test('there are no other pages', async () => {
  const { get } = await aServer({})
  for (const path of ['/', '/metrics', '/healthz/x', '/constructor', '/__proto__'])
    expect((await get(path)).status).toBe(404)
})

test('nonsense on the wire harms nobody', async () => {
  const { get, port } = await aServer({ ping: fine })
  for (const target of [':99999999/', '//[', '*', 'http://[', '%', '/healthz?%'])
    expect(await exchange(port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 (200|400|404) /,
    )
  expect(await exchange(port, 'hello\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /)
  expect(await exchange(port, `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)).toMatch(
    /^HTTP\/1.1 431 /,
  )
  expect((await get('/healthz')).status).toBe(200)
})

test('an address that is taken is told with what it was for', async () => {
  const { port } = await aServer({})
  const log = createLog({ to: new PassThrough(), level: 'info' })
  await expect(startHealth({ address: { host: '127.0.0.1', port }, healthz: {}, readyz: {}, log })).rejects.toThrow(
    `cannot listen on 127.0.0.1:${port}: listen EADDRINUSE`,
  )
})

const silent = (what: string, seconds: number): Lasting => ({ what, seconds })

test.each<[string, boolean, Lasting[], string | undefined]>([
  ['heard something lately', true, [silent('clusters', 60)], undefined],
  [
    'is silent while the API server answers',
    true,
    [silent('clusters', 61)],
    'clusters has heard nothing for 61 s, longer than 60 s',
  ],
  ['is silent because the API server is away', false, [silent('clusters', 900)], undefined],
  [
    'is one of several that are silent',
    true,
    [silent('clusters', 70), silent('secrets', 90.4), silent('machines', 1)],
    'secrets has heard nothing for 90 s, longer than 60 s, and 1 more',
  ],
])('a watch that %s', (_, isAnswering, silences, says) => {
  expect(
    watchesMove(
      () => silences,
      () => isAnswering,
      60,
    )(),
  ).toBe(says)
})

test('a worker that has been on a key for too long is told', () => {
  expect(workersMove(() => [silent('captcluster default/a', 299)], 300)()).toBeUndefined()
  expect(workersMove(() => [silent('captcluster default/a', 301)], 300)()).toBe(
    'captcluster default/a has been worked on for 301 s, longer than 300 s',
  )
})
