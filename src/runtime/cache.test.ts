import { expect, onTestFinished, test } from 'vitest'
import { modelServer, type Note } from '../../test/apiserver.ts'
import { virtualClock } from '../../test/clock.ts'
import { Secret } from '../api/neighbours.ts'
import type { Resource } from '../api/resource.ts'
import type { Client, Scope } from '../kube/client.ts'
import { createCache, scatter } from './cache.ts'

const Notes: Resource<Note> = {
  group: '',
  version: 'v1',
  kind: 'Note',
  plural: 'notes',
  keep: (note) => ({ ...note, text: note.text.toUpperCase() }),
}

function aScene() {
  const clock = virtualClock()
  const server = modelServer(clock)
  const scopes: Scope[] = []
  const troubles: string[] = []
  const watch: Client['watch'] = (resource, scope, signal) => {
    scopes.push(scope)
    return server.client.watch(resource, scope, signal)
  }
  const cache = createCache({
    client: { ...server.client, watch },
    clock,
    random: () => 0.5,
    trouble: (resource, error) => troubles.push(`${resource.kind} ${String(error)}`),
  })
  onTestFinished(() => cache.stop())
  return { clock, server, cache, scopes, troubles }
}

test('controllers that declare the same share a watch, their indexes and what is kept', async () => {
  const { clock, server, cache } = aScene()
  const told: string[] = []
  cache.watch(Notes, { indexes: { byText: ({ text }) => [text] } })
  cache.watch(Notes, { onChange: ({ what, key }) => told.push(`one: ${what} ${key}`) })
  cache.watch(Notes, { onChange: ({ what, key }) => told.push(`two: ${what} ${key}`) })
  server.put('a', 'hello')
  expect(cache.isSynced()).toBe(false)
  const synced = cache.whenSynced()
  cache.start()
  expect(cache.isSynced()).toBe(false)
  await clock.advance(1)
  expect(await synced).toBe(true)
  expect(cache.isSynced()).toBe(true)
  expect(server.asked.watch).toBe(1)
  expect(cache.get(Notes, { name: 'a' })?.text).toBe('HELLO')
  expect(cache.byIndex(Notes, 'byText', 'HELLO')).toHaveLength(1)
  expect(cache.keysAt(Notes, 'byText', 'HELLO')).toEqual([{ name: 'a' }])
  expect(cache.list(Notes)).toHaveLength(1)
  expect(told).toEqual(['one: added a', 'two: added a'])
  expect(cache.watches().map(({ resource, size }) => `${resource} ${size()}`)).toEqual(['notes 1'])
})

test('a kind is watched once for each scope, a Secret never with its bytes', async () => {
  const { clock, server, cache, scopes } = aScene()
  for (const scope of [{ labels: 'a=b' }, { fields: 'type=x' }, { labels: 'a=b' }]) cache.watch(Secret, { scope })
  cache.start()
  await clock.advance(1)
  expect(server.asked.watch).toBe(2)
  expect(scopes).toMatchObject([
    { labels: 'a=b', metadataOnly: true },
    { fields: 'type=x', metadataOnly: true },
  ])
})

test('a handler that fails is reported, and keeps no other from being told', async () => {
  const { clock, server, cache, troubles } = aScene()
  const told: string[] = []
  cache.watch(Notes, {
    onChange() {
      throw new Error('cannot')
    },
  })
  cache.watch(Notes, { onChange: ({ key }) => told.push(key) })
  server.put('a')
  server.put('b')
  cache.start()
  await clock.advance(1)
  expect(told).toEqual(['a', 'b'])
  expect(troubles).toEqual(['Note Error: cannot', 'Note Error: cannot'])
})

test('each object is handed to its handlers once a period, some at a time', async () => {
  const { clock, server, cache } = aScene()
  const told: { readonly key: string; readonly at: number }[] = []
  cache.watch(Notes, { onChange: ({ what, key }) => what === 'resync' && told.push({ key, at: clock.now() }) })
  const names = Array.from({ length: 640 }, (_, index) => `note-${index}`)
  for (const name of names) server.put(name)
  cache.start()
  cache.resync(64_000)
  for (let period = 1; period <= 3; period++) {
    await clock.advance(64_000)
    expect(told.map(({ key }) => key).toSorted()).toEqual(names.toSorted())
    const moments = Map.groupBy(told.splice(0), ({ at }) => at)
    expect(Math.max(...[...moments.values()].map((each) => each.length))).toBeLessThan(40)
  }
  cache.stop()
  await clock.advance(64_000)
  expect(told).toEqual([])
})

test('a cache that is stopped before it knows everything says so', async () => {
  const { clock, server, cache } = aScene()
  server.mishaps.push({ do: 'silence', after: 0 })
  cache.watch(Notes)
  const synced = cache.whenSynced()
  cache.start()
  await clock.advance(1)
  cache.stop()
  expect(await synced).toBe(false)
  const never = aScene().cache
  never.stop()
  expect(await never.whenSynced()).toBe(false)
})

test('who reads what nobody watches, or declares what does not fit, is told so', () => {
  const { cache } = aScene()
  expect(() => cache.get(Notes, { name: 'a' })).toThrow('nobody watches notes v1')
  cache.watch(Notes, { indexes: { byText: ({ text }) => [text] } })
  expect(() => cache.watch(Notes, { indexes: { byText: () => [] } })).toThrow('another index byText')
  expect(() => cache.watch(Notes, { scope: { metadataOnly: true } })).toThrow('whole and in part')
  cache.start()
  expect(() => cache.watch(Secret)).toThrow('before the start')
})

test('hashes of many keys fall evenly into a few groups', () => {
  const groups = Array.from({ length: 64 }, () => 0)
  for (let index = 0; index < 6400; index++) {
    const group = scatter(`team-${index % 7}/cluster-${index}`) % 64
    groups[group] = (groups[group] ?? 0) + 1
  }
  expect(Math.max(...groups)).toBeLessThan(200)
  expect(Math.min(...groups)).toBeGreaterThan(20)
})
