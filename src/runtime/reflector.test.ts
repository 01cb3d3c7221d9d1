import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Mishap, modelServer, type Note } from '../../test/apiserver.ts'
import { virtualClock } from '../../test/clock.ts'
import type { Resource } from '../api/resource.ts'
import { startReflector } from './reflector.ts'
import { createStore } from './store.ts'

const notes: Resource<Note> = { group: '', version: 'v1', kind: 'Note', plural: 'notes', keep: (note) => note }
const minute = 60_000

// A reflector at a model server, and whoever is told of changes: what he was told must make up what is there.
function aScene({ random = (): number => 0.5, stopAtEnd = true, resource = notes } = {}) {
  const clock = virtualClock()
  const server = modelServer(clock)
  const timers = new Set<object>() // of the reflector
  const known = new Map<string, Note>()
  const told: string[] = []
  const everTold: string[] = []
  const troubles: string[] = []
  let onChange = () => {}
  const store = createStore<Note>({
    keep: (note) => note,
    indexes: {},
    onChange({ what, key, object, before }) {
      expect(known.get(key)).toEqual(what === 'removed' ? object : before)
      if (what === 'removed') known.delete(key)
      else known.set(key, object)
      told.push(`${what} ${key}`)
      const { uid, resourceVersion } = object.metadata
      everTold.push(what === 'removed' ? `${uid} removed` : `${uid} ${resourceVersion}`)
      onChange()
    },
  })
  const start = () => {
    const reflector = startReflector({
      client: server.client,
      resource,
      scope: {},
      store,
      clock: {
        now: clock.now,
        wakeAt(time, call) {
          const timer = {}
          timers.add(timer)
          const callOff = clock.wakeAt(time, () => timers.delete(timer) && call())
          return () => {
            timers.delete(timer)
            callOff()
          }
        },
      },
      random,
      trouble: (error) => troubles.push(String(error)),
    })
    if (stopAtEnd) onTestFinished(() => reflector.stop())
    return reflector
  }
  const news = () => told.splice(0)
  const isEqual = () => expect(new Map([...store.keys()].map((key) => [key, store.get(key)]))).toEqual(server.objects)
  const whenChanged = (call: () => void) => (onChange = call)
  return { clock, server, store, start, news, known, everTold, troubles, timers, isEqual, whenChanged }
}

test('it learns what is there, then hears of every change over one watch', async () => {
  const { clock, server, start, news, isEqual } = aScene()
  server.put('a')
  const reflector = start()
  expect(reflector.isSynced()).toBe(false)
  await clock.advance(1)
  expect(reflector.isSynced()).toBe(true)
  expect(await reflector.whenSynced()).toBe(true)
  server.put('b')
  server.put('a', 'changed')
  server.remove('b')
  await clock.advance(1)
  expect(news()).toEqual(['added a', 'added b', 'changed a', 'removed b'])
  isEqual()
  expect(server.asked).toEqual({ list: 0, watch: 1 })
  expect(reflector.restarts()).toBe(0)
})

test.each(['refused', 'ignored'] as const)(
  'where WatchList is %s, it lists page by page and then watches',
  async (how) => {
    const { clock, server, start, news, isEqual } = aScene()
    server.is.watchList = how
    for (const name of ['a', 'b', 'c', 'd', 'e']) server.put(name)
    const reflector = start()
    await clock.advance(2 * minute)
    expect(reflector.isSynced()).toBe(true)
    expect(server.asked).toEqual({ list: 3, watch: 2 })
    server.put('f')
    await clock.advance(1)
    expect(news()).toEqual(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `added ${name}`))
    isEqual()
  },
)

test('where a WatchList ends before it told everything, it lists once and tries WatchList again the next time', async () => {
  const { clock, server, start, news } = aScene()
  for (const name of ['a', 'b']) server.put(name)
  server.mishaps.push({ do: 'end', after: 1 })
  start()
  await clock.advance(1000)
  expect(server.asked).toEqual({ list: 1, watch: 2 })
  server.mishaps.push({ do: 'expire', after: 0 })
  await clock.advance(20 * minute)
  expect(server.asked.list).toBe(1)
  expect(news()).toEqual(['added a', 'added b'])
})

