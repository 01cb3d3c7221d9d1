import { describe, expect, expectTypeOf, test } from 'vitest'
import { CAPTCluster } from './captcluster.ts'
import { tellConditions, vocabulary, wasSaid } from './condition.ts'
import { kinds } from './kinds.ts'

const say = vocabulary(CAPTCluster.words)

test('a reason carries its status', () => {
  expect(say('VPCReady', 'VPCCreated')).toEqual({ type: 'VPCReady', status: 'True', reason: 'VPCCreated', message: '' })
  expect(say('VPCReady', 'VPCCreationFailed', 'quota')).toMatchObject({ status: 'False', message: 'quota' })
})

test('a word that the kind does not know does not compile', () => {
  expectTypeOf(say<'VPCReady'>)
    .parameter(1)
    .toEqualTypeOf<
      | 'VPCCreated'
      | 'ExistingVPCUsed'
      | 'VPCCreating'
      | 'VPCCreationFailed'
      | 'ApplyMissing'
      | 'InvalidVPCConfig'
      | 'ProviderConfigChanged'
      | 'WaitingForCluster'
    >()
})

test('every reason is one that Cluster API can copy into a Cluster', () => {
  const reasons = kinds.flatMap(({ words }) => Object.values(words).flatMap((each) => Object.keys(each)))
  expect(reasons.filter((reason) => !/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason))).toEqual([])
  expect(reasons.length).toBeGreaterThan(50)
})

describe('the conditions an object is to have', () => {
  const words = { Ready: { Valid: 'True', Invalid: 'False' }, Applied: { Converged: 'True' } } as const
  const tell = vocabulary(words)
  const telling = { words, generation: 2, now: '2026-11-16T12:00:00Z' }
  const before = tellConditions([], {
    ...telling,
    generation: 1,
    now: '2026-11-16T11:00:00Z',
    said: [tell('Ready', 'Valid')],
  })

  test('one that is not said is Unknown, so that nothing stale survives', () => {
    expect(before.map(({ type, status, reason }) => `${type}=${status}(${reason})`)).toEqual([
      'Ready=True(Valid)',
      'Applied=Unknown(NotYetKnown)',
    ])
  })

  test('a status that stays keeps its time, one that changes gets a new one', () => {
    const same = tellConditions(before, { ...telling, said: [tell('Ready', 'Valid', 'still')] })
    expect(same[0]).toMatchObject({
      lastTransitionTime: '2026-11-16T11:00:00Z',
      observedGeneration: 2,
      message: 'still',
    })
    const other = tellConditions(before, { ...telling, said: [tell('Ready', 'Invalid')] })
    expect(other[0]).toMatchObject({ lastTransitionTime: telling.now, status: 'False' })
  })

  test('of two about one type the later counts', () => {
    const told = tellConditions(before, { ...telling, said: [tell('Ready', 'Valid'), tell('Ready', 'Invalid', '503')] })
    expect(told[0]).toMatchObject({ status: 'False', reason: 'Invalid', message: '503' })
  })

  test('a message is never longer than anybody reads, and said again it is no news', () => {
    const said = tell('Ready', 'Invalid', 'x'.repeat(40_000))
    const told = tellConditions(before, { ...telling, said: [said] })
    expect(told[0]?.message).toHaveLength(4094)
    expect(wasSaid(said, told)).toBe(true)
    expect(wasSaid(tell('Ready', 'Invalid', 'y'), told)).toBe(false)
    expect(wasSaid(said, undefined)).toBe(false)
  })

  test('those that are to stay stay to the letter, their generation too', () => {
    const told = tellConditions(before, { ...telling, others: 'stay', said: [tell('Applied', 'Converged')] })
    expect(told[0]).toBe(before[0])
    expect(told[1]).toMatchObject({ status: 'True', observedGeneration: 2 })
  })
})
