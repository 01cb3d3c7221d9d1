import { describe, expect, test } from 'vitest'
import {
  altered,
  apply,
  asked,
  at,
  but,
  changed,
  condition,
  deeds,
  done,
  failed,
  going,
  having,
  held,
  made,
  messageOf,
  noted,
  now,
  nowhereYet,
  password,
  record,
  renderedOf,
  said,
  secretly,
  template,
  theirs,
  varsSecret,
  waits,
  workspaceDeed,
} from '../../../test/applies.ts'
import { blockMoveAnnotation } from '../../api/contract.ts'
import { annotations, holdFinalizer, labels } from '../../api/keys.ts'
import { ConfigMap, Secret } from '../../api/neighbours.ts'
import { keyOf } from '../../api/resource.ts'
import { crossplane, type Workspace, workspaceAPIs } from '../../api/workspace.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Plan } from '../../runtime/plan.ts'
import { tellFailure } from '../../terraform/failureform.ts'
import { externalNameOf } from '../../terraform/identity.ts'
import { revisionOf } from '../../terraform/template.ts'
import { decide } from './decide.ts'
import { finalizer } from './finalizer.ts'
import type { Seen } from './seen.ts'

const stateGone =
  'observe failed: the state in Secret states/tfstate-demo-capt is gone (serial 7, lineage l): restore it'

const lockError = `
Error: Error acquiring the state lock

Lock Info:
  ID:        9db590f1
  Operation: OperationTypeApply
  Who:       root@engine-0
`

// What was said of it is in its status.
function saidToBeDeleted(seen: Seen): Seen {
  const conditions = decide(seen).conditions.map((each) => ({ ...each, lastTransitionTime: '' }))
  return { ...seen, apply: changed(seen.apply, {}, {}, { conditions }) }
}
function deletedByHand(metadata: object = {}, spec: object = {}): Seen {
  return saidToBeDeleted(having(altered(made(), { ...going, ...metadata }, spec)))
}

const stilled = (seen: Seen): Seen => ({ ...seen, pause: { ...asked.pause, by: ['Cluster team/demo is paused'] } })

