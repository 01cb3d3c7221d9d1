import { expect, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import type { Event } from '../api/neighbours.ts'
import type { Key, KubeObject } from '../api/resource.ts'
import type { Client } from '../kube/client.ts'
import { ApiError } from '../kube/errors.ts'
import { createRecorder, type Happening } from './recorder.ts'

const demo: KubeObject = {
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
  kind: 'CAPTCluster',
  metadata: { namespace: 'team', name: 'demo', uid: 'u1', resourceVersion: '1' },
}
const failed: Happening = { type: 'Warning', reason: 'ApplyFailed', action: 'Apply', note: 'quota exceeded' }

type Way = (carryOut: () => Event) => Promise<Event>

const straight: Way = async (carryOut) => carryOut()
const silent: Way = async () => new Promise(() => {})
const broken: Way = async () => {
  throw new ApiError({ doing: 'record', message: 'connection reset' })
}
const answerLost: Way = async (carryOut) => {
  carryOut()
  return broken(carryOut)
}

// A recorder, and an API server that keeps Events.
function aRecorder() {
  const clock = virtualClock()
  const events = new Map<string, Event>()
  const api = { ways: [] as Way[], events, asked: [] as string[], troubles: [] as string[] }
  const carry = async (what: string, carryOut: () => Event) => {
    api.asked.push(what)
    return (api.ways.shift() ?? straight)(carryOut)
  }
  const recorder = createRecorder({
    client: {
      create: async (_: unknown, event: Event) =>
        carry('create', () => {
          const { name } = event.metadata
          if (events.has(name))
            throw new ApiError({ doing: 'record', code: 409, reason: 'AlreadyExists', message: 'already exists' })
          events.set(name, event)
          return event
        }),
      patch: async (_: unknown, { name }: Key, change: Partial<Event>) =>
        carry('patch', () => {
          const before = events.get(name)
          if (!before)
            throw new ApiError({ doing: 'record', code: 404, reason: 'NotFound', message: 'gone', about: name })
          events.set(name, { ...before, ...change })
          return { ...before, ...change }
        }),
    } as unknown as Client,
    clock,
    date: () => new Date(1_800_000_000_000 + clock.now()),
    controller: 'capt.appthrust.io/manager',
    instance: 'capt-0',
    onTrouble: (error) => api.troubles.push(String(error)),
  })
  const counts = () => [...events.values()].map(({ series }) => series?.count ?? 1)
  return Object.assign(api, { clock, counts, ...recorder })
}

test('an event is sent at once, and says what happened to which object', async () => {
  const { record, clock, events } = aRecorder()
  record(demo, failed)
  await clock.advance(0)
  const [event] = events.values()
  expect(event).toEqual({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace: 'team', name: expect.stringMatching(/^demo\.[0-9a-f]{32}$/) as string },
    eventTime: '2027-01-15T08:00:00.000000Z',
    reportingController: 'capt.appthrust.io/manager',
    reportingInstance: 'capt-0',
    ...failed,
    regarding: { apiVersion: demo.apiVersion, kind: 'CAPTCluster', namespace: 'team', name: 'demo', uid: 'u1' },
  })
})

test('the event of an object without a namespace is in default', async () => {
  const { record, clock, events } = aRecorder()
  record({ ...demo, metadata: { name: 'flux' } }, failed)
  await clock.advance(0)
  expect([...events.values()].map(({ metadata, regarding }) => [metadata.namespace, regarding])).toEqual([
    ['default', { apiVersion: demo.apiVersion, kind: 'CAPTCluster', name: 'flux' }],
  ])
})

test('what happens again is counted on the same Event, sent at most once a minute', async () => {
  const { record, clock, counts, asked, events } = aRecorder()
  for (let second = 0; second < 150; second++) {
    record({ ...demo, metadata: { ...demo.metadata, resourceVersion: String(second) } }, { ...failed })
    await clock.advance(1000)
  }
  expect([asked, counts()]).toEqual([['create', 'patch', 'patch'], [120]])
  await clock.advance(60_000)
  expect([asked.length, counts()]).toEqual([4, [150]])
  const [event] = events.values()
  expect(event?.series).toEqual({ count: 150, lastObservedTime: '2027-01-15T08:02:29.000000Z' })
})

test('what happens again after ten quiet minutes is another Event', async () => {
  const { record, clock, counts } = aRecorder()
  record(demo, failed)
  await clock.advance(599_999)
  record(demo, failed)
  await clock.advance(600_000)
  expect(counts()).toEqual([2])
  record(demo, failed)
  await clock.advance(0)
  expect(counts()).toEqual([2, 1])
})

test('it is the same as long as it never is quiet for ten minutes', async () => {
  const { record, clock, counts } = aRecorder()
  for (let time = 0; time < 5; time++) {
    record(demo, failed)
    await clock.advance(360_000)
  }
  expect(counts()).toEqual([5])
})

test('what happens again before it could be sent is sent with its count', async () => {
  const { record, clock, asked, counts } = aRecorder()
  record({ ...demo, metadata: { name: 'in the way' } }, failed)
  for (let time = 0; time < 3; time++) record(demo, failed)
  await clock.advance(0)
  expect([asked, counts()]).toEqual([
    ['create', 'create'],
    [1, 3],
  ])
})

test('another object, type, reason, action or note is another Event', async () => {
  const { record, clock, counts } = aRecorder()
  const others: Partial<Happening>[] = [{}, { type: 'Normal' }, { reason: 'X' }, { action: 'X' }, { note: 'x' }]
  for (const other of others) record(demo, { ...failed, ...other })
  record({ ...demo, metadata: { ...demo.metadata, uid: 'u2' } }, failed)
  await clock.advance(0)
  expect(counts()).toEqual([1, 1, 1, 1, 1, 1])
})

