import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../api/resource.ts'
import { type Change, createStore } from './store.ts'

interface Thing extends KubeObject {
  readonly owners: readonly string[]
}

function aThing(name: string, version: number, { uid = `${name}-1`, owners = [] as readonly string[] } = {}): Thing {
  const metadata = { namespace: 'default', name, uid, resourceVersion: String(version) }
  return { apiVersion: 'v1', kind: 'Thing', metadata, owners }
}

function aStore() {
  const told: Change<Thing>[] = []
  const store = createStore<Thing>({
    keep: (thing) => ({ ...thing }),
    indexes: { byOwner: ({ owners }) => owners },
    onChange: (change) => told.push(change),
  })
  const news = () => told.splice(0).map(({ what, object }) => `${what} ${object.metadata.name} ${tell(object)}`)
  const owned = (owner: string) => [...store.keysAt('byOwner', owner)].toSorted()
  return { store, news, owned }
}

const tell = ({ metadata: { uid, resourceVersion } }: Thing) => `${uid}@${resourceVersion}`

test('each change is told once, and the same resource version again is none', () => {
  const { store, news } = aStore()
  store.put(aThing('a', 1))
  store.put(aThing('a', 1))
  store.put(aThing('a', 2))
  store.remove(aThing('a', 3))
  store.remove(aThing('a', 3))
  expect(news()).toEqual(['added a a-1@1', 'changed a a-1@2', 'removed a a-1@2'])
})

test('a change is told with what was before, and can be read by then', () => {
  const seen: unknown[] = []
  const store = createStore<Thing>({
    keep: (thing) => thing,
    indexes: {},
    onChange: ({ key, before }) =>
      seen.push([before?.metadata.resourceVersion, store.get(key)?.metadata.resourceVersion]),
  })
  store.put(aThing('a', 1))
  store.put(aThing('a', 2))
  expect(seen).toEqual([
    [undefined, '1'],
    ['1', '2'],
  ])
})

test('while everything is learnt anew readers see what was known; then exactly the differences are told', () => {
  const { store, news, owned } = aStore()
  for (const name of ['same', 'changed', 'gone', 'again']) store.put(aThing(name, 1, { owners: ['x'] }))
  news()
  const replacing = store.startReplacing()
  replacing.put(aThing('same', 1, { owners: ['x'] }))
  replacing.put(aThing('changed', 5, { owners: ['y'] }))
  replacing.put(aThing('again', 6, { uid: 'again-2', owners: ['x'] }))
  replacing.put(aThing('new', 7))
  replacing.put(aThing('short-lived', 8))
  replacing.remove(aThing('short-lived', 9))
  expect(store.size()).toBe(4)
  expect(store.get('default/changed')?.metadata.resourceVersion).toBe('1')
  expect(news()).toEqual([])
  replacing.finish()
  expect(news()).toEqual([
    'removed gone gone-1@1',
    'changed changed changed-1@5',
    'removed again again-1@1',
    'added again again-2@6',
    'added new new-1@7',
  ])
  expect(owned('x')).toEqual(['default/again', 'default/same'])
  expect(owned('y')).toEqual(['default/changed'])
})

test('the same resource version of another object is a change: a restored API server counts anew', () => {
  const { store, news } = aStore()
  store.put(aThing('a', 1))
  store.put(aThing('a', 1, { uid: 'a-2' }))
  expect(news()).toEqual(['added a a-1@1', 'removed a a-1@1', 'added a a-2@1'])
})

test('what is learnt again unchanged is not put away again', () => {
  const kept: string[] = []
  const keep = (thing: Thing) => {
    kept.push(tell(thing))
    return thing
  }
  const store = createStore<Thing>({ keep, indexes: {}, onChange() {} })
  store.put(aThing('a', 1))
  store.put(aThing('a', 1))
  const replacing = store.startReplacing()
  replacing.put(aThing('a', 1))
  replacing.put(aThing('b', 2))
  replacing.finish()
  expect(kept).toEqual(['a-1@1', 'b-1@2'])
})

test('what is learnt first is told as it comes, so that it need not be held', () => {
  const { store, news } = aStore()
  const learning = store.startReplacing()
  learning.put(aThing('a', 1))
  expect(news()).toEqual(['added a a-1@1'])
  learning.put(aThing('b', 2))
  learning.remove(aThing('a', 3))
  learning.finish()
  expect(news()).toEqual(['added b b-1@2', 'removed a a-1@1'])
  expect([...store.keys()]).toEqual(['default/b'])
})

test('who asks for an index that was not declared is told so', () => {
  expect(() => aStore().store.keysAt('byColour', 'red')).toThrow('there is no index byColour')
})

describe('whatever comes in whatever order', () => {
  const names = fc.constantFrom('a', 'b', 'c')
  const owners = fc.uniqueArray(fc.constantFrom('x', 'y', 'z'))
  const deeds = fc.array(
    fc.oneof(
      fc.record({ do: fc.constantFrom('put' as const, 'recreate' as const), name: names, owners }),
      fc.record({ do: fc.constant('remove' as const), name: names }),
      fc.record({ do: fc.constantFrom('repeat' as const, 'relist' as const, 'stop looking' as const) }),
    ),
    { maxLength: 60 },
  )

  test('the store equals the server, its indexes are right, and what was told makes up what is there', () => {
    fc.assert(
      fc.property(deeds, (all) => {
        const server = new Map<string, Thing>()
        const known = new Map<string, Thing>() // by what handlers were told
        const store = createStore<Thing>({
          keep: (thing) => thing,
          indexes: { byOwner: (thing) => thing.owners },
          onChange({ what, key, object, before }) {
            expect(known.get(key)).toEqual(what === 'removed' ? object : before)
            expect(what === 'changed' ? before?.metadata.uid : object.metadata.uid).toBe(object.metadata.uid)
            if (what === 'removed') known.delete(key)
            else known.set(key, object)
          },
        })
        let version = 0
        let isLooking = true
        let last = () => {}
        const see = (event: () => void) => {
          last = event
          if (isLooking) event()
        }
        for (const deed of all) {
          version++
          if (deed.do === 'put' || deed.do === 'recreate') {
            const key = `default/${deed.name}`
            const before = server.get(key)
            const isNew = deed.do === 'recreate' || !before
            const uid = isNew ? `${deed.name}-${version}` : before.metadata.uid
            const now = aThing(deed.name, version, { ...(uid !== undefined && { uid }), owners: deed.owners })
            server.set(key, now)
            see(() => store.put(now))
          }
          if (deed.do === 'remove' && server.delete(`default/${deed.name}`)) {
            see(() => store.remove(aThing(deed.name, version)))
          }
          if (deed.do === 'repeat' && isLooking) last()
          if (deed.do === 'stop looking') isLooking = false
          if (deed.do === 'relist') {
            const replacing = store.startReplacing()
            for (const thing of server.values()) replacing.put({ ...thing })
            replacing.finish()
            last = () => {}
            isLooking = true
          }
          if (!isLooking) continue
          expect(new Map([...store.keys()].map((key) => [key, store.get(key)]))).toEqual(server)
          expect(known).toEqual(server)
          for (const owner of ['x', 'y', 'z']) {
            const owned = [...server].filter(([, thing]) => thing.owners.includes(owner)).map(([key]) => key)
            expect([...store.keysAt('byOwner', owner)].toSorted()).toEqual(owned.toSorted())
          }
        }
      }),
    )
  })
})
