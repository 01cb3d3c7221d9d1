// A store that must end equal to what the official client lists, whatever happens on the wire.
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Version } from '../../test/bed/faults/client.ts'
import type { ConnectFault, Fault } from '../../test/bed/faults/fault.ts'
import { type FaultProxy, startFaultProxy } from '../../test/bed/faults/proxy.ts'
import { theBed } from '../../test/bed/story.ts'
import { aConfigMap } from '../../test/given.ts'
import { aClient, protocols } from '../../test/reaching.ts'
import { until } from '../../test/until.ts'
import { ConfigMap } from '../api/neighbours.ts'
import { type KubeObject, type Resource, slim, tellKey } from '../api/resource.ts'
import type { Client, Scope } from '../kube/client.ts'
import { ApiError } from '../kube/errors.ts'
import { type Clock, systemClock } from './clock.ts'
import { startReflector } from './reflector.ts'
import { createStore } from './store.ts'

const bed = theBed()

// A clock that runs so many times as fast.
function hurried(times: number): Clock {
  return {
    now: () => systemClock.now() * times,
    wakeAt: (time, call) => systemClock.wakeAt(time / times, call),
  }
}

function follow<T extends KubeObject>(client: Client, resource: Resource<T>, scope: Scope, clock: Clock) {
  const known = new Map<string, string>() // by what was told
  const told: string[] = []
  const asked = { list: 0, watch: 0 }
  const wrong: unknown[] = []
  const store = createStore<T>({
    keep: resource.keep,
    indexes: {},
    onChange({ what, key, object, before }) {
      const expected = what === 'added' ? undefined : tell(before ?? object)
      if (known.get(key) !== expected) wrong.push({ what, key, knew: known.get(key), expected })
      told.push(what === 'removed' ? `${object.metadata.uid} removed` : tell(object))
      if (what === 'removed') known.delete(key)
      else known.set(key, tell(object))
    },
  })
  const counting: Pick<Client, 'list' | 'watch' | 'ready' | 'served'> = {
    ready: client.ready,
    served: client.served,
    async list(...args) {
      asked.list++
      return client.list(...args)
    },
    watch(...args) {
      asked.watch++
      return client.watch(...args)
    },
  }
  const troubles: string[] = []
  const trouble = (error: unknown) => troubles.push(String(error))
  const reflector = startReflector({ client: counting, resource, scope, store, clock, random: () => 0, trouble })
  onTestFinished(() => reflector.stop())
  return { reflector, store, known, told, asked, wrong, troubles }
}

const tell = (object?: KubeObject) => `${object?.metadata.uid}@${object?.metadata.resourceVersion}`

interface How {
  readonly hurry?: number
  readonly pingEveryMs?: number
}

