import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { createQueue, type Queue, type Taken, type Urgency } from './queue.ts'

const a = 'default/a'
const b = 'default/b'
const other = 'other/a'

function aQueue() {
  const clock = virtualClock()
  return { clock, queue: createQueue({ clock, random: () => 1, firstDelayMs: 100, longestDelayMs: 1000 }) }
}

// What can be taken now.
async function now(queue: Queue): Promise<Taken | undefined> {
  return queue.waiting() > 0 ? queue.take() : undefined
}

async function allNow(queue: Queue): Promise<string[]> {
  const keys: string[] = []
  for (let taken = await now(queue); taken; taken = await now(queue)) keys.push(taken.key)
  return keys
}

test('a key that was added often waits once', async () => {
  const { queue } = aQueue()
  for (const urgency of ['resync', 'change', 'resync', 'change'] as const) queue.add(a, urgency)
  expect(await allNow(queue)).toEqual([a])
})

test('a worker that waits is given the first key that comes', async () => {
  const { queue } = aQueue()
  const taken = queue.take()
  queue.add(a)
  expect(await taken).toMatchObject({ key: a })
})

test('a key that is worked on is not given to another worker, but comes again when it was added meanwhile', async () => {
  const { queue } = aQueue()
  queue.add(a)
  const taken = await queue.take()
  queue.add(a)
  expect(queue.waiting()).toBe(0)
  taken?.done('ok')
  expect(await now(queue)).toMatchObject({ key: a })
})

test('changes come before resyncs, and a change makes a waiting resync a change', async () => {
  const { queue } = aQueue()
  queue.add(a, 'resync')
  queue.add(b, 'resync')
  queue.add(b, 'change')
  expect(await allNow(queue)).toEqual([b, a])
})

test('a resync is not put off for ever by changes', async () => {
  const { queue } = aQueue()
  queue.add('resync', 'resync')
  for (let index = 0; index < 40; index++) queue.add(`change-${index}`)
  expect((await allNow(queue)).indexOf('resync')).toBe(16)
})

// As when a VPN is down: each pass over one of sixty clusters takes the five seconds that its API server is given, and it comes again,
// after a while and whenever something changes. The tokens of others are renewed five minutes before they end.
test('what is due at a time comes in time, though most of the work is slow', async () => {
  const { clock, queue } = aQueue()
  const [isSlow, minutes] = [/^slow/, 60_000]
  const late: number[] = []
  const due = new Map<string, number>()
  const worker = async () => {
    for (let taken = await queue.take(); taken; taken = await queue.take()) {
      const { key } = taken
      if (isSlow.test(key)) {
        await clock.sleep(5000)
        taken.done('ok', Math.min(60_000, Math.max(5000, clock.now())))
        continue
      }
      late.push(clock.now() - (due.get(key) ?? 0))
      await clock.sleep(100)
      due.set(key, clock.now() + 8 * minutes)
      taken.done('ok', 8 * minutes)
    }
  }
  for (let index = 0; index < 10; index++) void worker()
  for (let index = 0; index < 200; index++) {
    due.set(`${index}`, index * 2400)
    queue.addAfter(`${index}`, index * 2400, 'resync')
  }
  for (let round = 0; round < 15; round++) {
    for (let index = 0; index < 60; index++) queue.add(`slow-${index}`)
    await clock.advance(2 * minutes)
  }
  queue.close()
  expect(late.length).toBeGreaterThan(700)
  expect(Math.max(...late)).toBeLessThan(1 * minutes)
})

test('how long a key waited is told, and each time one is added or tried again', async () => {
  const clock = virtualClock()
  const told: string[] = []
  const queue = createQueue({ clock, random: () => 1, firstDelayMs: 100, told: (what) => told.push(what) })
  queue.add(a)
  queue.add(a)
  await clock.advance(70)
  const taken = await queue.take()
  expect(taken?.waitedMs).toBe(70)
  taken?.done('failed')
  await clock.advance(130)
  expect((await queue.take())?.waitedMs).toBe(30)
  expect(told).toEqual(['added', 'retried', 'added'])
})