describe('while it is to stay', () => {
  test.each<{ when: string; seen: Seen; ready: string; does: string }>([
    {
      when: 'it is looked at first',
      seen: but({ finalizers: [] }),
      ready: 'Creating=False',
      does: `addFinalizer workspacetemplateapply, ${record}, ${workspaceDeed}`,
    },
    {
      when: 'it came back before its Cluster, with a Workspace that is paused',
      seen: {
        ...having(made(asked, done, { [crossplane.paused]: 'true', [annotations.paused]: 'true' })),
        pause: { ...asked.pause, awaits: 'Cluster team/demo is not here yet' },
      },
      ready: 'WaitingForCluster=False',
      does: '',
    },
    {
      when: 'it came back before its Cluster, and without a finalizer',
      seen: { ...but({ finalizers: [] }), pause: { ...asked.pause, awaits: 'Cluster team/demo is not here yet' } },
      ready: 'WaitingForCluster=False',
      does: 'addFinalizer workspacetemplateapply',
    },
    { when: 'nothing was made yet', seen: asked, ready: 'Creating=False', does: `${record}, ${workspaceDeed}` },
    { when: 'all is done', seen: having(made()), ready: 'Ready=True', does: `${workspaceDeed}, tell Converged` },
    {
      when: 'no engine has begun',
      seen: having(made(asked, []), { silentAt: now.getTime() + 1000 }),
      ready: 'Creating=False',
      does: workspaceDeed,
    },
    {
      when: 'no engine begins',
      seen: having(made(asked, []), { silentAt: now.getTime() }),
      ready: 'EngineSilent=False',
      does: `${workspaceDeed}, tell EngineSilent`,
    },
    {
      when: 'Terraform failed',
      seen: having(made(asked, failed)),
      ready: 'TerraformFailed=False',
      does: `${workspaceDeed}, tell TerraformFailed`,
    },
    {
      when: 'its state is gone',
      seen: having(
        made(
          asked,
          failed.map((each) => ({ ...each, message: stateGone })),
        ),
      ),
      ready: 'StateMissing=False',
      does: `${workspaceDeed}, tell StateMissing`,
    },
    {
      when: 'a plan is held',
      seen: having(made(asked, waits, { [annotations.plan]: held })),
      ready: 'ApprovalRequired=False',
      does: `${workspaceDeed}, tell ApprovalRequired`,
    },
    {
      when: 'a variable has changed',
      seen: but({}, { variables: { cidr: '10.1.0.0/16' } }, having(made())),
      ready: 'Applying=False',
      does: workspaceDeed,
    },
    {
      when: 'a user has paused the Workspace',
      seen: having(made(asked, done, { [crossplane.paused]: 'true' })),
      ready: 'Paused=False',
      does: workspaceDeed,
    },
    {
      when: 'we had paused the Workspace',
      seen: having(made(asked, done, { [crossplane.paused]: 'true', [annotations.paused]: 'true' })),
      ready: 'Paused=False',
      does: `${workspaceDeed}, patch Workspace team/vpc`,
    },
    {
      when: 'our pause is to be kept',
      seen: {
        ...having(made(asked, done, { [crossplane.paused]: 'true', [annotations.paused]: 'true' })),
        pause: { ...asked.pause, isKept: true },
      },
      ready: 'Paused=False',
      does: workspaceDeed,
    },
    {
      when: 'the policies forbid it',
      seen: having(altered(made(), {}, { managementPolicies: ['Observe'] }), {}),
      ready: 'PlanOnly=False',
      does: `${workspaceDeed}, patch Workspace team/vpc`,
    },
    { when: 'the name is taken', seen: having(theirs), ready: 'NameTaken=False', does: 'tell NameTaken' },
    {
      when: 'the name is taken by another apply',
      seen: having(altered(made(), { annotations: { [annotations.apply]: 'team/other' } }), { isRecorded: true }),
      ready: 'NameTaken=False',
      does: 'tell NameTaken',
    },
    {
      when: 'its status records an old Workspace',
      seen: having(theirs, { isRecorded: true }),
      ready: 'AdoptionFrozen=False',
      does: 'tell AdoptionFrozen',
    },
    {
      when: 'a Workspace is labelled as its own',
      seen: having(altered(theirs, { labels: { [labels.apply]: 'team.vpc' } })),
      ready: 'AdoptionFrozen=False',
      does: 'tell AdoptionFrozen',
    },
    {
      when: 'the old Workspace may be taken over',
      seen: noted(having(theirs, { isRecorded: true }), { [annotations.adopt]: 'approved' }),
      ready: 'Applying=False',
      does: workspaceDeed,
    },
    {
      when: 'something was left in the one taken over',
      seen: having(
        altered(made(), {}, { forProvider: { ...made().spec.forProvider, vars: [{ key: 'a', value: 'b' }] } }),
      ),
      ready: 'Ready=True',
      does: `${workspaceDeed}, patch Workspace team/vpc, tell Converged`,
    },
    {
      when: 'the Workspace was deleted by hand',
      seen: having(altered(made(), going)),
      ready: 'WorkspaceDeleted=False',
      does: 'tell WorkspaceDeleted',
    },
    {
      when: 'the Workspace was deleted by hand, and that was said a moment ago',
      seen: deletedByHand({ deletionTimestamp: '2026-11-16T11:59:55Z' }),
      ready: 'WorkspaceDeleted=False',
      does: '',
    },
    {
      when: 'the Workspace was deleted by hand, and that was said',
      seen: deletedByHand(),
      ready: 'WorkspaceDeleted=False',
      does: 'patch Workspace team/vpc',
    },
    {
      when: 'the Workspace goes with its namespace',
      seen: { ...having(altered(made(), going)), isNamespaceLeaving: true },
      ready: 'Applying=False',
      does: '',
    },
    {
      when: 'the template is not there',
      seen: { ...asked, template: undefined },
      ready: 'TemplateNotFound=False',
      does: '',
    },
    {
      when: 'the template is elsewhere',
      seen: but({}, { templateRef: { name: 'network', namespace: 'other' } }),
      ready: 'CrossNamespaceReference=False',
      does: 'tell CrossNamespaceReference',
    },
    {
      when: 'the template is wrong',
      seen: {
        ...asked,
        template: {
          ...template,
          spec: { template: { spec: { forProvider: { source: 'Inline', module: 'locals {' } } } },
        },
      },
      ready: 'TemplateNotReady=False',
      does: '',
    },
    {
      when: 'the revision is the one that is pinned',
      seen: but({}, { templateRef: { name: 'network', revision: revisionOf(template) } }),
      ready: 'Creating=False',
      does: `${record}, ${workspaceDeed}`,
    },
    {
      when: 'another revision is pinned',
      seen: but({}, { templateRef: { name: 'network', revision: 'old' } }, having(made())),
      ready: 'Ready=True',
      does: '',
    },
    {
      when: 'another revision is pinned from the start',
      seen: but({}, { templateRef: { name: 'network', revision: 'old' } }),
      ready: 'RevisionGone=False',
      does: '',
    },
    {
      when: 'a variable is missing',
      seen: but({}, { variablesFrom: [password] }),
      ready: 'MissingVariables=False',
      does: 'tell MissingVariables',
    },
    {
      when: 'it waits for a Secret',
      seen: { ...asked, dependencies: [{ what: 'Secret', name: 'db', is: 'waiting', why: '' }] },
      ready: 'WaitingForSecrets=False',
      does: '',
    },
    {
      when: 'it waits for another',
      seen: { ...asked, dependencies: [{ what: 'Workspace', name: 'net', is: 'waiting', why: '' }] },
      ready: 'WaitingForWorkspaces=False',
      does: '',
    },
    {
      when: 'another has failed',
      seen: { ...asked, dependencies: [{ what: 'Workspace', name: 'net', is: 'failed', why: 'no' }] },
      ready: 'DependencyFailed=False',
      does: 'tell DependencyFailed',
    },
    {
      when: 'it waits in a circle',
      seen: { ...asked, ring: ['vpc', 'net', 'vpc'] },
      ready: 'DependencyCycle=False',
      does: 'tell DependencyCycle',
    },
    {
      when: 'nobody serves Workspaces',
      seen: { ...asked, where: { is: 'none', reason: 'NoEngine', message: 'no' } },
      ready: 'NoEngine=False',
      does: 'tell NoEngine',
    },
    {
      when: 'nobody serves its Workspace any more',
      seen: { ...asked, where: { ...nowhereYet, isServed: false } },
      ready: 'NoEngine=False',
      does: 'tell NoEngine',
    },
    {
      when: 'several serve Workspaces',
      seen: { ...asked, where: { is: 'none', reason: 'AmbiguousEngine', message: 'a and b' } },
      ready: 'AmbiguousEngine=False',
      does: 'tell AmbiguousEngine',
    },
    {
      when: 'a variable is secret',
      seen: secretly,
      ready: 'Creating=False',
      does: `${record}, apply Secret team/vpc-vars, ${workspaceDeed}`,
    },
    {
      when: 'somebody else has a Secret of that name',
      seen: { ...secretly, isSecretTaken: true },
      ready: 'NameTaken=False',
      does: 'tell NameTaken',
    },
    {
      when: 'the predecessor had it',
      seen: but({ finalizers: [finalizer.old] }),
      ready: 'Creating=False',
      does: `addFinalizer workspacetemplateapply, ${record}, ${workspaceDeed}`,
    },
    {
      when: 'it is managed elsewhere',
      seen: but({ annotations: { 'cluster.x-k8s.io/managed-by': 'x' } }),
      ready: '',
      does: '',
    },
    {
      when: 'it is paused',
      seen: noted(having(made()), { 'cluster.x-k8s.io/paused': '' }),
      ready: '',
      does: workspaceDeed,
    },
    {
      when: 'its Cluster is paused',
      seen: stilled(having(made())),
      ready: '',
      does: workspaceDeed,
    },
    {
      when: 'its Cluster is paused, and nothing was made yet',
      seen: stilled(asked),
      ready: '',
      does: record, // that it may be moved
    },
    {
      when: 'its Cluster is paused, and the Workspace is ours to adopt',
      seen: stilled(having(theirs, { isRecorded: true })),
      ready: '',
      does: '',
    },
    {
      when: 'it is paused and the user had paused the Workspace',
      seen: noted(having(made(asked, done, { [crossplane.paused]: 'true' })), { 'cluster.x-k8s.io/paused': '' }),
      ready: '',
      does: 'apply Workspace team/vpc', // that it may be moved
    },
    {
      when: 'it is paused and the Workspace is foreign',
      seen: noted(having(theirs), { 'cluster.x-k8s.io/paused': '' }),
      ready: '',
      does: '',
    },
  ])('when $when', ({ seen, ready, does }) => {
    const plan = decide(seen)
    expect(said(plan, 'Ready')).toBe(ready)
    expect(deeds(plan)).toBe(does)
    for (const { type, reason, status } of plan.conditions)
      expect(WorkspaceTemplateApply.words).toHaveProperty([type, reason], status)
  })

  test('what was said before is not news', () => {
    const seen = having(made(asked, failed))
    const { conditions } = decide(seen)
    const before = conditions.map((each) => ({ ...each, lastTransitionTime: '', observedGeneration: 1 }))
    expect(deeds(decide({ ...seen, apply: changed(seen.apply, {}, {}, { conditions: before }) }))).toBe(workspaceDeed)
    expect(messageOf(decide(seen), 'Applied')).toMatch(/^VpcLimitExceeded.* \(quota: /)
  })

  test('a held plan says what would go and the very command that approves it', () => {
    const plan = decide(having(made(asked, waits, { [annotations.plan]: held })))
    expect(messageOf(plan, 'Ready')).toBe(
      'the plan has 1 to replace, 1 to delete (a.b, c.d). To approve: kubectl annotate workspacetemplateapply vpc --namespace team --overwrite capt.appthrust.io/approve=p1',
    )
  })

  test('a plan that is held after a killed run says what may be there already, and what would go', () => {
    const both = held.replace('"Destructive"', '"Interrupted","again":["e.f"]')
    expect(messageOf(decide(having(made(asked, waits, { [annotations.plan]: both }))), 'Applied')).toBe(
      'a run was killed, and would build again what may be there already: e.f. Look whether it is. The plan has 1 to replace, 1 to delete (a.b, c.d). To approve: kubectl annotate workspacetemplateapply vpc --namespace team --overwrite capt.appthrust.io/approve=p1',
    )
  })

  test('a plan that is held because its state came from elsewhere says what may be there already', () => {
    const unproven = held.replace('"Destructive"', '"Unproven","again":["e.f"]')
    expect(messageOf(decide(having(made(asked, waits, { [annotations.plan]: unproven }))), 'Ready')).toBe(
      'its state came from elsewhere, or is in another backend than it was, and the plan would build again what may be there already: e.f. Look whether it is. To approve: kubectl annotate workspacetemplateapply vpc --namespace team --overwrite capt.appthrust.io/approve=p1',
    )
  })

  test('frozen, it names the fields that would change, and no value', () => {
    const message = messageOf(decide(having(theirs, { isRecorded: true })), 'Applied')
    expect(message).toContain('it would change spec.forProvider.module, spec.forProvider.varmap, spec.forProvider.vars')
    expect(message).not.toContain('10.0.0.0')
  })

  test('a Workspace that is deleted by hand is let go in one write: without the right to destroy, and without our hold', () => {
    const patchOf = (plan: Plan) => plan.effects.find((each) => each.do === 'patch')?.change
    expect(patchOf(decide(deletedByHand()))).toEqual({
      spec: { managementPolicies: ['Observe', 'Create', 'Update', 'LateInitialize'] },
      metadata: { finalizers: [crossplane.finalizer] },
    })
    const api = workspaceAPIs['tf.upbound.io']
    const wide = { ...nowhereYet, api, name: 'team.vpc' }
    const workspace = altered(made({ ...asked, where: wide }), going)
    expect(patchOf(decide(saidToBeDeleted({ ...asked, where: { ...wide, workspace } })))).toEqual({
      spec: { deletionPolicy: 'Orphan' },
      metadata: { finalizers: [crossplane.finalizer] },
    })
  })

  test('one that leaves everything anyway is let go all the same', () => {
    const seen = deletedByHand({}, { managementPolicies: ['Observe', 'Create', 'Update'] })
    expect(decide(seen).effects.find((each) => each.do === 'patch')?.change).toMatchObject({
      metadata: { finalizers: [crossplane.finalizer] },
    })
  })

  test('the status tells what has converged, and when; of outputs only what changed, and what is gone as null', () => {
    const seen = having(made())
    const revision = renderedOf(seen).revision
    expect(decide(seen).status).toEqual({
      workspaceName: 'vpc',
      workspaceAPI: 'tf.m.upbound.io',
      applied: true,
      revision,
      lastAppliedTime: '2026-11-16T12:00:00Z',
      outputs: { id: 'vpc-1' },
    })
    const before = { applied: true, revision, outputs: { id: 'vpc-1', old: { a: 1 } } }
    const again = decide({ ...seen, apply: changed(seen.apply, {}, {}, before) })
    expect(again.status).toEqual({
      workspaceName: 'vpc',
      workspaceAPI: 'tf.m.upbound.io',
      applied: true,
      revision,
      outputs: { old: null },
    })
  })

  describe('the status tells, as long as it is so,', () => {
    const where = { workspaceName: 'vpc', workspaceAPI: 'tf.m.upbound.io' }
    const told = (seen: Seen, status: object) => decide({ ...seen, apply: changed(seen.apply, {}, {}, status) }).status
    const quota = { class: 'quota', text: 'VpcLimitExceeded' }
    const broken = having(made(asked, failed))

    test('why Terraform failed, in full', () => {
      expect(told(broken, {})).toEqual({ ...where, failure: quota })
      expect(told(broken, { failure: quota })).toEqual(where)
      expect(told(broken, { failure: { ...quota, class: 'lock' } })).toEqual({ ...where, failure: { class: 'quota' } })
      expect(told(having(made()), { failure: quota })).toMatchObject({ failure: null })
    })

    test('the text of the first time, as long as it fails in the same way', () => {
      const conditions = decide(broken).conditions.map((each) => ({ ...each, lastTransitionTime: '' }))
      const first = { class: 'quota', text: 'VpcLimitExceeded, RequestID: 1' }
      expect(told(broken, { conditions, failure: first })).toEqual(where)
      expect(told(broken, { failure: first })).toEqual({ ...where, failure: { text: quota.text } })
    })

    test('but no secret that the text holds', () => {
      const stored = (text: string) => ({ 'r.json': Buffer.from(JSON.stringify({ limit: text })).toString('base64') })
      const secret = { ...varsSecret, data: { ...varsSecret.data, ...stored('VpcLimitExceeded') } }
      const plan = decide({ ...broken, secret })
      expect(plan.status).toMatchObject({ failure: { text: '***' } })
      expect(messageOf(plan, 'Ready')).toMatch(/^\*\*\* /)
    })

    test('since when Terraform is at work', () => {
      const began = '2026-11-16T11:59:00Z'
      const running = having(made(asked, [], { [crossplane.createPending]: began }))
      expect(told(running, {})).toEqual({ ...where, applyingSince: began })
      expect(told(running, { applyingSince: began })).toEqual(where)
      expect(told(having(made()), { applyingSince: began })).toMatchObject({ applyingSince: null })
    })
  })

  test('outputs that are too large are not told, and that is', () => {
    const large = { ...made(), status: { conditions: done, atProvider: { outputs: { id: 'x'.repeat(65_536) } } } }
    const plan = decide(having(large))
    expect(plan.status).toMatchObject({ outputs: {} })
    expect(messageOf(plan, 'Ready')).toContain('64 KiB')
    expect(said(plan, 'Ready')).toBe('Ready=True')
  })

  test('it comes again for what no watch tells: a Secret that nobody labelled, a silent engine, a wait worth a word', () => {
    expect(decide(having(made())).wake).toBe('onChange')
    expect(decide(having(made(asked, []), { silentAt: now.getTime() + 90_500 })).wake).toEqual({ afterSeconds: 91 })
    const waitsFor = (what: 'Secret' | 'Workspace', since?: string): Seen => ({
      ...asked,
      apply: changed(
        apply,
        {},
        {},
        since
          ? { conditions: [condition('DependenciesReady', 'False', 'Waiting', { lastTransitionTime: since })] }
          : {},
      ),
      dependencies: [{ what, name: 'net', is: 'waiting', why: '' }],
    })
    expect(decide(waitsFor('Secret')).wake).toEqual({ afterSeconds: 15 })
    expect(
      decide(
        but(
          {},
          { variablesFrom: [password] },
          { ...asked, found: new Map([['password', { is: 'missing', why: '' }]]) },
        ),
      ).wake,
    ).toEqual({ afterSeconds: 15 })
    expect(decide(waitsFor('Workspace')).wake).toEqual({ afterSeconds: 600 })
    expect(decide(waitsFor('Workspace', '2026-11-16T11:55:00Z')).wake).toEqual({ afterSeconds: 300 })
    expect(messageOf(decide(waitsFor('Workspace', '2026-11-16T11:55:00Z')), 'Ready')).toBe('waits for net')
    const long = decide(waitsFor('Workspace', '2026-11-16T11:49:00Z'))
    expect(long.wake).toBe('onChange')
    expect(messageOf(long, 'Ready')).toBe('waits for net for more than 10 minutes')
  })

  test('who deletes a Workspace by hand is given ten seconds to delete its apply, too', () => {
    const wakeOf = (deletionTimestamp: string) => decide(deletedByHand({ deletionTimestamp })).wake
    expect(wakeOf('2026-11-16T11:59:55Z')).toEqual({ afterSeconds: 5 })
    expect(wakeOf('2026-11-16T11:59:50Z')).toBe('onChange')
  })

  test('what variables come from is labelled once, and nothing else of it is ours', () => {
    const source = (name: string, marks: object): Seen['sources'][number] => ({
      resource: ConfigMap,
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { ...at(name), uid: `uid-of-${name}`, labels: { ...marks } },
      },
    })
    const [first, ...others] = decide({
      ...asked,
      sources: [source('new', {}), source('known', { [labels.watch]: '' })],
    }).effects.filter((each) => 'resource' in each && each.resource === ConfigMap)
    expect(others).toEqual([])
    expect(first).toMatchObject({
      do: 'patch',
      object: { metadata: { name: 'new', uid: 'uid-of-new' } },
      change: { metadata: { labels: { [labels.watch]: 'true' } } },
    })
  })
})

