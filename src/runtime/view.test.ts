import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { KubeObject } from '../api/resource.ts'
import type { Store } from './store.ts'
import { createView } from './view.ts'

interface Thing extends KubeObject {
  readonly scopes: readonly number[] // the watches that see it
}

function aThing(name: string, version: number, scopes: readonly number[] = [0, 1], uid = `${name}-1`): Thing {
  const metadata = { namespace: 'default', name, uid, resourceVersion: String(version) }
  return { apiVersion: 'v1', kind: 'Thing', metadata, scopes }
}

function aView() {
  const known = new Map<string, Thing>()
  const told: string[] = []
  const view = createView<Thing>({
    keep: (thing) => ({ ...thing }),
    indexes: { byVersion: ({ metadata: { resourceVersion = '' } }) => [resourceVersion] },
    onChange({ what, key, object, before }) {
      told.push(`${what} ${object.metadata.name}@${object.metadata.resourceVersion}`)
      if (what === 'resync') return
      expect(known.get(key)?.metadata).toEqual(what === 'removed' ? object.metadata : before?.metadata)
      if (what === 'removed') known.delete(key)
      else known.set(key, object)
    },
  })
  const [one, other] = [view.addStore(), view.addStore()]
  return { view, one, other, known, news: () => told.splice(0) }
}

test('an object that two watches see counts once, in its newest version, and is gone when none sees it', () => {
  const { view, one, other, news } = aView()
  one.put(aThing('a', 9))
  other.put(aThing('a', 9))
  expect(view.list()).toHaveLength(1)
  other.put(aThing('a', 10))
  expect(view.get('default/a')?.metadata.resourceVersion).toBe('10')
  expect(view.byIndex('byVersion', '9')).toEqual([])
  expect(view.byIndex('byVersion', '10')).toHaveLength(1)
  expect(view.keysAt('byVersion', '9')).toEqual([])
  expect(view.keysAt('byVersion', '10')).toEqual(['default/a'])
  one.put(aThing('a', 10))
  other.remove(aThing('a', 11))
  expect(view.list('default')).toHaveLength(1)
  expect(view.list('elsewhere')).toEqual([])
  one.remove(aThing('a', 11))
  expect(view.list()).toEqual([])
  expect(news()).toEqual(['added a@9', 'changed a@10', 'removed a@10'])
})

test('an object that was made anew is a removal and an addition, told by whichever watch hears of it first', () => {
  const { one, other, news } = aView()
  for (const store of [one, other]) store.put(aThing('a', 1))
  for (const store of [one, other]) store.remove(aThing('a', 2))
  for (const store of [one, other]) store.put(aThing('a', 3, [0, 1], 'a-2'))
  expect(news()).toEqual(['added a@1', 'removed a@1', 'added a@3'])
  for (const store of [one, other]) {
    const replacing = store.startReplacing()
    replacing.put(aThing('a', 5, [0, 1], 'a-3'))
    replacing.finish()
  }
  expect(news()).toEqual(['removed a@3', 'added a@5'])
})

test('a resync tells each object that is meant once', () => {
  const { view, one, other, news } = aView()
  for (const store of [one, other]) for (const name of ['a', 'b']) store.put(aThing(name, 1))
  one.put(aThing('only', 2))
  news()
  view.resync((key) => key !== 'default/b')
  expect(news()).toEqual(['resync a@1', 'resync only@2'])
})

test('however far each watch is behind, in the end the view is what all of them see together', () => {
  const deeds = fc.array(
    fc.oneof(
      fc.record({
        do: fc.constantFrom('put' as const, 'recreate' as const),
        name: fc.constantFrom('a', 'b'),
        scopes: fc.uniqueArray(fc.constantFrom(0, 1)),
      }),
      fc.record({ do: fc.constant('remove' as const), name: fc.constantFrom('a', 'b') }),
      fc.record({ do: fc.constantFrom('hear' as const, 'relist' as const), watch: fc.constantFrom(0, 1) }),
    ),
    { maxLength: 60 },
  )
  fc.assert(
    fc.property(deeds, (all) => {
      const { view, one, other, known } = aView()
      const watches = [one, other].map((store) => ({ store, unheard: [] as (() => void)[] }))
      const server = new Map<string, Thing>()
      let version = 0
      const happen = (now: Thing | undefined, before: Thing | undefined) => {
        for (const [index, { store, unheard }] of watches.entries()) {
          const sees = (thing?: Thing) => thing?.scopes.includes(index) ?? false
          if (now && sees(now)) unheard.push(() => store.put(now))
          else if (before && sees(before)) unheard.push(() => store.remove(before))
        }
      }
      const relist = (index: number, store: Store<Thing>) => {
        const replacing = store.startReplacing()
        for (const thing of server.values()) if (thing.scopes.includes(index)) replacing.put(thing)
        replacing.finish()
      }
      for (const deed of all) {
        version++
        if ('watch' in deed) {
          const watch = watches[deed.watch]
          if (deed.do === 'hear') watch?.unheard.shift()?.()
          else if (watch) {
            watch.unheard.length = 0
            relist(deed.watch, watch.store)
          }
        } else {
          const before = server.get(deed.name)
          if (before && deed.do !== 'put') {
            server.delete(deed.name)
            happen(undefined, before)
          }
          if (deed.do === 'remove') continue
          const uid = before && deed.do === 'put' ? before.metadata.uid : `${deed.name}-${version}`
          const now = aThing(deed.name, version, deed.scopes, uid)
          server.set(deed.name, now)
          happen(now, deed.do === 'put' ? before : undefined)
        }
      }
      for (const { unheard } of watches) for (const hear of unheard) hear()
      const seen = [...server.values()].filter(({ scopes }) => scopes.length > 0)
      const byName = (things: Iterable<Thing>) =>
        [...things].toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
      expect(byName(view.list())).toEqual(byName(seen))
      expect(byName(known.values())).toEqual(byName(seen))
    }),
    { numRuns: 500 },
  )
})
