import { expect, test } from 'vitest'
import type { Lease } from '../api/neighbours.ts'
import { type Claim, newLease, readClaim, toHold, toRelease } from './lease.ts'

const key = { namespace: 'capt', name: 'capt-infrastructure' }
const by = { identity: 'us', durationMs: 15_000, now: new Date('2026-11-16T12:00:00.120Z') }
const time = '2026-11-16T12:00:00.120000Z'
const metadata = { uid: 'u1', resourceVersion: '7' }
const claim = (holder: string): Claim => ({ ...metadata, holder, durationMs: 15_000, transitions: 4 })
const lease = (spec: Lease['spec'] | undefined): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { ...key, ...metadata },
  ...(spec && { spec }),
})

test.each<[string, Lease['spec'] | undefined, Partial<Claim>]>([
  ['held', { holderIdentity: 'them', leaseDurationSeconds: 15, leaseTransitions: 4 }, claim('them')],
  [
    'let go by client-go of old',
    { holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 4 },
    { holder: '', durationMs: 1000 },
  ],
  ['let go by client-go of today', { leaseDurationSeconds: 1, leaseTransitions: 4 }, { holder: '', transitions: 4 }],
  ['made by hand', {}, { holder: '', durationMs: undefined, transitions: 0 }],
  ['empty', undefined, { holder: '', durationMs: undefined, transitions: 0 }],
])('a Lease that is %s', (_, spec, reads) => {
  expect(readClaim(lease(spec))).toEqual(expect.objectContaining({ ...metadata, ...reads }))
})

test('a Lease that cannot be changed safely is not read', () => {
  const { resourceVersion: _, ...unversioned } = lease({}).metadata
  expect(() => readClaim({ ...lease({}), metadata: unversioned })).toThrow(
    'cannot read Lease capt/capt-infrastructure: it has no uid or no resourceVersion',
  )
})

test('the first Lease', () => {
  expect(newLease(key, by)).toEqual({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: key,
    spec: {
      holderIdentity: 'us',
      leaseDurationSeconds: 15,
      acquireTime: time,
      renewTime: time,
      leaseTransitions: 0,
    },
  })
})

const held = { holderIdentity: 'us', leaseDurationSeconds: 15, renewTime: time }

test.each([
  ['taking it from another', claim('them'), { ...held, acquireTime: time, leaseTransitions: 5 }],
  ['taking it from nobody', claim(''), { ...held, acquireTime: time, leaseTransitions: 5 }],
  ['renewing it', claim('us'), held],
])('%s names the version it was decided on', (_, before, spec) => {
  expect(toHold(before, by)).toEqual({ metadata, spec })
})

test('letting it go leaves the transitions alone', () => {
  const spec = { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: time, renewTime: time }
  expect(toRelease(claim('us'), by.now)).toEqual({ metadata, spec })
})

test('part of a second counts as a whole one, so that nobody comes too early', () => {
  expect(newLease(key, { ...by, durationMs: 1001 }).spec?.leaseDurationSeconds).toBe(2)
})
