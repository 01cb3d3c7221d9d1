import { expect, test } from 'vitest'
import { virtualClock } from './clock.ts'
import { until } from './until.ts'

test('it looks again until there is something to see', async () => {
  const clock = virtualClock()
  let looks = 0
  const seen = until('the third look', async () => (++looks === 3 ? 'here' : undefined), { clock, everyMs: 1000 })
  await clock.advance(2000)
  expect(await seen).toBe('here')
  expect(clock.now()).toBe(2000)
})

test('it gives up in time and tells the last trouble', async () => {
  const clock = virtualClock()
  const look = async () => {
    throw new Error('connection refused')
  }
  const [outcome] = await Promise.allSettled([
    until('the server answers', look, { clock, withinSeconds: 600, everyMs: 10_000 }),
    clock.advance(600_000),
  ])
  expect(String(outcome.status === 'rejected' && outcome.reason)).toBe(
    'Error: the server answers: not within 600 s\nlast trouble: connection refused',
  )
})

test('it does not wait for what cannot come', async () => {
  const hopeless = until('the server answers', async () => undefined, { giveUp: () => 'it has ended with 1' })
  await expect(hopeless).rejects.toThrow('the server answers: it has ended with 1')
})
