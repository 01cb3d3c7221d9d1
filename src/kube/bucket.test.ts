import { expect, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { createBucket } from './bucket.ts'

test('as many as were saved up go at once, the others in order at the rate that was set', async () => {
  const clock = virtualClock()
  const bucket = createBucket({ perSecond: 10, burst: 3, now: clock.now, sleep: clock.sleep })
  const went: string[] = []
  for (let each = 0; each < 6; each++) void bucket.take().then(() => went.push(`${each} at ${clock.now()}`))
  await clock.advance(1000)
  expect(went).toEqual(['0 at 0', '1 at 0', '2 at 0', '3 at 100', '4 at 200', '5 at 300'])
})

test('a bucket that rests fills up to its burst and no further', async () => {
  const clock = virtualClock()
  const bucket = createBucket({ perSecond: 10, burst: 2, now: clock.now, sleep: clock.sleep })
  await clock.advance(60_000)
  let went = 0
  for (let each = 0; each < 5; each++) void bucket.take().then(() => went++)
  await clock.advance(0)
  expect(went).toBe(2)
})

test('who is called off while waiting does not wait on', async () => {
  const bucket = createBucket({ perSecond: 0.001, burst: 1 })
  await bucket.take()
  const calling = new AbortController()
  const waiting = bucket.take(calling.signal)
  calling.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
})
