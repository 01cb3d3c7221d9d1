import { KubeConfig, Watch } from '@kubernetes/client-node'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Version } from '../../test/bed/faults/client.ts'
import { startFaultProxy } from '../../test/bed/faults/proxy.ts'
import { theBed } from '../../test/bed/story.ts'
import { aConfigMap } from '../../test/given.ts'
import { aClient, protocols } from '../../test/reaching.ts'
import { until } from '../../test/until.ts'
import { ConfigMap, Namespace, Secret, TokenReview } from '../api/neighbours.ts'
import { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import type { WatchEvent } from './client.ts'
import { isAlreadyThere, isConflict, isExpired, isNotFound, isNotServed, NotLeading } from './errors.ts'

const bed = theBed()
const map = (namespace: string, name = 'demo', data: Record<string, string> = {}) =>
  aConfigMap({ namespace, name, data }) as ConfigMap
const fieldManager = 'story'
const rootCA = 'kube-root-ca.crt' // comes into every namespace by itself, a moment later
const fields = `metadata.name!=${rootCA}`
// biome-ignore format: a table
const trouble = async (work: Promise<unknown>): Promise<unknown> => work.then(() => 'went well', (error: unknown) => error)

async function drained(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}

describe.each<Version>(['HTTP/2', 'HTTP/1.1'])('over %s', (version) => {
  const theClient = () => aClient(bed.kubeconfig, { protocols: protocols[version] })

  test('an object is made, read, changed, applied and deleted, and what is refused is known by its kind', async () => {
    const client = theClient()
    const namespace = await bed.namespace('client')
    const key = { namespace, name: 'demo' }
    expect(isNotFound(await trouble(client.get(ConfigMap, key)), 'demo')).toBe(true)
    const made = await client.create(ConfigMap, map(namespace, 'demo', { a: '1' }))
    expect(isAlreadyThere(await trouble(client.create(ConfigMap, map(namespace))))).toBe(true)
    expect(isNotFound(await trouble(client.create(ConfigMap, map('nowhere'))), 'demo')).toBe(false)

    const patched = await client.patch(ConfigMap, key, { data: { b: 'ü"\\\n' } })
    expect(patched.data).toEqual({ a: '1', b: 'ü"\\\n' })
    const { uid = '', resourceVersion = '' } = made.metadata
    expect(
      isConflict(await trouble(client.patch(ConfigMap, key, { metadata: { uid, resourceVersion }, data: { a: '2' } }))),
    ).toBe(true)

    await client.apply(ConfigMap, map(namespace, 'demo', { c: '3' }), { fieldManager })
    const applied = await client.apply(ConfigMap, map(namespace, 'demo', { d: '4' }), { fieldManager })
    expect(applied.data).toEqual({ a: '1', b: 'ü"\\\n', d: '4' }) // what it no longer wants is gone
    expect(
      isConflict(await trouble(client.apply(ConfigMap, map(namespace, 'demo', { d: '5' }), { fieldManager: 'other' }))),
    ).toBe(true)
    const forced = await client.apply(ConfigMap, map(namespace, 'demo', { d: '5' }), {
      fieldManager: 'other',
      force: true,
    })
    expect(await client.get(ConfigMap, key)).toEqual(forced)

    expect(isConflict(await trouble(client.remove(ConfigMap, key, { uid: 'another' })))).toBe(true)
    await client.remove(ConfigMap, key, { uid, propagation: 'Background' })
    expect(isNotFound(await trouble(client.get(ConfigMap, key)), 'demo')).toBe(true)
    expect(isNotFound(await trouble(client.remove(ConfigMap, key)), 'demo')).toBe(true)
  })

  test('a status is patched apart from the rest', async () => {
    const client = theClient()
    const namespace = await bed.namespace('client')
    const template = {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
      kind: 'WorkspaceTemplate',
      metadata: { name: 'demo', namespace, annotations: { 'cluster.x-k8s.io/paused': '' } },
      spec: { template: { spec: { forProvider: { source: 'Inline', module: '# nothing' } } } },
    } as const
    await client.create(WorkspaceTemplate, template)
    const change = { spec: { workspaceAPI: 'tf.upbound.io' }, status: { revision: 'abc' } }
    const seen = await client.patch(WorkspaceTemplate, { namespace, name: 'demo' }, change, { subresource: 'status' })
    expect(seen.status).toMatchObject({ revision: 'abc' })
    expect(seen.spec).not.toHaveProperty('workspaceAPI')
  })

  test('a list comes in pages, names the kind of each item, and agrees with the official client', async () => {
    const client = theClient()
    const namespace = await bed.namespace('client')
    for (let each = 0; each < 5; each++) await client.create(ConfigMap, map(namespace, `demo-${each}`))
    const names: string[] = []
    let next: string | undefined
    let pages = 0
    do {
      const page = await client.list(ConfigMap, { namespace, fields, limit: 2, ...(next && { from: next }) })
      expect(page.items.every(({ kind, apiVersion }) => kind === 'ConfigMap' && apiVersion === 'v1')).toBe(true)
      names.push(...page.items.map(({ metadata: { name } }) => name))
      next = page.next
      pages++
    } while (next)
    expect(pages).toBeGreaterThan(2)
    const official = (await bed.kube.list('v1', 'ConfigMap', namespace)).map((each) => each.metadata.name)
    expect(names.toSorted()).toEqual(official.filter((name) => name !== rootCA))
    const one = await client.list(ConfigMap, { namespace, fields: 'metadata.name=demo-3', metadataOnly: true })
    expect(one.items.map(({ kind, metadata: { name } }) => `${kind} ${name}`)).toEqual(['ConfigMap demo-3'])
    const none = await client.list(Secret, { namespace, labels: 'no=such', metadataOnly: true })
    expect(none.items).toEqual([])
  })

  test('a watch tells what is there, that this was all, and what happens then', async () => {
    const client = theClient()
    const namespace = await bed.namespace('client')
    await client.create(ConfigMap, map(namespace, 'first'))
    const told: string[] = []
    const calling = new AbortController()
    const tell = (event: WatchEvent<ConfigMap>) =>
      event.type === 'BOOKMARK'
        ? `BOOKMARK${event.isInitialEnd ? ' all' : ''}`
        : `${event.type} ${event.object.metadata.name} ${JSON.stringify(event.object.data)}`
    const watching = (async () => {
      for await (const event of client.watch(ConfigMap, { namespace, fields, initialEvents: true }, calling.signal))
        told.push(tell(event))
    })()
    await until('everything that was there is told', async () => (told.includes('BOOKMARK all') ? true : undefined))
    await client.create(ConfigMap, map(namespace, 'second', { text: '日本語' }))
    await client.patch(ConfigMap, { namespace, name: 'second' }, { data: { text: 'x'.repeat(300_000) } })
    await client.remove(ConfigMap, { namespace, name: 'first' })
    await until('the last is told', async () => (told.some((each) => each.startsWith('DELETED')) ? true : undefined))
    calling.abort(new Error('enough'))
    await expect(watching).rejects.toThrow('enough')
    const news = told.filter((each) => each !== 'BOOKMARK') // one comes every minute, whenever that is
    const short = news.map((each) => (each.length > 100 ? `${each.slice(0, 30)}… ${each.length}` : each))
    expect(short).toEqual([
      'ADDED first undefined',
      'BOOKMARK all',
      'ADDED second {"text":"日本語"}',
      'MODIFIED second {"text":"xxxxx… 300027',
      'DELETED first undefined',
    ])
  })

  test('a watch from too long ago is told so', async () => {
    const client = theClient()
    const proxy = await startFaultProxy(bed)
    proxy.inject({ verb: 'watch' }, { do: 'expire', afterLines: 0 })
    const through = aClient(await bed.kubeconfigThrough(proxy), { protocols: protocols[version] })
    const watch = through.watch(
      Namespace,
      { resourceVersion: (await client.list(Namespace)).resourceVersion },
      AbortSignal.timeout(20_000),
    )
    const error = await trouble(drained(watch))
    expect(isExpired(error), String(error)).toBe(true)
    await proxy.stop()
  })

  test('what is not served is known, and seen once it is', async () => {
    const client = theClient()
    const unknown = { ...ConfigMap, group: 'nobody.example.com', plural: 'things' }
    expect(isNotServed(await trouble(client.list(unknown)))).toBe(true)
    expect(await client.served('nobody.example.com', 'v1')).toEqual([])
    expect(await client.versions('nobody.example.com')).toEqual([])
    expect(await client.versions('infrastructure.cluster.x-k8s.io')).toEqual(['v1beta1', 'v1alpha1'])
    const kinds = await client.served('infrastructure.cluster.x-k8s.io', 'v1beta1')
    expect(kinds).toContainEqual({ kind: 'WorkspaceTemplate', plural: 'workspacetemplates', isNamespaced: true })
    expect(await client.ready()).toBe(true)
  })
})

test('the official client is told the same by a watch, in the same order', async () => {
  const client = aClient(bed.kubeconfig)
  const namespace = await bed.namespace('client')
  const tell = (type: string, { metadata }: Pick<ConfigMap, 'metadata'>) =>
    `${type} ${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`
  const config = new KubeConfig()
  config.loadFromFile(bed.kubeconfig)
  const { resourceVersion } = await client.list(ConfigMap, { namespace })
  const theirs: string[] = []
  const hear = (type: string, object: ConfigMap) => void theirs.push(tell(type, object))
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const official = await new Watch(config).watch(path, { resourceVersion, fieldSelector: fields }, hear, () => {})
  onTestFinished(() => official.abort())
  const ours: string[] = []
  const calling = new AbortController()
  const watching = (async () => {
    for await (const event of client.watch(ConfigMap, { namespace, fields, resourceVersion }, calling.signal)) {
      if (event.type !== 'BOOKMARK') ours.push(tell(event.type, event.object))
    }
  })()
  for (const name of ['a', 'b', 'c']) {
    await client.create(ConfigMap, map(namespace, name))
    await client.patch(ConfigMap, { namespace, name }, { data: { name } })
  }
  for (const name of ['c', 'a']) await client.remove(ConfigMap, { namespace, name })
  const changes = 8
  await until('both have been told everything', async () =>
    ours.length >= changes && theirs.length >= changes ? true : undefined,
  )
  calling.abort(new Error('enough'))
  await expect(watching).rejects.toThrow('enough')
  expect(ours).toEqual(theirs)
  expect(ours).toHaveLength(changes)
})

test('who may not write sends nothing, but may ask', async () => {
  const client = aClient(bed.kubeconfig, { mayWrite: () => false, userAgent: 'not-leading' })
  const namespace = await bed.namespace('client')
  expect(await trouble(client.create(ConfigMap, map(namespace)))).toBeInstanceOf(NotLeading)
  expect(await trouble(client.remove(ConfigMap, { namespace, name: 'demo' }))).toBeInstanceOf(NotLeading)
  const review: TokenReview = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    metadata: { name: '' },
    spec: { token: 'none' },
  }
  expect((await client.create(TokenReview, review)).status?.authenticated).not.toBe(true)
  const verbs = (await bed.audit())
    .filter(({ userAgent }) => userAgent === 'not-leading')
    .map(({ verb, resource }) => `${verb} ${resource}`)
  expect(verbs).toEqual(['create tokenreviews'])
})

test('a token of a service account is asked for, and shown to nobody who prints it', async () => {
  const client = aClient(bed.kubeconfig)
  const namespace = await bed.namespace('client')
  await bed.kube.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'demo', namespace } })
  const { token, expiresAt } = await client.requestToken({ namespace, name: 'demo' }, { seconds: 3600 })
  expect(token.open().split('.')).toHaveLength(3)
  expect(String(token)).toBe('***')
  expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now() + 3_000_000)
})

test('an API server that is away is told in a sentence', async () => {
  const proxy = await startFaultProxy(bed)
  const client = aClient(await bed.kubeconfigThrough(proxy))
  await proxy.stop()
  const error = await trouble(client.get(Namespace, { name: 'default' }))
  expect(String(error)).toMatch(/^ApiError: cannot read Namespace default: connect ECONNREFUSED/)
  expect(await client.ready()).toBe(false)
})