test('where it may not go on from the version it knows, it lists', async () => {
  const { clock, server, start, isEqual } = aScene()
  server.put('a')
  start()
  await clock.advance(1)
  server.mishaps.push({ do: 'refuse', code: 400 })
  server.cut()
  server.put('b')
  await clock.advance(1000)
  expect(server.asked).toEqual({ list: 1, watch: 3 })
  isEqual()
})

test('a first list that breaks between two pages is no knowledge; the next one corrects it', async () => {
  const { clock, server, start, news, isEqual } = aScene()
  Object.assign(server.is, { watchList: 'refused', laggingMs: 10 })
  for (const name of ['a', 'b', 'c', 'd']) server.put(name)
  const reflector = start()
  while (server.asked.list < 2) await clock.advance(1)
  server.mishaps.push({ do: 'refuse', code: 500 })
  await clock.advance(20)
  expect(server.mishaps).toEqual([])
  expect(reflector.isSynced()).toBe(false)
  server.remove('a')
  await clock.advance(1000)
  isEqual()
  expect(news().slice(2)).toEqual(['removed a', 'added c', 'added d'])
})

test('when a watch ends in order, it goes on where it was, thanks to bookmarks also when all else was forgotten', async () => {
  const { clock, server, start, news, troubles } = aScene()
  server.put('a')
  const reflector = start()
  await clock.advance(1000)
  server.pass()
  await clock.advance(minute)
  server.forget()
  await clock.advance(60 * minute)
  server.put('b')
  await clock.advance(1)
  expect(news()).toEqual(['added a', 'added b'])
  expect(troubles).toEqual([])
  expect(server.asked.list).toBe(0)
  expect(server.asked.watch).toBe(reflector.restarts() + 1)
  expect(reflector.restarts()).toBeLessThanOrEqual(60 / 5)
})

test('when a watch breaks, nothing that was heard is told again', async () => {
  const { clock, server, start, news } = aScene()
  start()
  await clock.advance(1)
  for (const text of ['1', '2', '3']) server.put('a', text)
  await clock.advance(1)
  server.cut()
  server.put('a', '4')
  await clock.advance(1000)
  expect(server.asked).toEqual({ list: 0, watch: 2 })
  expect(news()).toEqual(['added a', 'changed a', 'changed a', 'changed a'])
})

test('what was missed and forgotten meanwhile is learnt anew, and only the differences are told', async () => {
  const { clock, server, start, news, isEqual } = aScene()
  for (const name of ['same', 'changed', 'gone', 'again']) server.put(name)
  server.mishaps.push({ do: 'break', after: 5 })
  start()
  await clock.advance(1)
  news()
  server.put('changed', 'now')
  server.remove('gone')
  server.remove('again')
  server.put('again')
  server.put('new')
  server.forget()
  await clock.advance(1000)
  expect(news()).toEqual(['removed gone', 'changed changed', 'removed again', 'added again', 'added new'])
  isEqual()
})

test('while everything is learnt anew and it does not work, readers see what was known', async () => {
  const { clock, server, store, start, news } = aScene()
  for (const name of ['a', 'b', 'c']) server.put(name)
  server.mishaps.push({ do: 'expire', after: 4 }, { do: 'break', after: 1 }, { do: 'refuse', code: 500 })
  const reflector = start()
  await clock.advance(600)
  expect(server.asked.watch).toBeGreaterThanOrEqual(3)
  expect(store.size()).toBe(3)
  expect(reflector.isSynced()).toBe(true)
  await clock.advance(minute)
  expect(news()).toEqual(['added a', 'added b', 'added c'])
})

test.each<[string, Mishap]>([
  ['closes every watch at once', { do: 'end', after: 0 }],
  ['closes every watch after an event', { do: 'end', after: 1 }],
  ['breaks every watch', { do: 'break', after: 0 }],
  ['calls every version expired', { do: 'expire', after: 0 }],
  ['answers 500', { do: 'refuse', code: 500 }],
  ['answers 403', { do: 'refuse', code: 403 }],
])('an API server that %s is not hammered', async (_how, mishap) => {
  const { clock, server, start, isEqual } = aScene()
  server.put('a')
  server.mishaps.push(...Array.from({ length: 10_000 }, () => mishap))
  start()
  await clock.advance(60 * minute)
  const { list, watch } = server.asked
  expect(list + watch).toBeLessThan((2 * (60 * 60)) / 15)
  server.mishaps.length = 0
  await clock.advance(minute)
  isEqual()
})