describe.each<Version>(['HTTP/2', 'HTTP/1.1'])('over %s', (version) => {
  let proxy: FaultProxy
  let namespace: string
  let count = 0
  beforeAll(async () => {
    proxy = await startFaultProxy(bed)
    namespace = await bed.namespace('reflector')
  })
  afterEach(() => proxy.heal())
  afterAll(async () => proxy?.stop())

  // Four lines are said of what is there (three objects and that this was all), six of what happens then.
  async function live(
    { hurry = 1, pingEveryMs = 5000 }: How,
    prepare: (client: Client, path: RegExp) => Client | void,
  ) {
    const story = `story-${++count}`
    const hands = aClient(bed.kubeconfig)
    const eyes = aClient(await bed.kubeconfigThrough(proxy), {
      protocols: protocols[version],
      pingEveryMs,
      pingWithinMs: 3000,
    })
    const map = (name: string) => {
      const made = aConfigMap({ namespace, name: `${story}-${name}` })
      return { ...made, metadata: { ...made.metadata, labels: { story } } }
    }
    const make = async (name: string) => hands.create(ConfigMap, map(name))
    const remove = async (name: string) => hands.remove(ConfigMap, map(name).metadata)
    const change = async (name: string) =>
      hands.patch(ConfigMap, map(name).metadata, { data: { text: `${Math.random()}` } })
    for (const name of ['a', 'b', 'c']) await make(name)
    const client = prepare(eyes, new RegExp(story)) ?? eyes
    const followed = follow(client, ConfigMap, { namespace, labels: `story=${story}` }, hurried(hurry))
    await until(`it knows what is there; troubles: ${followed.troubles.join('; ')}`, async () =>
      followed.reflector.isSynced() ? true : undefined,
    )
    await change('a')
    await make('d')
    await remove('b')
    await remove('c')
    await make('c')
    await change('d')
    const isMeant = ({ metadata }: KubeObject) => metadata.labels?.['story'] === story
    const listed = (await bed.kube.list('v1', 'ConfigMap', namespace)).filter(isMeant)
    const truth = listed.map((object) => `${tellKey(object.metadata)} ${tell(object)}`).toSorted()
    const stored = () => [...followed.store.keys()].map((key) => `${key} ${tell(followed.store.get(key))}`).toSorted()
    await until('the store equals what the official client lists', async () => {
      expect(stored(), followed.troubles.join('\n')).toEqual(truth)
      return true
    })
    expect(truth).toHaveLength(3)
    expect(followed.wrong).toEqual([])
    expect([...followed.known].map((each) => each.join(' ')).toSorted()).toEqual(truth)
    expect(new Set(followed.told).size, 'nothing is told twice').toBe(followed.told.length)
    return followed
  }

  // Twice: while it learns what is there, then while it hears what happens.
  const streamOnly = [
    'a reset of the stream only',
    { do: 'reset', after: { lines: 2 }, only: 'stream' },
    { do: 'reset', after: { lines: 6 }, only: 'stream' },
  ] as const
  test.each<readonly [string, Fault, Fault]>([
    ['410, then 429', { do: 'answer', code: 410 }, { do: 'answer', code: 429, retryAfterSeconds: 1 }],
    ['500, then 503', { do: 'answer', code: 500 }, { do: 'answer', code: 503 }],
    ['a delay', { do: 'delay', ms: 300 }, { do: 'delay', ms: 300 }],
    ['a reset', { do: 'reset', after: { lines: 2 } }, { do: 'reset', after: { lines: 6 } }],
    ['a reset in a line', { do: 'reset', after: { bytes: 100 } }, { do: 'reset', after: { bytes: 2500 } }],
    ['a cut line', { do: 'truncate', afterLines: 2 }, { do: 'truncate', afterLines: 6 }],
    ['an expired version', { do: 'expire', afterLines: 2 }, { do: 'expire', afterLines: 6 }],
    ['a drip', { do: 'drip', bytes: 200, everyMs: 2 }, { do: 'drip', bytes: 200, everyMs: 2 }],
    ...(version === 'HTTP/2' ? [streamOnly] : []),
  ])('%s on the wire', async (_name, first, second) => {
    const { asked } = await live({}, (_, path) => {
      proxy.inject({ verb: 'watch', path, times: 1 }, first)
      proxy.inject({ verb: 'watch', path, times: 1 }, second)
    })
    expect(asked.watch).toBeLessThanOrEqual(6)
    expect(asked.list).toBe(0)
  })

  // HTTP/2 is pinged; over HTTP/1.1, and where no line ever ends, only the watch's silence tells: let time pass faster.
  test.each<readonly [string, Fault, How]>([
    [
      'that falls silent',
      { do: 'silence', after: { lines: 6 } },
      version === 'HTTP/2' ? { pingEveryMs: 500 } : { hurry: 50 },
    ],
    ['that loses the ends of lines', { do: 'merge', lines: 2, glued: true }, { hurry: 50 }],
  ])('a connection %s', async (_name, fault, how) => {
    const { asked } = await live(how, (_, path) => void proxy.inject({ verb: 'watch', path, times: 1 }, fault))
    expect(asked.watch).toBeGreaterThanOrEqual(2)
  })

  test('lines that come in one chunk', async () => {
    // The last may be held back for want of another.
    const { troubles } = await live({ hurry: 50 }, (_, path) => {
      proxy.inject({ verb: 'watch', path, times: 1 }, { do: 'merge', lines: 2 })
    })
    expect(troubles.join()).not.toContain('JSON')
  })

  test.each<[string, ConnectFault]>([
    ['reset', { do: 'reset' }],
    ['delayed', { do: 'delay', ms: 300 }],
  ])('connections that are %s', async (_name, fault) => {
    const { asked } = await live({}, () => void proxy.inject({ verb: 'connect', times: 3 }, fault))
    expect(asked.watch).toBeLessThanOrEqual(8)
  })

  test('an API server that knows no WatchList, and lists that break', async () => {
    const { asked } = await live({}, (client, path) => {
      proxy.inject({ verb: 'list', path, times: 1 }, { do: 'answer', code: 500 })
      proxy.inject({ verb: 'list', path, times: 1 }, { do: 'reset', after: { bytes: 100 } })
      return {
        ...client,
        watch(resource, scope, signal) {
          if (!scope.initialEvents) return client.watch(resource, scope, signal)
          throw new ApiError({ doing: 'watch', code: 422, reason: 'Invalid', message: 'sendInitialEvents: Forbidden' })
        },
      }
    })
    expect(asked.list).toBe(3)
  })
})

test('a kind that comes, goes and comes again', async () => {
  const names = { kind: 'ReflectorNote', plural: 'reflectornotes', singular: 'reflectornote' }
  const group = 'story.example.com'
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${names.plural}.${group}` },
    spec: {
      group,
      names,
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  }
  const resource: Resource = { group, version: 'v1', kind: names.kind, plural: names.plural, keep: slim }
  const note = (name: string) => ({ apiVersion: `${group}/v1`, kind: names.kind, metadata: { namespace, name } })
  const namespace = await bed.namespace('reflector')
  const client = aClient(bed.kubeconfig)
  const { reflector, store, troubles } = follow(client, resource, { namespace }, hurried(10))
  const sees = async (...keys: string[]) =>
    until(`it sees ${keys.join(' and ') || 'nothing'}; troubles: ${troubles.slice(-2).join('; ')}`, async () =>
      [...store.keys()].map((key) => key.split('/')[1]).join() === keys.join() ? true : undefined,
    )
  const make = async (name: string) =>
    until(`${name} is made`, async () => client.create(resource, note(name)), { everyMs: 200 })

  await until('it knows that there is nothing', async () => (reflector.isSynced() ? true : undefined))
  expect(troubles.at(-1)).toMatch(/^ApiError: cannot watch ReflectorNotes: 404/)
  await bed.kube.apply(crd)
  await make('first')
  await sees('first')
  await bed.kube.remove(crd)
  await sees()
  await bed.kube.seeGone(crd)
  await bed.kube.apply(crd)
  await make('second')
  await sees('second')
  await bed.kube.remove(crd)
})