describe('the guard', () => {
  const ofCluster = but({ labels: { 'cluster.x-k8s.io/cluster-name': 'demo' } })
  const guardOn = (seen: Seen) => {
    const effect = decide(seen).effects.find((each) => each.do === 'apply')
    const wish = effect?.object as Workspace | undefined
    return [wish?.metadata.annotations?.[annotations.guard], wish?.spec.managementPolicies]
  }
  const crossplaned = (seen: Seen): Seen => ({ ...seen, where: { ...nowhereYet, isCrossplane: true } })

  test.each<[string, Seen, unknown]>([
    ['is off for a single apply', asked, [undefined, undefined]],
    ['is on where that is asked for', but({}, { destructiveChanges: 'Hold' }), ['Hold', undefined]],
    ['is on for what belongs to a cluster', ofCluster, ['Hold', undefined]],
    ['is off where that is asked for', but({}, { destructiveChanges: 'Allow' }, ofCluster), [undefined, undefined]],
    ['is off with Crossplane', crossplaned(ofCluster), [undefined, undefined]],
    [
      'is by policies with Crossplane, where it is asked for, and the first time all is allowed',
      crossplaned(but({}, { destructiveChanges: 'Hold' })),
      [undefined, ['*']],
    ],
  ])('%s', (_, seen, guard) => {
    expect(guardOn(seen)).toEqual(guard)
  })

  test('with Crossplane every change after the first waits, until that very revision is approved, and only until it is done', () => {
    const guarded = crossplaned(but({}, { destructiveChanges: 'Hold' }))
    const { revision } = renderedOf(guarded)
    const since = (of: string, approve?: string): Seen => {
      const notes = approve === undefined ? {} : { [annotations.approve]: approve }
      const base = noted(guarded, notes)
      const applied = { ...base, apply: changed(base.apply, {}, {}, { applied: true, revision: of }) }
      return { ...applied, where: { ...nowhereYet, isCrossplane: true, workspace: made(applied) } }
    }
    const policies = (seen: Seen) => guardOn(seen)[1]
    const closed = ['Observe', 'Create', 'Delete']
    expect(said(decide(since('before')), 'Applied')).toBe('ApprovalRequired=False')
    expect(policies(since('before'))).toEqual(closed)
    expect(said(decide(since('before', 'another')), 'Applied')).toBe('ApprovalRequired=False')
    expect(policies(since('before', revision))).toEqual(['*'])
    expect(said(decide(since('before', revision)), 'Applied')).toBe('Converged=True')
    expect(policies(since(revision, revision))).toEqual(closed)
    expect(said(decide(since(revision, revision)), 'Applied')).toBe('Converged=True')
    const closing = since(revision, revision)
    const unseen = { ...made(closing), metadata: { ...made(closing).metadata, generation: 2 } }
    const where = { ...nowhereYet, isCrossplane: true, workspace: unseen }
    expect(said(decide({ ...closing, where }), 'Applied', 'Ready')).toBe('Ready=True Converged=True')
  })

  test('a change that waits for approval is no drift; one by others that waits is', () => {
    const upToDate = { type: 'UpToDate', status: 'False', reason: 'UpdateRestricted', observedGeneration: 1 } as const
    const waiting = having(
      made(asked, [...waits, { ...upToDate, lastTransitionTime: '' }], { [annotations.plan]: held }),
    )
    const { revision } = renderedOf(asked)
    const since = (of: string) =>
      decide({ ...waiting, apply: changed(waiting.apply, {}, {}, { applied: true, revision: of }) })
    expect(said(since('before'), 'Applied', 'Drifted')).toBe('ApprovalRequired=False')
    expect(said(since(revision), 'Applied', 'Drifted')).toBe('ApprovalRequired=False Drifted=True')
  })

  test('a word for the engine is passed on, and taken back with it', () => {
    const spoken = { [annotations.approve]: 'p1', [annotations.unlock]: 'lock', [annotations.rollback]: 'last' }
    const effect = decide(noted(asked, spoken)).effects.find((each) => each.do === 'apply')
    expect(effect?.object.metadata.annotations).toMatchObject(spoken)
    const back = decide(having(made(asked, done, spoken))).effects.find((each) => each.do === 'patch')
    expect(back?.change).toEqual({
      metadata: {
        annotations: { [annotations.approve]: null, [annotations.unlock]: null, [annotations.rollback]: null },
      },
    })
  })

  test('a word for the engine reaches it also where nothing else is asked for', () => {
    const pinned = but(
      {},
      { templateRef: { name: 'network', revision: 'another' } },
      having(made(asked, waits, { [annotations.plan]: held })),
    )
    const waiting: Seen = { ...having(made()), template: undefined }
    for (const seen of [pinned, waiting]) {
      const effect = decide(noted(seen, { [annotations.approve]: 'p1' })).effects.find((each) => each.do === 'patch')
      expect(effect).toMatchObject({ change: { metadata: { annotations: { [annotations.approve]: 'p1' } } } })
      expect(deeds(decide(seen))).not.toContain('patch')
    }
  })

  test('a lock is told with the command that releases it', () => {
    const locked = failed.map((each) => ({
      ...each,
      message: `update failed: ${tellFailure('apply', { code: 1, err: lockError, ended: 'byItself' })}`,
    }))
    expect(messageOf(decide(having(made(asked, locked))), 'Ready')).toContain(
      'release the lock: kubectl annotate workspacetemplateapply vpc --namespace team --overwrite capt.appthrust.io/unlock=9db590f1',
    )
  })

  test('what others left in a map goes, at any depth', () => {
    const seen = but({}, { variables: { cidr: { a: 1, none: null } } })
    const beside = { ...made(seen).spec.forProvider, varmap: { cidr: { a: 1, none: null, b: { c: 2 } }, more: [1] } }
    const there = having(altered(made(seen), {}, { forProvider: beside }), {}, seen)
    const effect = decide(there).effects.find((each) => each.do === 'patch')
    expect(effect?.change).toEqual({ spec: { forProvider: { varmap: { cidr: { b: null }, more: null } } } })
    expect(deeds(decide(having(made(seen), {}, seen)))).not.toContain('patch')
  })
})

