// Every fault of the proxy, seen on the wire by a client that hides nothing, over both versions of HTTP.
import { once } from 'node:events'
import http2 from 'node:http2'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { aConfigMap } from '../../given.ts'
import { until } from '../../until.ts'
import { kubeOf } from '../kube.ts'
import { theBed } from '../story.ts'
import { ask, type Heard, type Version } from './client.ts'
import type { Fault } from './fault.ts'
import { type FaultProxy, startFaultProxy } from './proxy.ts'
import type { RequestOccasion } from './rules.ts'

const bed = theBed()
const labels = { story: 'faults' }
let namespace: string
let token: string

beforeAll(async () => {
  namespace = await bed.namespace('faults')
  await bed.kube.apply(
    ...['one', 'two', 'three'].map((name) => {
      const map = aConfigMap({ namespace, name })
      return { ...map, metadata: { ...map.metadata, labels } }
    }),
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'reader', namespace } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'reader', namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace }],
    },
  )
  token = (await bed.kube.kubectl(['create', 'token', 'reader', '--namespace', namespace])).trim()
})

describe.each<Version>(['HTTP/1.1', 'HTTP/2'])('over %s', (version) => {
  let proxy: FaultProxy
  beforeAll(async () => {
    proxy = await startFaultProxy(bed)
  })
  afterEach(() => proxy.heal())
  afterAll(async () => proxy?.stop())

  const one = () => `/api/v1/namespaces/${namespace}/configmaps/one`
  const all = () => `/api/v1/namespaces/${namespace}/configmaps?labelSelector=story%3Dfaults`
  const watch = () => `${all()}&watch=true` // begins with an ADDED for each that is there

  function listen(path: string, server: { server: string; ca: string } = proxy): Heard {
    const heard = ask(version, { server: server.server, ca: server.ca, token, path })
    onTestFinished(() => heard.hangUp())
    return heard
  }
  async function listenUnder(occasion: RequestOccasion, fault: Fault, path: string): Promise<Heard> {
    proxy.inject(occasion, fault)
    return ended(listen(path))
  }
  const ended = async (heard: Heard) =>
    until(
      `the answer ends; so far: ${JSON.stringify(heard)}`,
      async () => (heard.ending === undefined ? undefined : heard),
      { withinSeconds: 10 },
    )
  const linesIn = (heard: Heard) => heard.chunks.join('').split('\n').filter(Boolean)

  test('without a fault, an answer passes unchanged', async () => {
    const direct = await ended(listen(one(), bed))
    const through = await ended(listen(one()))
    expect(through).toMatchObject({ status: 200, ending: 'whole' })
    expect(through.chunks.join('')).toBe(direct.chunks.join(''))
    expect(through.headers['content-type']).toBe(direct.headers['content-type'])
  })

  test.each<[Extract<Fault, { do: 'answer' }>, string]>([
    [{ do: 'answer', code: 409 }, 'Conflict'],
    [{ do: 'answer', code: 410 }, 'Expired'],
    [{ do: 'answer', code: 422 }, 'Invalid'],
    [{ do: 'answer', code: 429, retryAfterSeconds: 7 }, 'TooManyRequests'],
    [{ do: 'answer', code: 500 }, 'InternalError'],
    [{ do: 'answer', code: 503 }, 'ServiceUnavailable'],
    [{ do: 'answer', code: 504, isDone: true }, 'Timeout'],
  ])('it answers %o with a Status', async (fault, reason) => {
    const heard = await listenUnder({ verb: 'get', path: /configmaps\/one/ }, fault, one())
    expect(heard).toMatchObject({ status: fault.code, ending: 'whole' })
    expect(heard.headers['retry-after']).toBe(fault.retryAfterSeconds?.toString())
    expect(JSON.parse(heard.chunks.join(''))).toMatchObject({ kind: 'Status', code: fault.code, reason })
  })

  test('it delays', async () => {
    const heard = await listenUnder({ verb: 'get' }, { do: 'delay', ms: 400 }, one())
    expect(heard).toMatchObject({ status: 200, ending: 'whole' })
    expect(heard.chunkTimes[0]).toBeGreaterThanOrEqual(400)
  })

  test('it resets the connection in mid-stream', async () => {
    const heard = await listenUnder({ verb: 'watch' }, { do: 'reset', after: { lines: 2 } }, watch())
    expect(linesIn(heard)).toHaveLength(2)
    expect(heard.ending).toBe('ECONNRESET')
  })

  test('it resets a list in the middle of its only line', async () => {
    const heard = await listenUnder({ verb: 'list' }, { do: 'reset', after: { bytes: 100 } }, all())
    expect(heard.chunks.join('')).toHaveLength(100)
    expect(heard.ending).toBe('ECONNRESET')
  })

  test('it falls silent in mid-stream, and the connection stays', async () => {
    proxy.inject({ verb: 'watch' }, { do: 'silence', after: { lines: 3 } })
    const deaf = listen(watch())
    const hearing = listen(watch(), bed)
    await until('all are told to both', async () =>
      linesIn(deaf).length === 3 && linesIn(hearing).length === 3 ? true : undefined,
    )
    await bed.kube.patch(aConfigMap({ namespace, name: 'one' }), { data: { changed: version } })
    await until('the change is told to one', async () => (linesIn(hearing).length === 4 ? true : undefined))
    expect(linesIn(deaf)).toHaveLength(3)
    expect(deaf.ending).toBeUndefined()
  })

  test('it accepts a connection and never says a word on it', async () => {
    const rule = proxy.inject({ verb: 'connect', times: 1 }, { do: 'silence' })
    const heard = listen(one())
    const { status } = await ended(listen(one())) // the next one gets through
    expect(status).toBe(200)
    expect(rule.strikes).toHaveLength(1)
    expect(heard).toMatchObject({ status: undefined, ending: undefined })
  })

  test('it resets a connection before a word is said on it', async () => {
    proxy.inject({ verb: 'connect' }, { do: 'reset' })
    const heard = await ended(listen(one()))
    expect(heard).toMatchObject({ status: undefined, ending: 'ECONNRESET' })
  })

  test('it keeps a new connection waiting', async () => {
    const began = performance.now()
    proxy.inject({ verb: 'connect' }, { do: 'delay', ms: 300 })
    const heard = await ended(listen(one()))
    expect(heard.status).toBe(200)
    expect(performance.now() - began).toBeGreaterThanOrEqual(300)
  })

  test('it cuts a watch line in half and ends the watch as if nothing had happened', async () => {
    const heard = await listenUnder({ verb: 'watch' }, { do: 'truncate', afterLines: 1 }, watch())
    const [first = '', second = '', ...more] = linesIn(heard)
    expect(JSON.parse(first)).toMatchObject({ type: 'ADDED' })
    expect(() => JSON.parse(second) as unknown).toThrow(SyntaxError)
    expect(more).toEqual([])
    expect(heard.ending).toBe('whole')
  })

  test('it merges watch lines into one chunk', async () => {
    proxy.inject({ verb: 'watch' }, { do: 'merge', lines: 3 })
    const heard = listen(watch())
    await until('they come', async () => (heard.chunks.length > 0 ? true : undefined))
    expect(heard.chunks[0]?.match(/"type":"ADDED"/g)).toHaveLength(3)
    expect(heard.chunks[0]?.match(/\n/g)).toHaveLength(3)
  })

  test('it glues watch lines together', async () => {
    proxy.inject({ verb: 'watch' }, { do: 'merge', lines: 3, glued: true })
    const heard = listen(watch())
    await until('they come', async () => (heard.chunks.length > 0 ? true : undefined))
    expect(heard.chunks[0]?.match(/"type":"ADDED"/g)).toHaveLength(3)
    expect(heard.chunks[0]).not.toContain('\n')
  })

  test('it expires a watch in mid-stream', async () => {
    const heard = await listenUnder({ verb: 'watch' }, { do: 'expire', afterLines: 1 }, watch())
    const events = linesIn(heard).map((line) => JSON.parse(line) as { type: string; object: { code?: number } })
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'ERROR'])
    expect(events[1]?.object.code).toBe(410)
    expect(heard.ending).toBe('whole')
  })

  test('it lets an answer drip', async () => {
    const heard = await listenUnder({ verb: 'get' }, { do: 'drip', bytes: 50, everyMs: 5 }, one())
    const text = heard.chunks.join('')
    expect(heard.ending).toBe('whole')
    expect(JSON.parse(text)).toMatchObject({ kind: 'ConfigMap' })
    expect(heard.chunks.length).toBeGreaterThan(text.length / 50 / 2) // a few may have caught up with each other
  })

  test('a fault strikes as often as it was told to, then no more', async () => {
    const rule = proxy.inject({ verb: 'get', path: /one$/, after: 1, times: 2 }, { do: 'answer', code: 503 })
    const statuses: (number | undefined)[] = []
    for (let request = 0; request < 5; request++) statuses.push((await ended(listen(one()))).status)
    expect(statuses).toEqual([200, 503, 503, 200, 200])
    expect(rule.strikes.map(({ path }) => path)).toEqual([one(), one()])
  })
})

