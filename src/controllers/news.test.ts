import { expect, test } from 'vitest'
import { condition } from '../../test/applies.ts'
import { news } from './news.ts'

const failed = { type: 'VPCReady', status: 'False', reason: 'VPCCreationFailed', message: 'quota' } as const
const done = { type: 'VPCReady', status: 'True', reason: 'VPCCreated', message: '' } as const
const always = () => true

test('what is said for the first time is told, and how bad it is', () => {
  expect(news([failed, done], undefined, always)).toEqual([
    { do: 'tell', type: 'Warning', reason: 'VPCCreationFailed', note: 'quota' },
    { do: 'tell', type: 'Normal', reason: 'VPCCreated', note: 'what was asked for is there' },
  ])
})

test('what was said is not told again, but for other words', () => {
  const before = [condition('VPCReady', 'False', 'VPCCreationFailed', { message: 'quota' })]
  expect(news([failed], before, always)).toEqual([])
  expect(news([{ ...failed, message: 'no credentials' }], before, always)).toHaveLength(1)
})

test('what nobody wants to hear is not told', () => {
  expect(news([failed], undefined, () => false)).toEqual([])
})