describe('variables that are secret', () => {
  const { revision } = renderedOf(secretly)
  const wanted = (plan: Plan) => {
    const effect = plan.effects.filter((each) => each.do === 'apply').find(({ resource }) => resource === Secret)
    return effect && Object.keys((effect.object as Secret).data ?? {}).toSorted()
  }
  const keys = (...revisions: readonly string[]) => [...revisions.map((each) => `${each}.json`), 'salt'].toSorted()
  const stored = (...revisions: readonly string[]): Secret => ({
    ...varsSecret,
    data: {
      ...varsSecret.data,
      ...Object.fromEntries(
        revisions.map((each) => [`${each}.json`, Buffer.from('{"password":"s3cr3t"}').toString('base64')]),
      ),
    },
  })

  test('are written before the Workspace that names them, and are in nothing else', () => {
    const plan = decide(secretly)
    expect(wanted(plan)).toEqual(keys(revision))
    const others = plan.effects.filter((each) => !('resource' in each) || each.resource !== Secret)
    expect(JSON.stringify([others, plan.conditions, plan.status])).not.toContain('s3cr3t')
  })

  test('stay as long as an engine may read them, and no longer', () => {
    const old = made(secretly, done, { [annotations.revision]: 'before' })
    const moving = { ...having(old, {}, secretly), secret: stored('before', 'ancient') }
    expect(wanted(decide(moving))).toEqual(keys('before', revision))
    const applying = { ...having(made(secretly), {}, secretly), secret: stored('before', revision) }
    const was = (each: string) => ({
      ...applying,
      apply: changed(applying.apply, {}, {}, { revision: each, applied: true }),
    })
    expect(wanted(decide(was('before')))).toBeUndefined()
    expect(wanted(decide(was(revision)))).toEqual(keys(revision))
    expect(wanted(decide({ ...was(revision), secret: stored(revision) }))).toBeUndefined()
  })
  test.each<[string, object]>([
    ['label', { labels: {} }],
    ['note', { annotations: {} }],
    ['owner', { ownerReferences: [] }],
    ['controller', { ownerReferences: [{ uid: 'uid-of-vpc', controller: false }] }],
    ['hold', { finalizers: [] }],
  ])('whose Secret lost its %s get it back', (_, metadata) => {
    const secret = stored(revision)
    const seen = having(made(secretly), {}, secretly)
    const is = (more: object) => ({ ...secret, metadata: { ...secret.metadata, ...more } })
    const settled = { ...seen, apply: changed(seen.apply, {}, {}, { revision, applied: true }) }
    expect(wanted(decide({ ...settled, secret: is({}) }))).toBeUndefined()
    expect(wanted(decide({ ...settled, secret: is(metadata) }))).toBeDefined()
  })
})

