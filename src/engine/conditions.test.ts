import { expect, test } from 'vitest'
import type { WorkspaceCondition } from '../api/workspace.ts'
import { say, tellWorkspaceConditions } from './conditions.ts'

const [earlier, now] = ['2026-11-15T23:21:59Z', '2026-11-15T23:22:31Z']
const available: WorkspaceCondition = {
  lastTransitionTime: earlier,
  reason: 'Available',
  status: 'True',
  type: 'Ready',
}
const synced: WorkspaceCondition = {
  lastTransitionTime: earlier,
  observedGeneration: 1,
  reason: 'ReconcileSuccess',
  status: 'True',
  type: 'Synced',
}

test('a new Workspace that is available says so as the provider does: no generation on Ready, no empty message', () => {
  const said = [say('Synced', 'ReconcileSuccess'), say('Ready', 'Available')]
  expect(tellWorkspaceConditions([], said, { generation: 1, now: earlier })).toEqual([available, synced])
})

test('a failure leaves Ready as it is, and time passes only for what turned', () => {
  const said = [say('Synced', 'ReconcileError', 'observe failed: why'), say('UpToDate', 'UpdateFailed')]
  expect(tellWorkspaceConditions([available, synced], said, { generation: 2, now })).toEqual([
    available,
    {
      type: 'Synced',
      status: 'False',
      reason: 'ReconcileError',
      message: 'observe failed: why',
      observedGeneration: 2,
      lastTransitionTime: now,
    },
    { type: 'UpToDate', status: 'False', reason: 'UpdateFailed', observedGeneration: 2, lastTransitionTime: now },
  ])
})

test('while it is created, Ready carries the generation', () => {
  const [ready] = tellWorkspaceConditions([available], [say('Ready', 'Creating')], { generation: 3, now })
  expect(ready).toMatchObject({ status: 'False', reason: 'Creating', observedGeneration: 3, lastTransitionTime: now })
})

test('the same said again is the same to the letter', () => {
  const said = [say('Ready', 'Available'), say('Synced', 'ReconcileSuccess')]
  expect(tellWorkspaceConditions([available, synced], said, { generation: 1, now })).toEqual([available, synced])
})

test('a condition of somebody else stays, behind ours', () => {
  const theirs = { ...synced, type: 'Audited' }
  const told = tellWorkspaceConditions([theirs], [say('Ready', 'Available')], { generation: 1, now })
  expect(told.map(({ type }) => type)).toEqual(['Ready', 'Audited'])
})
