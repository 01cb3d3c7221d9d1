import { expect, test } from 'vitest'
import { promise, type Said, vocabulary } from './condition.ts'
import { saidDespite } from './setback.ts'

const words = {
  Available: { Available: 'True', NotCreated: 'False' },
  Ready: { Ready: 'True', NotReady: 'False' },
  EKSApplied: { Converged: 'True', Applying: 'False', TerraformFailed: 'False' },
} as const
const say = vocabulary(words)
const was = (said: Said) => ({ ...said, lastTransitionTime: '2026-11-16T11:00:00Z' })
const notReady = say('Ready', 'NotReady')
const notCreated = say('Available', 'NotCreated')
const asked = promise(say('EKSApplied', 'Applying', 'Terraform is asked for demo'))
const lost = 'Ready=Unknown(WriteFailed) no'

test.each<{ when: string; said: readonly Said[]; before?: readonly Said[]; why?: string; tells: readonly string[] }>([
  {
    when: 'it has promised that Terraform is asked',
    said: [notReady, notCreated, asked],
    why: 'no',
    tells: ['EKSApplied=Unknown(WriteFailed) no', lost, 'Available=Unknown(WriteFailed) no'],
  },
  {
    when: 'that passes by itself',
    said: [notReady, notCreated, asked],
    tells: ['Ready=False(NotReady)', 'Available=False(NotCreated)'],
  },
  {
    when: 'it is seen that Terraform failed',
    said: [notReady, notCreated, say('EKSApplied', 'TerraformFailed', 'quota')],
    why: 'no',
    tells: ['EKSApplied=False(TerraformFailed) quota', lost, 'Available=Unknown(WriteFailed) no'],
  },
  {
    when: 'it would be available for the first time',
    said: [say('Ready', 'Ready'), say('Available', 'Available')],
    before: [notCreated],
    why: 'no',
    tells: [lost, 'Available=Unknown(WriteFailed) no'],
  },
  {
    when: 'it is available',
    said: [say('Ready', 'Ready'), say('Available', 'Available')],
    before: [say('Ready', 'Ready'), say('Available', 'Available')],
    why: 'no',
    tells: [lost, 'Available=True(Available) no'],
  },
  {
    when: 'nothing is said of whether it is available',
    said: [notReady],
    why: 'no',
    tells: [lost],
  },
])('when $when', ({ said, before = [], why, tells }) => {
  const told = saidDespite({ words, said, before: before.map(was), why })
  const last = new Map(
    told.map(({ type, status, reason, message }) => [type, `${type}=${status}(${reason}) ${message}`]),
  )
  expect([...last.values()].map((each) => each.trim()).toSorted()).toEqual(tells.toSorted())
})

test('a kind that knows no Available is not told to have one', () => {
  const { Available: _, ...others } = words
  const told = saidDespite({ words: others, said: [notReady], before: [], why: 'no' })
  expect(told.map(({ type }) => type)).not.toContain('Available')
})