test.each<[string, object]>([
  ['hold', { finalizers: [crossplane.finalizer] }],
  ['label', { labels: {} }],
])('a Workspace that was stripped of our %s gets it back though there is nothing else to ask for', (_, metadata) => {
  const waiting = { dependencies: [{ what: 'Workspace', name: 'net', is: 'waiting', why: '' }] as const }
  const { effects } = decide({ ...having(altered(made(), metadata)), ...waiting })
  expect(effects.filter(({ do: what }) => what === 'patch')).toMatchObject([
    { object: { kind: 'Workspace' }, change: { metadata: { labels: { [labels.apply]: 'team.vpc' } } } },
  ])
  expect(decide({ ...having(made()), ...waiting }).effects.filter(({ do: what }) => what === 'patch')).toEqual([])
})

test('who strips it of its labels does not take the guard from what it built', () => {
  const guardOn = (seen: Seen) => {
    const effect = decide(seen).effects.find((each) => each.do === 'apply')
    return [effect?.object.metadata.annotations?.[annotations.guard], effect?.object.metadata.labels?.[labels.cluster]]
  }
  const ofCluster = but({ labels: { 'cluster.x-k8s.io/cluster-name': 'demo' } })
  const workspace = made(ofCluster)
  expect(guardOn(having(workspace, {}, ofCluster))).toEqual(['Hold', 'demo'])
  expect(guardOn(having(workspace))).toEqual(['Hold', 'demo'])
  expect(guardOn(having(made()))).toEqual([undefined, undefined])
})