test('a watch that lived long is followed at once by the next, whatever went wrong before it', async () => {
  const { clock, server, start } = aScene()
  server.mishaps.push(...Array.from({ length: 12 }, () => ({ do: 'refuse', code: 503 }) as const))
  start()
  await clock.advance(10 * minute)
  const before = server.asked.watch
  server.put('a')
  await clock.advance(10 * minute)
  expect(server.asked.watch).toBeGreaterThan(before)
  server.mishaps.push({ do: 'break', after: 0 })
  const broken = server.asked.watch
  while (server.asked.watch === broken) await clock.advance(1000)
  await clock.advance(1000)
  expect(server.asked.watch).toBe(broken + 2)
})

// Which is how an API server that is busy treats those whose events it cannot get rid of.
test('watches that are ended one after another are followed soon, as long as each has told something', async () => {
  const { clock, server, start, store } = aScene()
  start()
  await clock.advance(1000)
  server.mishaps.push(...Array.from({ length: 20 }, () => ({ do: 'end', after: 1 }) as const))
  server.cut()
  await clock.advance(1000)
  for (let at = 0; at < 20; at++) {
    server.put('a', String(at))
    await clock.advance(400)
    expect(store.get('a')?.text).toBe(String(at))
  }
})

test('it waits as long as it is asked to, but not for hours', async () => {
  const { clock, server, start } = aScene()
  server.mishaps.push({ do: 'refuse', code: 429, retryAfterSeconds: 40 })
  server.mishaps.push({ do: 'refuse', code: 503, retryAfterSeconds: 36_000 })
  start()
  await clock.advance(39_999)
  expect(server.asked.watch).toBe(1)
  await clock.advance(1)
  expect(server.asked.watch).toBe(2)
  await clock.advance(5 * minute)
  expect(server.asked.watch).toBe(3)
})

test('it knocks every few seconds where nobody answers, and whoever answers then is not kept waiting for that', async () => {
  const { clock, server, start, isEqual } = aScene()
  start()
  await clock.advance(1)
  server.mishaps.push(...Array.from({ length: 10_000 }, () => ({ do: 'refuse', isUnreachable: true }) as const))
  server.cut()
  await clock.advance(10 * minute)
  expect(server.asked.watch).toBeGreaterThan((10 * 60) / 3)
  expect(server.asked.watch).toBeLessThan((10 * 60) / 1.5)
  server.mishaps.length = 0
  server.mishaps.push({ do: 'refuse', code: 429, retryAfterSeconds: 1 }, { do: 'expire', after: 0 }) // as one just started
  server.put('a')
  await clock.advance(5000)
  isEqual()
})

test('a watch on which nothing comes, not even its end, is called off and goes on where it was', async () => {
  const { clock, server, start, troubles, isEqual } = aScene({ random: () => 0 })
  server.mishaps.push({ do: 'silence', after: 1 })
  const reflector = start()
  await clock.advance(1000)
  server.put('a')
  await clock.advance(2.9 * minute)
  expect(server.asked.watch).toBe(1)
  expect(reflector.lastSuccess()).toBe(0)
  await clock.advance(minute)
  expect(server.asked).toEqual({ list: 0, watch: 2 })
  expect(troubles).toEqual(['Error: cannot watch notes: nothing came for 180 s'])
  expect(reflector.lastSuccess()).toBeGreaterThan(2.9 * minute)
  isEqual()
})