test('a failed key comes again after a delay that doubles up to a bound, and starts anew after a success', async () => {
  const { clock, queue } = aQueue()
  queue.add(a)
  const delays: number[] = []
  for (let failure = 0; failure < 6; failure++) {
    const taken = await queue.take()
    taken?.done('failed')
    const failedAt = clock.now()
    while (queue.waiting() === 0) await clock.advance(50)
    delays.push(clock.now() - failedAt)
  }
  expect(delays).toEqual([100, 200, 400, 800, 1000, 1000])
  const good = await queue.take()
  good?.done('ok')
  queue.add(a)
  const bad = await queue.take()
  bad?.done('failed')
  await clock.advance(100)
  expect(queue.waiting()).toBe(1)
})

test('a change makes a failed key come at once, a resync does not', async () => {
  const { queue } = aQueue()
  queue.add(a)
  const taken = await queue.take()
  taken?.done('failed')
  queue.add(a, 'resync')
  expect(queue.waiting()).toBe(0)
  queue.add(a, 'change')
  expect(queue.waiting()).toBe(1)
})

test('of several delays the earliest counts', async () => {
  const { clock, queue } = aQueue()
  queue.addAfter(a, 500)
  queue.addAfter(a, 200)
  queue.addAfter(a, 900)
  await clock.advance(199)
  expect(queue.waiting()).toBe(0)
  await clock.advance(1)
  expect(await allNow(queue)).toEqual([a])
  await clock.advance(10_000)
  expect(queue.waiting()).toBe(0)
})

test('a closed queue lets its workers go, and takes nothing more', async () => {
  const { clock, queue } = aQueue()
  const taken = queue.take()
  queue.addAfter(a, 100)
  queue.close()
  expect(await taken).toBeUndefined()
  queue.add(a)
  await clock.advance(1000)
  expect(queue.waiting()).toBe(0)
  expect(await queue.take()).toBeUndefined()
})

test('who says done twice is told so', async () => {
  const { queue } = aQueue()
  queue.add(a)
  const taken = await queue.take()
  taken?.done('ok')
  expect(() => taken?.done('ok')).toThrow('default/a was done already')
})

describe('whatever happens in whatever order', () => {
  const items = fc.constantFrom(a, b, other)
  const urgencies = fc.constantFrom<Urgency[]>('change', 'resync')
  const deeds = fc.array(
    fc.oneof(
      fc.record({ do: fc.constant('add' as const), item: items, urgency: urgencies }),
      fc.record({ do: fc.constant('addAfter' as const), item: items, urgency: urgencies, ms: fc.nat(500) }),
      fc.record({ do: fc.constant('take' as const) }),
      fc.record({
        do: fc.constant('done' as const),
        outcome: fc.constantFrom('ok' as const, 'failed' as const),
        again: fc.option(fc.nat(300), { nil: undefined }),
      }),
      fc.record({ do: fc.constant('advance' as const), ms: fc.nat(400) }),
    ),
    { maxLength: 60 },
  )
  const idOf = ({ key }: Taken) => key

  test('no key is worked on twice at a time, and none that was added is lost', async () => {
    await fc.assert(
      fc.asyncProperty(deeds, async (all) => {
        const { clock, queue } = aQueue()
        const busy: Taken[] = []
        const owed = new Set<string>() // added and not taken since
        const take = async () => {
          const taken = await now(queue)
          if (!taken) return false
          expect(busy.map(idOf)).not.toContain(idOf(taken))
          owed.delete(idOf(taken))
          busy.push(taken)
          return true
        }
        for (const deed of all) {
          if (deed.do === 'add') queue.add(deed.item, deed.urgency)
          if (deed.do === 'addAfter') queue.addAfter(deed.item, deed.ms, deed.urgency)
          if (deed.do === 'add' || deed.do === 'addAfter') owed.add(deed.item)
          if (deed.do === 'take') await take()
          if (deed.do === 'done') busy.shift()?.done(deed.outcome, deed.again)
          if (deed.do === 'advance') await clock.advance(deed.ms)
          expect(queue.waiting()).toBeLessThanOrEqual(3)
        }
        for (let round = 0; round < 10; round++) {
          for (const taken of busy.splice(0)) taken.done('ok')
          await clock.advance(1000)
          while (await take());
        }
        expect([...owed]).toEqual([])
        for (const taken of busy.splice(0)) taken.done('ok')
        await clock.advance(10_000)
        expect(queue.waiting()).toBe(0)
      }),
    )
  })
})