test('while it is paused it says by whom, of the generation that it was asked for, and leaves all else that was said', () => {
  const plan = decide(noted(stilled(having(made())), { 'cluster.x-k8s.io/paused': '' }))
  expect(plan.others).toBe('stay')
  expect(messageOf(plan, 'Paused')).toBe(
    'Cluster team/demo is paused; WorkspaceTemplateApply team/vpc is paused (annotation cluster.x-k8s.io/paused)',
  )
  expect(plan.effects).toMatchObject([{ do: 'apply', fieldManager: 'capt-pause' }])
})

test('whatever is seen, what is foreign or frozen is not touched, and only what leaves is deleted', () => {
  const applies = [
    apply,
    changed(apply, { finalizers: [] }),
    changed(apply, going),
    changed(apply, { annotations: { 'cluster.x-k8s.io/paused': '' } }),
    changed(apply, { ...going, annotations: { [annotations.forceDelete]: '' } }),
    changed(apply, going, { retainOnDelete: true }),
  ]
  const workspaces = [
    undefined,
    made(),
    made(asked, []),
    made(asked, failed),
    theirs,
    altered(made(), going),
    altered(theirs, going),
    altered(made(), { annotations: { [annotations.apply]: 'team/other' } }),
  ]
  for (const each of applies)
    for (const workspace of workspaces)
      for (const isRecorded of [true, false])
        for (const using of [template, undefined])
          for (const isNamespaceLeaving of [true, false]) {
            const where = { ...nowhereYet, workspace, isRecorded }
            const { effects } = decide({ ...asked, apply: each, template: using, isNamespaceLeaving, where })
            const isOurs = workspace?.metadata.annotations?.[annotations.apply] === 'team/vpc'
            const touched = effects.filter((effect) => 'object' in effect && effect.object.kind === 'Workspace')
            expect(workspace === undefined || isOurs || touched.length === 0).toBe(true)
            const isLeaving = each.metadata.deletionTimestamp !== undefined
            expect(isLeaving || effects.every((effect) => effect.do !== 'delete')).toBe(true)
            expect(
              isLeaving ||
                effects.every((effect) => effect.do !== 'removeFinalizer' || effect.finalizer !== finalizer.ours),
            ).toBe(true)
          }
})

test('a new Workspace is named so that nobody else shares its state', () => {
  const effect = decide(asked).effects.find((each) => each.do === 'apply')
  expect(effect?.object.metadata).toMatchObject({
    ...at('vpc'),
    labels: { [labels.apply]: 'team.vpc' },
    annotations: { [crossplane.externalName]: externalNameOf(keyOf(apply)), [annotations.apply]: 'team/vpc' },
    finalizers: [holdFinalizer],
  })
  const note = decide(asked).effects.find((each) => each.do === 'patch')
  expect(note?.change).toEqual({
    metadata: { annotations: { [annotations.workspace]: 'tf.m.upbound.io/vpc', [blockMoveAnnotation]: 'true' } },
  })
})
