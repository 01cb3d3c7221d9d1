import { describe, expect, test } from 'vitest'
import type { Workspace, WorkspaceCondition } from '../api/workspace.ts'
import { progressOf } from './progress.ts'

interface Facts extends Partial<Workspace['metadata']> {
  readonly policies?: Workspace['spec']['managementPolicies']
  readonly conditions?: readonly WorkspaceCondition[]
}

function aWorkspace({ policies, conditions, ...metadata }: Facts): Workspace {
  return {
    apiVersion: 'tf.upbound.io/v1beta1',
    kind: 'Workspace',
    metadata: { name: 'demo', generation: 2, ...metadata },
    spec: { forProvider: { source: 'Inline', module: '' }, ...(policies && { managementPolicies: policies }) },
    ...(conditions && { status: { conditions, atProvider: { outputs: { vpc_id: 'vpc-1' } } } }),
  }
}

function aCondition(type: string, status: 'True' | 'False', reason: string, generation?: number): WorkspaceCondition {
  const lastTransitionTime = '2026-11-15T23:22:59Z'
  return {
    type,
    status,
    reason,
    lastTransitionTime,
    ...(generation !== undefined && { observedGeneration: generation }),
  }
}

const ready = aCondition('Ready', 'True', 'Available') // without a generation, as engines write it
const creating = aCondition('Ready', 'False', 'Creating', 2)
const synced = (generation?: number) => aCondition('Synced', 'True', 'ReconcileSuccess', generation)
const failed = (generation?: number) => ({
  ...aCondition('Synced', 'False', 'ReconcileError', generation),
  message: 'observe failed: cannot get it',
})
const waits = (generation = 2) => ({
  ...aCondition('Synced', 'False', 'ReconcileError', generation),
  message: 'update failed: held for approval: this plan deletes 1',
})
const stopped = aCondition('Synced', 'False', 'ReconcilePaused', 2)

const pending = { 'crossplane.io/external-create-pending': '2026-11-15T23:22:53Z' }
const succeeded = { 'crossplane.io/external-create-succeeded': '2026-11-15T23:22:59Z' }
const failedOnce = { 'crossplane.io/external-create-failed': '2026-11-15T23:22:40Z' }
const paused = { 'crossplane.io/paused': 'true' }
const plan = (held?: string) => ({
  'capt.appthrust.io/plan': JSON.stringify({
    id: 'p1',
    create: 0,
    update: 0,
    replace: 0,
    delete: 1,
    gone: ['aws_vpc.this'],
    held,
  }),
})
const converged = [ready, synced(2)]
const ours = { 'crossplane.io/external-name': 'team-a.demo' }

describe('a Workspace is', () => {
  test.each<[string, string, Facts]>([
    ['waiting', 'that no engine has seen', { annotations: ours, finalizers: ['capt.appthrust.io/hold'] }],
    ['waiting', 'that no engine has seen and that may only plan', { policies: ['Observe'] }],
    ['planning', 'that an engine has taken', { finalizers: ['finalizer.managedresource.crossplane.io'] }],
    ['creating', 'whose first apply runs', { annotations: pending }],
    ['creating', 'whose first apply is done, and not yet seen to be', { conditions: [creating, synced(2)] }],
    ['planning', 'with changes pending', { conditions: [synced(2)] }],
    ['planning', 'that failed before it was changed', { conditions: [failed(1)] }],
    ['converged', 'with everything said of the present generation', { conditions: converged }],
    ['converged', 'that was held before', { conditions: converged, annotations: plan() }],
    ['converged', 'that may do all but delete', { conditions: converged, policies: ['Observe', 'Create', 'Update'] }],
    ['applying', 'that speaks of an earlier generation', { conditions: [ready, synced(1)] }],
    ['applying', 'that does not say of which generation it speaks', { conditions: [ready, synced()] }],
    ['applying', 'that is ready and was never synced', { conditions: [ready] }],
    ['applying', 'that was changed since it failed', { conditions: [ready, failed(1)] }],
    ['applying', 'that was paused until now', { conditions: [ready, stopped] }],
    ['failed', 'that failed', { conditions: [ready, failed(2)] }],
    ['failed', 'that failed and does not say of which generation', { conditions: [failed()] }],
    ['failed', 'that cannot even plan', { conditions: [failed(2)], policies: ['Observe'] }],
    ['planOnly', 'that may not update', { conditions: converged, policies: ['Observe', 'Create'] }],
    ['planOnly', 'that may not create', { conditions: [synced(2)], policies: ['Observe', 'Update', 'Delete'] }],
    ['paused', 'that is told to pause', { conditions: converged, annotations: paused }],
    ['paused', 'that has stopped', { conditions: [ready, stopped], annotations: paused }],
    ['paused', 'that may do nothing', { conditions: converged, policies: [] }],
    ['held', 'that waits for a word', { conditions: [ready, waits()], annotations: plan('Destructive') }],
    [
      'held',
      'whose approval is of another plan',
      { conditions: [ready, waits()], annotations: { ...plan('Destructive'), 'capt.appthrust.io/approve': 'p0' } },
    ],
    [
      'applying',
      'that has just been approved',
      { conditions: [ready, waits()], annotations: { ...plan('Destructive'), 'capt.appthrust.io/approve': 'p1' } },
    ],
    ['applying', 'that was held and has begun', { conditions: [ready, waits()], annotations: plan() }],
    [
      'applying',
      'that was changed since it was held',
      { conditions: [ready, waits(1)], annotations: plan('Destructive') },
    ],
    ['converged', 'that is no longer held', { conditions: converged, annotations: plan('Destructive') }],
    ['failed', 'that was held and now fails', { conditions: [ready, failed(2)], annotations: plan('Destructive') }],
    ['failed', 'that is held without a note', { conditions: [ready, waits()] }],
    ['leaving', 'that is deleted', { conditions: converged, deletionTimestamp: '2026-11-16T00:00:00Z' }],
    ['leaving', 'that is deleted and fails', { conditions: [failed(2)], deletionTimestamp: '2026-11-16T00:00:00Z' }],
  ])('%s %s', (is, _, facts) => {
    expect(progressOf(aWorkspace(facts)).is).toBe(is)
  })
})