test('over HTTP/2 a single stream can be reset while its neighbours live', async () => {
  const proxy = await startFaultProxy(bed)
  const session = http2.connect(proxy.server, { ca: proxy.ca })
  onTestFinished(async () => {
    session.destroy()
    await proxy.stop()
  })
  proxy.inject({ verb: 'watch' }, { do: 'reset', after: { lines: 1 }, only: 'stream' })
  const authorization = `Bearer ${token}`
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const watch = session.request({ ':path': `${path}?watch=true`, authorization })
  const broken = new Promise((resolve) => {
    watch.on('error', resolve).resume()
  })
  await expect(broken).resolves.toMatchObject({ code: 'ERR_HTTP2_STREAM_ERROR' })
  const neighbour = session.request({ ':path': path, authorization })
  const [headers] = (await once(neighbour.resume(), 'response')) as [http2.IncomingHttpStatusHeader]
  expect(headers[':status']).toBe(200)
})

test('over HTTP/2 a connection that fell silent does not even answer a ping', async () => {
  const proxy = await startFaultProxy(bed)
  const session = http2.connect(proxy.server, { ca: proxy.ca })
  onTestFinished(async () => {
    session.destroy()
    await proxy.stop()
  })
  const ping = async () =>
    new Promise<boolean>((resolve) => {
      session.ping((error) => resolve(!error))
      setTimeout(resolve, 500, false).unref()
    })
  await once(session, 'connect')
  expect(await ping()).toBe(true)
  proxy.inject({ verb: 'get' }, { do: 'silence' })
  session.request({ ':path': '/api/v1/namespaces/default', authorization: `Bearer ${token}` }).on('error', () => {})
  await until('it is silent', async () => ((await ping()) ? undefined : true))
})

