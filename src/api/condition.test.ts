import { expect, expectTypeOf, test } from 'vitest'
import { CAPTCluster } from './captcluster.ts'
import { vocabulary } from './condition.ts'
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
      'VPCCreated' | 'ExistingVPCUsed' | 'VPCCreating' | 'VPCCreationFailed' | 'InvalidVPCConfig' | 'WaitingForCluster'
    >()
})

test('every reason is one that Cluster API can copy into a Cluster', () => {
  const reasons = kinds.flatMap(({ words }) => Object.values(words).flatMap((each) => Object.keys(each)))
  expect(reasons.filter((reason) => !/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason))).toEqual([])
  expect(reasons.length).toBeGreaterThan(50)
})
