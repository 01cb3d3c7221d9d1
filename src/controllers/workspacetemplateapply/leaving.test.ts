import { describe, expect, test } from 'vitest'
import {
  altered,
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
  leaving,
  made,
  messageOf,
  noted,
  nowhereYet,
  said,
  theirs,
  varsSecret,
  workspaceDeed,
} from '../../../test/applies.ts'
import { annotations } from '../../api/keys.ts'
import { crossplane, type Workspace } from '../../api/workspace.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { decide } from './decide.ts'
import { finalizer } from './finalizer.ts'
import type { Seen } from './seen.ts'

const saidDeleted = (seen: Seen): Seen => ({
  ...seen,
  apply: changed(seen.apply, {}, {}, { conditions: [condition('Applied', 'False', 'WorkspaceDeleted')] }),
})

describe('when it leaves', () => {
  const farewell = 'removeFinalizer workspacetemplateapply'
  test.each<{ when: string; seen: Seen; says: string; does: string }>([
    {
      when: 'its Workspace is there',
      seen: leaving(having(made())),
      says: 'waits until Terraform has destroyed',
      does: 'patch Workspace team/vpc, delete Workspace team/vpc',
    },
    {
      when: 'its Workspace is on its way',
      seen: leaving(having(altered(made(), { ...going, finalizers: [crossplane.finalizer] }))),
      says: 'waits until Terraform has destroyed',
      does: '',
    },
    {
      when: 'its Workspace is on its way with our hold, as in a namespace that goes',
      seen: leaving(having(altered(made(), going))),
      says: 'waits until',
      does: 'patch Workspace team/vpc',
    },
    {
      when: 'others still use it',
      seen: { ...leaving(having(made())), dependents: ['eks', 'nat'] },
      says: 'is still used by eks, nat',
      does: '',
    },
    {
      when: 'others use it in a circle',
      seen: { ...leaving(having(made())), dependents: ['eks'], ring: ['vpc', 'eks', 'vpc'] },
      says: 'waits until',
      does: 'patch Workspace team/vpc, delete Workspace team/vpc',
    },
    {
      when: 'something may be left of what was made inside of the cluster',
      seen: noted(leaving(having(made())), { [annotations.cleanup]: 'pending' }),
      says: 'waits until its CAPTControlPlane has seen to it',
      does: '',
    },
    {
      when: 'something may be left inside of the cluster, and nobody is there who would look',
      seen: { ...noted(leaving(having(made())), { [annotations.cleanup]: 'pending' }), isAskedFor: false },
      says: 'nobody has looked whether a Service of type LoadBalancer is left in the cluster, and its CAPTControlPlane, which would, is not there: see to it, and then have the cluster destroyed: kubectl annotate workspacetemplateapply vpc',
      does: '',
    },
    {
      when: 'something may be left inside of a cluster that its policies leave in place',
      seen: noted(leaving(having(altered(made(), {}, { managementPolicies: ['Observe'] }))), {
        [annotations.cleanup]: 'pending',
      }),
      says: 'waits until the engine has let go',
      does: 'patch Workspace team/vpc, delete Workspace team/vpc',
    },
    {
      when: 'nothing is left of what was made inside of the cluster',
      seen: noted(leaving(having(made())), { [annotations.cleanup]: 'done' }),
      says: 'waits until Terraform has destroyed',
      does: 'patch Workspace team/vpc, delete Workspace team/vpc',
    },
    {
      when: 'something may be left inside of a cluster that is to stay',
      seen: noted(but(going, { retainOnDelete: true }, having(made())), { [annotations.cleanup]: 'pending' }),
      says: 'leaves in place',
      does: 'tell Retained, patch Workspace team/vpc',
    },
    {
      when: 'something may be left inside of a cluster that is given up',
      seen: noted(leaving(having(made())), { [annotations.cleanup]: 'pending', [annotations.forceDelete]: 'true' }),
      says: '',
      does: `patch Workspace team/vpc, tell ForceDeleted, ${farewell}`,
    },
    {
      when: 'we had paused its Workspace',
      seen: leaving(having(made(asked, done, { [annotations.paused]: 'true' }))),
      says: 'goes on after a pause',
      does: 'patch Workspace team/vpc',
    },
    {
      when: 'its Workspace is gone',
      seen: { ...leaving(asked), secret: varsSecret },
      says: '',
      does: `patch Secret team/vpc-vars, delete Secret team/vpc-vars, ${farewell}`,
    },
    { when: 'the name was taken', seen: leaving(having(theirs)), says: '', does: farewell },
    {
      when: 'the old Workspace was never taken over',
      seen: leaving(having(theirs, { isRecorded: true })),
      says: 'Workspace team/vpc was made by somebody else',
      does: '',
    },
    {
      when: 'everything is to stay',
      seen: but(going, { retainOnDelete: true }, having(made())),
      says: 'leaves in place',
      does: 'tell Retained, patch Workspace team/vpc',
    },
    {
      when: 'everything is to stay, in old words',
      seen: but(going, { retainWorkspaceOnDelete: true }, having(made())),
      says: 'leaves in place',
      does: 'tell Retained, patch Workspace team/vpc',
    },
    {
      when: 'everything was let go and stays',
      seen: {
        ...but(
          going,
          { retainOnDelete: true },
          having(altered(made(), { finalizers: [] }, { managementPolicies: ['Observe'] })),
        ),
        secret: varsSecret,
      },
      says: '',
      does: `patch Secret team/vpc-vars, ${farewell}`,
    },
    {
      when: 'nobody serves its Workspace',
      seen: noted(leaving({ ...asked, where: { ...nowhereYet, isServed: false } }), {
        [annotations.workspace]: 'tf.m.upbound.io/vpc',
      }),
      says: 'nobody serves Workspaces in tf.m.upbound.io',
      does: '',
    },
    {
      when: 'nobody serves Workspaces any more, and the predecessor had made it one',
      seen: leaving({
        ...asked,
        apply: changed(asked.apply, {}, {}, { workspaceName: 'vpc' }),
        where: { is: 'none', reason: 'NoEngine', message: 'nobody serves Workspaces' },
      }),
      says: 'nobody serves Workspaces, or leave behind what is there: kubectl annotate',
      does: '',
    },
    {
      when: 'its Workspace was deleted by hand before, and what it built was left',
      seen: leaving(saidDeleted(asked)),
      says: "its Workspace was deleted by hand, and what it built is left, with Terraform's state team.vpc",
      does: '',
    },
    {
      when: 'its Workspace was deleted by hand before, and is let go just now',
      seen: leaving(
        saidDeleted(
          having(
            altered(made(), { ...going, finalizers: [] }, { managementPolicies: ['Observe', 'Create', 'Update'] }),
          ),
        ),
      ),
      says: "its Workspace was deleted by hand, and what it built is left, with Terraform's state team.vpc",
      does: '',
    },
    {
      when: 'its Workspace was deleted by hand a moment ago',
      seen: leaving(saidDeleted(having(altered(made(), going)))),
      says: 'waits until Terraform has destroyed',
      does: 'patch Workspace team/vpc',
    },
    {
      when: 'others use it in a circle, and one that is not in it',
      seen: { ...leaving(having(made())), dependents: ['eks', 'outside'], ring: ['vpc', 'eks', 'vpc'] },
      says: 'is still used by outside',
      does: '',
    },
    {
      when: 'the old Workspace was never taken over, and is to stay',
      seen: but(going, { retainOnDelete: true }, having(theirs, { isRecorded: true })),
      says: '',
      does: farewell,
    },
    {
      when: 'its policies leave everything',
      seen: leaving(having(altered(made(), going, { managementPolicies: ['Observe', 'Create', 'Update'] }))),
      says: 'waits until the engine has let go of what Workspace team/vpc built',
      does: 'patch Workspace team/vpc',
    },
    {
      when: 'Terraform does not come to an end',
      seen: leaving(
        having(altered(made(), { deletionTimestamp: '2026-11-16T11:50:00Z', finalizers: [crossplane.finalizer] })),
      ),
      says: 'waits until Terraform has destroyed what Workspace team/vpc built for more than 10 minutes: see whether the engine that serves tf.m.upbound.io runs',
      does: '',
    },
    {
      when: 'a user has a word for the engine',
      seen: noted(leaving(having(altered(made(), { ...going, finalizers: [] }))), { [annotations.unlock]: 'lock' }),
      says: 'waits until',
      does: 'patch Workspace team/vpc',
    },
    {
      when: 'nobody ever served one',
      seen: leaving({ ...asked, where: { is: 'none', reason: 'NoEngine', message: 'no' } }),
      says: '',
      does: farewell,
    },
    {
      when: 'it is forced',
      seen: noted(leaving(having(made())), { [annotations.forceDelete]: 'true' }),
      says: '',
      does: `patch Workspace team/vpc, tell ForceDeleted, ${farewell}`,
    },
    {
      when: 'it is paused',
      seen: noted(leaving(having(made())), { 'cluster.x-k8s.io/paused': '' }),
      says: 'waits while it is paused',
      does: workspaceDeed,
    },
    {
      when: 'its Cluster is paused',
      seen: { ...leaving(having(made())), pause: { ...asked.pause, by: ['Cluster team/demo is paused'] } },
      says: 'waits while it is paused: Cluster team/demo is paused',
      does: workspaceDeed,
    },
    {
      when: 'it is moved away',
      seen: noted(leaving(having(made())), { 'clusterctl.cluster.x-k8s.io/delete-for-move': '' }),
      says: '',
      does: '',
    },
    {
      when: 'it is not held by us',
      seen: but({ finalizers: ['example.com/other'] }, {}, leaving(having(made()))),
      says: '',
      does: '',
    },
    {
      when: 'its template is gone',
      seen: { ...leaving(having(made())), template: undefined },
      says: 'waits until',
      does: 'patch Workspace team/vpc, delete Workspace team/vpc',
    },
    ...['delete', 'connect'].map((step) => ({
      when: `the ${step} fails`,
      seen: leaving(
        having({
          ...altered(made(), { ...going, finalizers: [] }),
          status: {
            conditions: failed.map((each) => ({ ...each, message: (each.message ?? '').replace('create', step) })),
          },
        }),
      ),
      says: 'Terraform cannot destroy what Workspace team/vpc built: VpcLimitExceeded',
      does: '',
    })),
  ])('when $when', ({ seen, says, does }) => {
    const plan = decide(seen)
    const message = messageOf(plan, 'Deleting')
    expect(message.slice(0, says.length || message.length)).toBe(says)
    expect(deeds(plan)).toBe(does)
    expect(plan.effects.every((each) => each.do !== 'apply' || each.fieldManager === 'capt-pause')).toBe(true) // nothing is made
    expect(message !== '' && said(plan, 'Paused') === '').toBe(false) // what was said in a pause does not stay
    for (const { type, reason, status } of plan.conditions)
      expect(WorkspaceTemplateApply.words).toHaveProperty([type, reason], status)
  })

  test('what is left behind is named, with the commands that find it', () => {
    const noteOf = (seen: Seen) => decide(seen).effects.flatMap((each) => (each.do === 'tell' ? [each.note] : []))
    const forced = (seen: Seen) => noteOf(noted(leaving(seen), { [annotations.forceDelete]: 'true' }))
    const workspace = 'kubectl get workspaces.tf.m.upbound.io vpc --namespace team'
    const state = 'kubectl get secrets --all-namespaces --selector tfstate=true,tfstateWorkspace=team.vpc'
    expect(noteOf(but(going, { retainOnDelete: true }, having(made())))).toEqual([
      `Workspace team/vpc and all it built are left in place, with Terraform's state team.vpc: see ${workspace} and ${state}`,
    ])
    expect(forced(having(made()))).toEqual([
      `Workspace team/vpc and all it built are left to themselves, with Terraform's state team.vpc: see ${workspace} and ${state}`,
    ])
    expect(forced(having(altered(made(), going)))).toEqual([
      `Workspace team/vpc and all it built are left to themselves, with Terraform's state team.vpc: see ${state}`,
    ])
    expect(forced(asked)).toEqual([
      `whatever was built is left to itself, with Terraform's state team.vpc: see ${state}`,
    ])
    expect(forced({ ...asked, where: { is: 'none', reason: 'NoEngine', message: 'no' } })).toEqual([
      'whatever was built is left to itself',
    ])
  })

  test('one that is forced leaves what is on its way to be destroyed', () => {
    const forced = (workspace: Workspace) =>
      decide(noted(leaving(having(workspace)), { [annotations.forceDelete]: 'true' })).effects[0]
    expect(forced(altered(made(), going))).toMatchObject({
      change: { spec: { managementPolicies: ['Observe', 'Create', 'Update', 'LateInitialize'] } },
    })
    expect(forced(made())).not.toHaveProperty('change.spec')
  })

  test('that Terraform destroys it is said instead of what was said before', () => {
    expect(said(decide(leaving(saidDeleted(having(altered(made(), going))))), 'Applied')).toBe('Destroying=False')
  })

  test('its finalizer goes only when its Workspace and its Secret are seen to be gone', () => {
    const last = decide(leaving(asked)).effects.find(
      (each) => each.do === 'removeFinalizer' && each.finalizer === finalizer.ours,
    )
    expect(last).toMatchObject({ onceGone: [{ key: at('vpc') }, { key: at('vpc-vars') }] })
  })

  test('a Secret of somebody else is not waited for', () => {
    const last = decide({ ...leaving(asked), isSecretTaken: true }).effects.at(-1)
    expect(last).toMatchObject({ do: 'removeFinalizer', onceGone: [{ key: at('vpc') }] })
    expect(last).not.toHaveProperty('onceGone.1')
  })

  test('a Secret that a Workspace still reads stays, and nobody owns it', () => {
    const kept = altered(made(), { finalizers: [] }, { managementPolicies: ['Observe'] })
    const plan = decide({ ...but(going, { retainOnDelete: true }, having(kept)), secret: varsSecret })
    expect(plan.effects.find((each) => each.do === 'patch')).toMatchObject({
      change: { metadata: { finalizers: [], ownerReferences: null } },
    })
  })
})
