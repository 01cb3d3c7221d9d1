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

test('of all that is done at once only the last is told, and what has more to say', () => {
  const secrets = { type: 'SecretsReady', status: 'True', reason: 'Ready', message: '' } as const
  const available = { ...secrets, type: 'Available', reason: 'Available' }
  const odd = { ...secrets, type: 'EndpointReady', reason: 'Known', message: 'by another name' }
  const told = [done, odd, failed, secrets, available]
  expect(news(told, undefined, always).map((each) => each.do === 'tell' && each.reason)).toEqual([
    'Known',
    'VPCCreationFailed',
    'Available',
  ])
  expect(news([done, secrets], [condition('SecretsReady', 'True', 'Ready')], always)).toMatchObject([
    { reason: 'VPCCreated' },
  ])
})

test('what nobody wants to hear is not told', () => {
  expect(news([failed], undefined, () => false)).toEqual([])
})