describe('a kind that is not served', () => {
  test('has no objects, once a ready API server has said so twice; it is asked for calmly, until it is served again', async () => {
    const { clock, server, store, start, news } = aScene()
    server.put('a')
    server.mishaps.push({ do: 'end', after: 2 })
    const reflector = start()
    await clock.advance(10)
    server.is.served = false
    await clock.advance(1900)
    expect(server.asked.watch).toBe(2)
    expect(store.size()).toBe(1)
    await clock.advance(5000)
    expect(store.size()).toBe(0)
    expect(news()).toEqual(['added a', 'removed a'])
    await clock.advance(10 * minute)
    expect(server.asked.watch).toBeLessThan(250)
    expect(reflector.lastSuccess()).toBeGreaterThan(10 * minute)
    server.is.served = true
    await clock.advance(5000)
    expect(news()).toEqual(['added a'])
    expect(reflector.isSynced()).toBe(true)
  })

  test('is in sync with nothing', async () => {
    const { clock, server, start, troubles } = aScene()
    server.is.served = false
    const reflector = start()
    await clock.advance(1000)
    expect(reflector.isSynced()).toBe(false)
    await clock.advance(10_000)
    expect(reflector.isSynced()).toBe(true)
    expect(troubles[0]).toBe('ApiError: cannot ask: 404 no')
  })

  test('is no trouble where it may well be absent: it is in sync with nothing at once, asked for less and less, and found when told of', async () => {
    const { clock, server, store, start, troubles, news } = aScene({ resource: { ...notes, isOptional: true } })
    server.is.served = false
    const reflector = start()
    await clock.advance(1)
    expect(reflector.isSynced()).toBe(true)
    await clock.advance(60 * minute)
    expect(troubles).toEqual([])
    expect(server.asked.watch).toBeLessThan(100)
    server.put('a')
    server.is.served = true
    reflector.lookAgain()
    await clock.advance(1)
    expect(news()).toEqual(['added a'])
    reflector.lookAgain() // of one that is served: nothing happens
    await clock.advance(1)
    server.is.served = false
    server.cut()
    await clock.advance(1000)
    expect(store.size()).toBe(0)
    expect(news()).toEqual(['removed a'])
    // Said to be served a moment before it is: still no trouble, and it comes again soon.
    server.is.served = true
    server.mishaps.push({ do: 'refuse', code: 404 }, { do: 'refuse', code: 404 })
    reflector.lookAgain()
    await clock.advance(1000)
    expect(news()).toEqual(['added a'])
    expect(troubles).toEqual(['ApiError: cannot watch: it was cut'])
    // The same said of one that was served forgets nothing.
    server.mishaps.push({ do: 'refuse', code: 404 })
    server.cut()
    await clock.advance(1000)
    expect(news()).toEqual([])
    server.is.served = false
    server.cut()
    await clock.advance(1000)
    expect(news()).toEqual(['removed a'])
    // Told of a moment too early: it comes again soon.
    reflector.lookAgain()
    await clock.advance(10)
    server.is.served = true
    await clock.advance(1000)
    expect(news()).toEqual(['added a'])
  })

  test('is trouble all the same while the API server is not ready or still says that it serves it', async () => {
    const { clock, server, start, troubles } = aScene({ resource: { ...notes, isOptional: true } })
    server.put('a')
    Object.assign(server.is, { served: false, ready: false })
    const reflector = start()
    await clock.advance(minute)
    expect(reflector.isSynced()).toBe(false)
    expect(troubles).not.toEqual([])
    Object.assign(server.is, { served: true, ready: true })
    server.mishaps.push({ do: 'refuse', code: 404 })
    await clock.advance(1000)
    expect(reflector.isSynced()).toBe(false)
    await clock.advance(10_000)
    expect(reflector.isSynced()).toBe(true)
  })

  test('is not believed in while the API server is not ready, nor when it is said only now and then', async () => {
    const { clock, server, store, start, news } = aScene()
    server.put('a')
    server.mishaps.push({ do: 'end', after: 2 })
    start()
    await clock.advance(10)
    Object.assign(server.is, { served: false, ready: false })
    await clock.advance(minute)
    expect(store.size()).toBe(1)
    Object.assign(server.is, { served: true, ready: true })
    const notFound = { do: 'refuse', code: 404 } as const
    for (const between of [{ do: 'refuse', code: 500 } as const, { do: 'end', after: 0 } as const]) {
      server.mishaps.push(...Array.from({ length: 20 }, () => [between, notFound]).flat())
    }
    await clock.advance(20 * minute)
    expect(server.mishaps).toHaveLength(0)
    expect(store.size()).toBe(1)
    Object.assign(server.is, { served: false, ready: 'every other time' })
    await clock.advance(10 * minute)
    expect(news()).toEqual(['added a'])
  })
})

