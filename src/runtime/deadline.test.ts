import { expect, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { within } from './deadline.ts'

test('an answer in time is the answer, and so is an error', async () => {
  const clock = virtualClock()
  expect(await within(clock, 5000, 'ask', Promise.resolve('yes'))).toBe('yes')
  await expect(within(clock, 5000, 'ask', Promise.reject(new Error('no')))).rejects.toThrow('no')
})

test('silence is an error, and what comes after it disturbs nobody', async () => {
  const clock = virtualClock()
  const question = Promise.withResolvers<string>()
  const answer = within(clock, 5000, 'read Lease capt/a', question.promise)
  const [error] = await Promise.all([answer.catch(String), clock.advance(5000)])
  expect(error).toBe('Error: cannot read Lease capt/a: no answer within 5 s')
  question.reject(new Error('late')) // unhandled, it would fail the run
  await clock.advance(0)
})