test('who asks stays who they are: by client certificate and by token', async () => {
  const proxy = await startFaultProxy(bed)
  onTestFinished(async () => proxy.stop())
  const since = new Date()
  const byCertificate = await bed.kubeconfigThrough(proxy)
  await kubeOf(byCertificate, bed.parts.kubectl).kubectl(['get', 'configmap', 'two', '--namespace', namespace])
  const heard = ask('HTTP/2', { ...proxy, token, path: `/api/v1/namespaces/${namespace}/configmaps/three` })
  await until('it is answered', async () => (heard.status === 200 ? true : undefined))
  const records = await until('both are on record', async () => {
    const all = await bed.audit({ namespace, resource: 'configmaps', verb: 'get', since })
    return all.length >= 2 ? all : undefined
  })
  const who = Object.fromEntries(records.map(({ name, user }) => [name, user]))
  expect(who).toMatchObject({ two: 'bed-admin', three: `system:serviceaccount:${namespace}:reader` })
  expect(records.find(({ name }) => name === 'two')?.userAgent).toMatch(/^kubectl\//)
})

test('what was done is called a failure, and is done', async () => {
  const proxy = await startFaultProxy(bed)
  onTestFinished(async () => proxy.stop())
  proxy.inject({ verb: 'create', path: /configmaps/ }, { do: 'answer', code: 504, isDone: true })
  const through = kubeOf(await bed.kubeconfigThrough(proxy), bed.parts.kubectl)
  const making = through.kubectl(['create', 'configmap', 'done', '--namespace', namespace])
  await expect(making).rejects.toThrow(/did not complete within requested timeout/)
  expect(await bed.kube.read(aConfigMap({ namespace, name: 'done' }))).toBeDefined()
})