test('stopped, it asks no more, tells no more and keeps nobody waiting', async () => {
  for (const stopAfterMs of [0, 5, 10, 30, 100, 400, 10_000]) {
    for (const laggingMs of [0, 20]) {
      const { clock, server, start, news, troubles, timers } = aScene()
      Object.assign(server.is, { laggingMs, watchList: 'refused' })
      server.put('a')
      server.mishaps.push({ do: 'refuse', code: 500 })
      const reflector = start()
      await clock.advance(stopAfterMs)
      reflector.stop()
      const asked = { ...server.asked }
      news()
      troubles.length = 0
      await reflector.whenSynced()
      server.put('b')
      await clock.advance(laggingMs + 1)
      expect(timers.size).toBe(0)
      await clock.advance(30 * minute)
      expect(news()).toEqual([])
      expect(troubles).toEqual([])
      expect(server.asked).toEqual(asked)
    }
  }
})

test('stopped by who was told of a change, it tells no further one', async () => {
  const { clock, server, start, news, whenChanged } = aScene()
  const reflector = start()
  await clock.advance(1)
  server.put('a')
  server.put('b')
  whenChanged(reflector.stop)
  await clock.advance(1)
  expect(news()).toEqual(['added a'])
})

describe('whatever happens in whatever order', () => {
  const names = fc.constantFrom('a', 'b', 'c', 'd', 'e')
  const mishaps = fc.oneof(
    fc.record({ do: fc.constant('refuse' as const), code: fc.constantFrom(410, 429, 500, 503, 504) }),
    fc.record({ do: fc.constantFrom('end' as const, 'break' as const, 'expire' as const), after: fc.nat(8) }),
    fc.record({ do: fc.constant('silence' as const), after: fc.nat(8) }),
  )
  const deeds = fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('put' as const, 'remove' as const), name: names }) },
      {
        weight: 4,
        arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.oneof(fc.nat(50), fc.nat(90_000)) }),
      },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('mishap' as const), mishap: mishaps }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('forget' as const, 'cut' as const, 'pass' as const) }) },
    ),
    { maxLength: 80 },
  )

  test('the store ends equal to the server, handlers have been told everything once, and requests are few', async () => {
    await fc.assert(
      fc.asyncProperty(
        deeds,
        fc.constantFrom('known' as const, 'refused' as const, 'ignored' as const),
        fc.constantFrom(0, 7),
        fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
        async (all, watchList, laggingMs, dice) => {
          const random = () => Number(dice.next().value)
          const { clock, server, start, known, everTold, timers, isEqual } = aScene({ random, stopAtEnd: false })
          Object.assign(server.is, { watchList, laggingMs })
          const reflector = start()
          let count = 0
          for (const deed of all) {
            if (deed.do === 'put') server.put(deed.name, String(++count))
            if (deed.do === 'remove') server.remove(deed.name)
            if (deed.do === 'advance') await clock.advance(deed.ms)
            if (deed.do === 'mishap') server.mishaps.push(deed.mishap)
            if (deed.do === 'forget') server.forget()
            if (deed.do === 'cut') server.cut()
            if (deed.do === 'pass') server.pass()
          }
          const struck = all.filter((deed) => ['mishap', 'forget', 'cut'].includes(deed.do)).length
          // Each silence may last for ten minutes and a half.
          await clock.advance((struck + 2) * 11 * minute)
          expect(server.mishaps).toEqual([])
          isEqual()
          expect(known).toEqual(server.objects)
          expect(new Set(everTold).size).toBe(everTold.length)
          const orderly = clock.now() / (5 * minute)
          expect(server.asked.watch + server.asked.list).toBeLessThanOrEqual(6 * (struck + 1) + orderly)
          reflector.stop()
          await clock.advance(laggingMs + 1)
          expect(timers.size).toBe(0)
        },
      ),
      { numRuns: 200 },
    )
  })
})
