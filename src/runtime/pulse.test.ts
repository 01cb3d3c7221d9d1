import { expect, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { createPulse } from './pulse.ts'

function aPulse(isReady: () => boolean) {
  const clock = virtualClock()
  let asked = 0
  const ready = async () => {
    asked++
    return isReady()
  }
  return { clock, pulse: createPulse(clock, () => ({ ready })), asked: () => asked }
}

test('while answers come nobody is asked', async () => {
  const { clock, pulse, asked } = aPulse(() => false)
  pulse.heard({ method: 'GET', code: 404 })
  expect(pulse.isAnswering()).toBe(true)
  await clock.advance(4000)
  expect(pulse.isAnswering()).toBe(true)
  expect(asked()).toBe(0)
})

test.each<[string, number | undefined, boolean]>([
  ['no answer', undefined, false],
  ['an answer that the server is not well', 503, false],
  ['a refusal', 403, true],
])('%s', (_, code, is) => {
  const { pulse } = aPulse(() => true)
  pulse.heard({ method: 'GET', code })
  expect(pulse.isAnswering()).toBe(is)
})

test('since when answers come is known: not from before the last trouble', async () => {
  const { clock, pulse } = aPulse(() => true)
  pulse.heard({ method: 'GET', code: 200 })
  await clock.advance(100)
  pulse.heard({ method: 'GET', code: 200 })
  expect(pulse.answeringSince()).toBe(0)
  pulse.heard({ method: 'GET', code: undefined })
  await clock.advance(100)
  pulse.heard({ method: 'GET', code: 200 })
  expect(pulse.answeringSince()).toBe(200)
})

test('after a silence the first who wants to know makes it ask, once', async () => {
  const { clock, pulse, asked } = aPulse(() => true)
  expect(pulse.isAnswering()).toBe(false)
  expect(pulse.isAnswering()).toBe(false)
  await clock.advance(0)
  expect(asked()).toBe(1)
  expect(pulse.isAnswering()).toBe(true)
  await clock.advance(6000)
  pulse.isAnswering()
  expect(asked()).toBe(2)
})