test('an object has 25 different events at once, then one every five minutes; other objects have theirs', async () => {
  const { record, clock, events } = aRecorder()
  let notes = 0
  const recordMany = () => {
    for (let each = 0; each < 40; each++) record(demo, { ...failed, note: `note ${notes++}` })
  }
  recordMany()
  await clock.advance(0)
  expect(events.size).toBe(25)
  record({ ...demo, metadata: { name: 'other' } }, failed)
  await clock.advance(299_999)
  recordMany()
  expect(events.size).toBe(26)
  await clock.advance(1)
  recordMany()
  await clock.advance(0)
  expect(events.size).toBe(27)
  await clock.advance(24 * 3_600_000)
  recordMany()
  await clock.advance(0)
  expect(events.size).toBe(27 + 25)
})

test.each([
  ['as long as it may be', 'x'.repeat(1024), 'x'.repeat(1024)],
  ['too long', 'x'.repeat(1025), `${'x'.repeat(1021)}…`],
  ['too long, with long characters', '日'.repeat(400), `${'日'.repeat(340)}…`],
  ['too long, with longer ones', '😀'.repeat(400), `${'😀'.repeat(255)}…`],
])('a note that is %s', async (_, note, sent) => {
  const { record, clock, events } = aRecorder()
  record(demo, { ...failed, note })
  await clock.advance(0)
  const [event] = events.values()
  expect(event?.note).toBe(sent)
})

test('an object with a long name has an Event with a name that is allowed', async () => {
  const { record, clock, events } = aRecorder()
  record({ ...demo, metadata: { name: `${'x'.repeat(198)}.-${'y'.repeat(50)}` } }, failed)
  await clock.advance(0)
  expect([...events.keys()].join()).toMatch(/^x{198}\.[0-9a-f]{32}$/)
})

test('what could not be sent is tried once more, then dropped and told; others are not kept back', async () => {
  const { record, clock, counts, troubles, ways } = aRecorder()
  ways.push(broken)
  record(demo, failed)
  await clock.advance(0)
  expect([counts(), troubles]).toEqual([[1], []])
  ways.push(broken, broken)
  record(demo, { ...failed, note: 'lost' })
  record(demo, { ...failed, note: 'sent' })
  await clock.advance(0)
  expect([counts(), troubles]).toEqual([[1, 1], ['ApiError: cannot record: connection reset']])
})

test('a dropped event comes with its count when it happens again', async () => {
  const { record, clock, counts, ways } = aRecorder()
  ways.push(broken, broken)
  record(demo, failed)
  await clock.advance(1000)
  record(demo, failed)
  await clock.advance(60_000)
  expect(counts()).toEqual([2])
})

test('an API server that is silent is given up', async () => {
  const { record, clock, counts, troubles, ways } = aRecorder()
  ways.push(silent, silent)
  record(demo, failed)
  record(demo, { ...failed, note: 'next' })
  await clock.advance(20_000)
  expect(counts()).toEqual([1])
  expect(troubles.join()).toMatch(/^Error: cannot record Event team\/demo\.\w+: no answer within 10 s$/)
})

test('an Event whose answer was lost is not made twice, and one that was deleted is made anew', async () => {
  const { record, clock, counts, events, asked, troubles, ways } = aRecorder()
  ways.push(answerLost)
  record(demo, failed)
  await clock.advance(60_000)
  expect(asked).toEqual(['create', 'create'])
  record(demo, failed)
  await clock.advance(60_000)
  expect([counts(), asked.at(-1)]).toEqual([[2], 'patch'])
  events.clear()
  record(demo, failed)
  await clock.advance(0)
  expect([counts(), troubles]).toEqual([[3], []])
})

test('a failed count does not forget that the Event is there', async () => {
  const { record, clock, counts, asked, ways } = aRecorder()
  record(demo, failed)
  await clock.advance(60_000)
  ways.push(broken)
  record(demo, failed)
  await clock.advance(0)
  expect([counts(), asked]).toEqual([[2], ['create', 'patch', 'patch']])
})

test('closing sends what waits and takes nothing more', async () => {
  const { record, clock, close, counts } = aRecorder()
  record(demo, failed)
  await clock.advance(1000)
  record(demo, failed)
  await close()
  expect(counts()).toEqual([2])
  record(demo, { ...failed, note: 'late' })
  await clock.advance(60_000)
  expect(counts()).toEqual([2])
})

test('closing does not wait for an API server that is silent', async () => {
  const { record, clock, close, troubles, ways } = aRecorder()
  ways.push(silent)
  record(demo, failed)
  await Promise.all([close(), clock.advance(2000)])
  expect(troubles).toEqual(['Error: cannot send the last events: no answer within 2 s'])
})

test('of very many events the oldest are forgotten', async () => {
  const { record, clock, counts } = aRecorder()
  const each = (index: number) => record({ ...demo, metadata: { name: `x${index}` } }, failed)
  for (const index of [0, 1, 0]) each(index)
  await clock.advance(1000)
  for (let index = 2; index <= 4096; index++) each(index)
  await clock.advance(1000)
  for (const index of [0, 1]) each(index)
  await clock.advance(60_000)
  expect([counts().length, counts().slice(0, 2), counts().at(-1)]).toEqual([4098, [3, 1], 1])
})