test('it tells since when it is being created', () => {
  const since = (annotations: Record<string, string>) => progressOf(aWorkspace({ annotations }))
  const began = '2026-11-15T23:22:53Z'
  expect(since(pending)).toMatchObject({ is: 'creating', since: began })
  expect(since({ ...pending, ...failedOnce })).toMatchObject({ is: 'creating', since: began })
  expect(since({ ...pending, ...succeeded })).toMatchObject({ is: 'creating', since: undefined })
})

describe('a change of what is there is', () => {
  const engine = { 'capt.appthrust.io/cli': 'tofu 1.12.6', 'capt.appthrust.io/revision': 'r2' }
  const begun = (revision: string, at: string) => ({
    'capt.appthrust.io/plan': JSON.stringify({
      id: 'p1',
      create: 0,
      update: 1,
      replace: 0,
      delete: 0,
      gone: [],
      begun: { revision, at },
    }),
  })
  const [before, later] = ['2026-11-15T23:00:00Z', '2026-11-16T08:00:00Z']
  test.each<[string, object, Record<string, string>]>([
    ['planned before it is applied', { is: 'planning' }, engine],
    ['applied since its plan was noted', { is: 'applying', since: later }, { ...engine, ...begun('r2', later) }],
    ['planned while the note is of another revision', { is: 'planning' }, { ...engine, ...begun('r1', later) }],
    ['planned while the note is of a run that has ended', { is: 'planning' }, { ...engine, ...begun('r2', before) }],
    ['one or the other, where the engine does not tell', { is: 'applying', since: undefined }, {}],
  ])('%s', (_, stage, annotations) => {
    expect(progressOf(aWorkspace({ annotations, conditions: [ready, synced(1)] }))).toMatchObject(stage)
  })
})

test('it tells why it failed', () => {
  expect(progressOf(aWorkspace({ conditions: [failed(2)] }))).toMatchObject({
    is: 'failed',
    failure: { step: 'observe', summary: 'cannot get it' },
  })
})

test('a state that is gone is no failure like others, and all that is said of it is kept', () => {
  const told = `the state in Secret capt-terraform-state/tfstate-team.demo-capt is gone (serial 7, lineage 0183a0c7-89dc-65ec-00e5-393aca4658bd): restore it from a copy (capt state restore demo --namespace ${'team'.repeat(9)} --at latest), or, if nothing it held exists any more, make everything anew with: kubectl annotate workspacetemplateapply demo --namespace ${'team'.repeat(9)} --overwrite capt.appthrust.io/approve=0123456789ab`
  const lost = { ...failed(2), message: `observe failed: ${told}` }
  expect(progressOf(aWorkspace({ conditions: [ready, lost] }))).toMatchObject({
    is: 'stateMissing',
    failure: { text: told },
  })
})

test('what is known to be secret is not told with it', () => {
  expect(progressOf(aWorkspace({ conditions: [failed(2)] }), ['cannot get'])).toMatchObject({
    failure: { summary: '*** it', text: '*** it' },
  })
})

test('it tells why it cannot leave', () => {
  const deletionTimestamp = '2026-11-16T00:00:00Z'
  expect(progressOf(aWorkspace({ conditions: [failed(2)], deletionTimestamp }))).toMatchObject({
    is: 'leaving',
    failure: { summary: 'cannot get it' },
  })
  expect(progressOf(aWorkspace({ conditions: converged, deletionTimestamp }))).toMatchObject({ failure: undefined })
})

test('it tells what would go', () => {
  const facts = { conditions: [ready, waits()], annotations: plan('Destructive') }
  const note = { id: 'p1', delete: 1, gone: ['aws_vpc.this'], held: 'Destructive' }
  expect(progressOf(aWorkspace(facts))).toMatchObject({ is: 'held', note })
  expect(progressOf(aWorkspace({ conditions: converged, annotations: plan() })).note?.id).toBe('p1')
})

test('it tells outputs as long as there are some', () => {
  expect(progressOf(aWorkspace({})).outputs).toEqual({})
  expect(progressOf(aWorkspace({ conditions: [ready, failed(2)] })).outputs).toEqual({ vpc_id: 'vpc-1' })
})

test.each<[string, WorkspaceCondition | undefined, boolean | undefined]>([
  ['it has drifted', aCondition('UpToDate', 'False', 'UpdateRestricted', 2), true],
  ['it is as it should be', aCondition('UpToDate', 'True', 'ObserveMatched'), false],
  ['nobody knows: its engine does not tell', undefined, undefined],
  ['nobody knows: it was changed since', aCondition('UpToDate', 'False', 'UpdateRequested', 1), undefined],
])('whether it has drifted: %s', (_, condition, isDrifted) => {
  const conditions = condition ? [...converged, condition] : converged
  expect(progressOf(aWorkspace({ conditions })).isDrifted).toBe(isDrifted)
})
