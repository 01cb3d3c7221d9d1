import { expect, test } from 'vitest'
import type { Lock } from '../terraform/statesecret.ts'
import { judgeLock, type LockQuestion, type LockVerdict, readLockError, refusedBy } from './locks.ts'
import type { Run } from './memory.ts'

const me = { host: 'engine-0', bootId: 'boot' }
const lock: Lock = {
  id: '0183a0c7-89dc-65ec-00e5-393aca4658bd',
  who: 'capt@engine-0',
  operation: 'OperationTypeApply',
  created: '2026-11-16T12:00:05.785428521Z',
}
const run: Run = {
  operation: 'apply',
  revision: 'r1',
  startedAt: '2026-11-16T12:00:00.000Z',
  ...me,
  creates: [],
}
const killed: LockQuestion = {
  lock,
  run,
  me,
  bornAt: '2026-11-16T12:30:00.000Z',
  ended: [],
  hasEnded: true,
  unlock: undefined,
  command: (id) => `say ${id}`,
}
const inThisLife = { bornAt: '2026-11-16T11:00:00.000Z' }
const span = { from: '2026-11-16T12:00:01.000Z', to: '2026-11-16T12:01:00.000Z' }

test.each<[string, Partial<LockQuestion>, LockVerdict['is']]>([
  ['our run was killed', {}, 'releasable'],
  ['nobody knows whether our run goes on', { hasEnded: false }, 'somebodys'],
  ['no run of ours is known', { run: undefined }, 'somebodys'],
  ['our run was on another machine', { run: { ...run, host: 'engine-1' } }, 'somebodys'],
  ['our run was before the machine was started again', { run: { ...run, bootId: 'before' } }, 'somebodys'],
  ['no machine tells when it was started', { me: { ...me, bootId: '' }, run: { ...run, bootId: '' } }, 'somebodys'],
  ['it was taken on another machine', { lock: { ...lock, who: 'alice@laptop' } }, 'somebodys'],
  ['it was taken on a machine that is only called alike', { lock: { ...lock, who: 'capt@xengine-0' } }, 'somebodys'],
  ['it was taken before our run began', { lock: { ...lock, created: '2026-11-16T11:59:59.999999999Z' } }, 'somebodys'],
  ['it was taken in this life, when no run of ours had it', inThisLife, 'somebodys'],
  [
    'it was taken in this life, when a run of ours had it',
    { ...inThisLife, ended: [span], run: undefined },
    'releasable',
  ],
  [
    'it was taken in this life, after a run of ours had it',
    { ...inThisLife, ended: [{ ...span, to: '2026-11-16T12:00:05.000Z' }] },
    'somebodys',
  ],
  [
    'it was taken before our run began, by one that was killed before',
    { run: { ...run, startedAt: '2026-11-16T12:10:00.000Z', since: run.startedAt } },
    'releasable',
  ],
  ['it does not say when it was taken', { lock: { ...lock, created: '' } }, 'somebodys'],
  ['the container has no user name', { lock: { ...lock, who: '@engine-0' } }, 'releasable'],
  [
    'it was taken to begin a state, in an earlier life',
    { run: undefined, hasEnded: false, lock: { ...lock, operation: 'init' } },
    'releasable',
  ],
  [
    'it was taken to begin a state, on another machine',
    { run: undefined, lock: { ...lock, operation: 'init', who: 'alice@laptop' } },
    'somebodys',
  ],
  [
    'it was taken to begin a state, in this life',
    { run: undefined, lock: { ...lock, operation: 'init' }, ...inThisLife },
    'somebodys',
  ],
  ['a user released it', { run: undefined, unlock: lock.id }, 'releasable'],
  ['a user released another one', { run: undefined, unlock: 'ffff' }, 'somebodys'],
])('when %s', (_, facts, is) => {
  expect(judgeLock({ ...killed, ...facts }).is).toBe(is)
})

test('why it may be released is told apart', () => {
  expect(judgeLock(killed)).toMatchObject({ why: 'leftBehind' })
  expect(judgeLock({ ...killed, run: undefined, unlock: lock.id })).toMatchObject({ why: 'asked' })
})

test('of a lock that is not ours people read who holds it, since when, and the word that releases it', () => {
  expect(judgeLock({ ...killed, run: undefined, lock: { ...lock, who: 'alice@laptop' } })).toMatchObject({
    message:
      'the state is already locked by alice@laptop since 2026-11-16T12:00:05.785428521Z (OperationTypeApply, lock ' +
      '0183a0c7-89dc-65ec-00e5-393aca4658bd): wait for it to end, or, if it never will, release it with: say ' +
      '0183a0c7-89dc-65ec-00e5-393aca4658bd',
  })
  const bare = { id: 'x', who: '', operation: '', created: '' }
  const verdict = judgeLock({ ...killed, lock: bare })
  expect('message' in verdict && verdict.message).toContain(
    'by somebody since an unknown time (unknown operation, lock x)',
  )
})

const refused = `
Error: Error acquiring the state lock

Error message: the state is already locked by another tofu client
Lock Info:
  ID:        0183a0c7-89dc-65ec-00e5-393aca4658bd
  Path:      
  Operation: OperationTypeApply
  Who:       capt@engine-0
  Version:   1.12.6
  Created:   2026-11-16 12:00:05.785428521 +0000 UTC
  Info:      

`

test('a command that is refused says whose lock it is, in a frame or without', () => {
  expect(readLockError(refused)).toEqual(lock)
  expect(readLockError(refused.replaceAll('\n', '\n│ '))).toEqual(lock)
})

test.each([
  '',
  'Error: Invalid reference\n\n  ID: x\n',
  'Error: Error acquiring the state lock\n\nError message: leases.coordination.k8s.io is forbidden\n',
])('no other error is taken for a lock: %j', (text) => {
  expect(readLockError(text)).toBeUndefined()
})

test('a command that has begun to change something is kept by no lock, whatever it quotes', () => {
  const ran = { code: 1, out: '', err: refused, ended: 'byItself' } as const
  expect(refusedBy(ran)).toEqual(lock)
  expect(refusedBy({ ...ran, code: 0 })).toBeUndefined()
  expect(refusedBy({ ...ran, out: 'a.b: Creating...\n' })).toBeUndefined()
})
