import { describe, expect, test } from 'vitest'
import { now } from '../../../test/applies.ts'
import {
  aHeldWorkspace,
  anApply,
  aVpc,
  but,
  cluster,
  controlPlane,
  doesOf,
  gone,
  network,
  noted,
  promisesOnly,
  saysOf,
  unbuilt,
  vpcOutputs,
} from '../../../test/controlplanes.ts'
import { CAPTCluster } from '../../api/captcluster.ts'
import { annotations } from '../../api/keys.ts'
import type { Effect, Plan } from '../../runtime/plan.ts'
import { decide } from './decide.ts'
import type { Seen } from './seen.ts'

const vpcId = 'vpc-0123456789abcdef0'
const known = but(network, { status: { vpcId, initialization: { provisioned: true } } })
const seen = (more: Partial<Seen>): Seen => ({ ...unbuilt, ...more })
const built = seen({ captCluster: known, apply: aVpc('done') })
const later = (run: 'running' | 'failed' | 'held') => but(aVpc(run), { status: { applied: true } })
const existing = but(network, {
  spec: { vpcTemplateRef: undefined, existingVpcId: vpcId, existingSubnets: { private: ['subnet-0123456789abcdef0'] } },
})
const justBorn = but(network, { metadata: { creationTimestamp: '2026-11-16T11:59:57Z' } })
const acme = { kind: 'ClusterProviderConfig', name: 'acme' }
const paused = but(cluster, { spec: { paused: true } })
const retainedApply = but(aVpc('done'), { spec: { retainOnDelete: true } })
const ask = 'apply demo-vpc'
const letGo = 'patch demo-vpc, delete demo-vpc'

describe('while it is to stay', () => {
  test.each<{ when: string; seen: Seen; says: string; does: string }>([
    {
      when: 'somebody else manages it',
      seen: seen({ captCluster: but(network, noted('cluster.x-k8s.io/managed-by')) }),
      says: ' ',
      does: '',
    },
    { when: 'Cluster API has not claimed it', seen: seen({ cluster: 'none' }), says: 'WaitingForCluster ', does: '' },
    { when: 'its Cluster is gone', seen: { ...built, cluster: 'gone' }, says: 'WaitingForCluster ', does: '' },
    { when: 'its Cluster is paused', seen: { ...built, cluster: paused }, says: ' ', does: '' },
    {
      when: 'it is paused itself',
      seen: { ...built, captCluster: but(known, noted('cluster.x-k8s.io/paused')) },
      says: ' ',
      does: '',
    },
    {
      when: 'it is new',
      seen: seen({ captCluster: but(network, { metadata: { finalizers: [] } }) }),
      says: 'NotProvisioned VPCCreating',
      does: `addFinalizer captcluster, ${ask}`,
    },
    {
      when: 'it came back from a backup, and its apply did not yet',
      seen: seen({ captCluster: but(network, noted(annotations.workspace, 'tf.m.upbound.io/demo-vpc')) }),
      says: 'NotProvisioned ApplyMissing',
      does: 'tell ApplyMissing',
    },
    {
      when: 'its apply came back as well',
      seen: seen({
        captCluster: but(network, noted(annotations.workspace, 'tf.m.upbound.io/demo-vpc')),
        apply: aVpc('new'),
      }),
      says: 'NotProvisioned VPCCreating',
      does: ask,
    },
    {
      when: 'its apply was deleted by hand',
      seen: seen({
        captCluster: but(network, {
          ...noted(annotations.workspace, 'tf.m.upbound.io/demo-vpc'),
          status: { workspaceTemplateStatus: { workspaceName: 'demo-vpc' } },
        }),
      }),
      says: 'NotProvisioned VPCCreating',
      does: ask,
    },
    {
      when: 'its apply has a Workspace',
      seen: seen({ apply: but(aVpc('running'), noted(annotations.workspace, 'tf.m.upbound.io/demo-vpc')) }),
      says: 'NotProvisioned VPCCreating',
      does: `patch CAPTCluster team/demo, ${ask}`,
    },
    { when: 'nothing was built yet', seen: unbuilt, says: 'NotProvisioned VPCCreating', does: ask },
    {
      when: 'Terraform has just been asked',
      seen: seen({ apply: aVpc('new') }),
      says: 'NotProvisioned VPCCreating',
      does: ask,
    },
    {
      when: 'Terraform is at work',
      seen: seen({ apply: aVpc('running') }),
      says: 'NotProvisioned VPCCreating',
      does: ask,
    },
    {
      when: 'Terraform failed',
      seen: seen({ apply: aVpc('failed') }),
      says: 'NotProvisioned VPCCreationFailed',
      does: `${ask}, tell VPCCreationFailed`,
    },
    {
      when: 'a plan is held',
      seen: seen({ apply: aVpc('held') }),
      says: 'NotProvisioned VPCCreationFailed',
      does: `${ask}, tell VPCCreationFailed`,
    },
    {
      when: 'the template outputs no vpc_id',
      seen: seen({ apply: aVpc('done', {}) }),
      says: 'NotProvisioned VPCCreationFailed',
      does: `${ask}, tell VPCCreationFailed`,
    },
    {
      when: 'the VPC is there',
      seen: seen({ apply: aVpc('done') }),
      says: 'Provisioned VPCCreated',
      does: `${ask}, tell VPCCreated`,
    },
    {
      when: 'a later change runs',
      seen: { ...built, apply: later('running') },
      says: 'Provisioned VPCCreated',
      does: `${ask}, tell VPCCreated`,
    },
    {
      when: 'a later change fails',
      seen: { ...built, apply: later('failed') },
      says: 'Provisioned VPCCreationFailed',
      does: `${ask}, tell VPCCreationFailed`,
    },
    {
      when: 'a later change is held',
      seen: { ...built, apply: later('held') },
      says: 'Provisioned VPCCreationFailed',
      does: `${ask}, tell VPCCreationFailed`,
    },
    {
      when: 'a later template has no vpc_id',
      seen: { ...built, apply: aVpc('done', {}) },
      says: 'Provisioned VPCCreated',
      does: `${ask}, tell VPCCreated`,
    },
    {
      when: 'somebody deletes the apply',
      seen: { ...built, apply: but(aVpc('done'), gone) },
      says: 'Provisioned VPCCreationFailed',
      does: `${ask}, tell VPCCreationFailed`,
    },
    {
      when: 'somebody has deleted the apply',
      seen: { ...built, apply: undefined },
      says: 'NotProvisioned VPCCreating',
      does: ask,
    },
    {
      when: 'one that was deleted is built again',
      seen: { ...built, apply: aVpc('running') },
      says: 'NotProvisioned VPCCreating',
      does: ask,
    },
    {
      when: 'one that was deleted cannot be built again',
      seen: { ...built, apply: aVpc('failed') },
      says: 'NotProvisioned VPCCreationFailed',
      does: `${ask}, tell VPCCreationFailed`,
    },
    {
      when: 'the control plane may come any moment, which names the cluster',
      seen: seen({ captCluster: justBorn, controlPlane: 'missing' }),
      says: 'NotProvisioned VPCCreating',
      does: '',
    },
    {
      when: 'the control plane does not come',
      seen: seen({ controlPlane: 'missing' }),
      says: 'NotProvisioned VPCCreating',
      does: ask,
    },
    {
      when: 'it is new, and its control plane is of another provider',
      seen: seen({ captCluster: justBorn, controlPlane: undefined }),
      says: 'NotProvisioned VPCCreating',
      does: ask,
    },
    {
      when: 'it is to be in another account',
      seen: { ...built, captCluster: but(known, { spec: { providerConfigRef: acme } }) },
      says: 'Provisioned ProviderConfigChanged',
      does: `${ask}, tell ProviderConfigChanged`,
    },
    {
      when: 'an apply of another has the name',
      seen: seen({ taken: anApply('demo-vpc', undefined, 'done') }),
      says: 'NotProvisioned VPCCreationFailed',
      does: 'tell VPCCreationFailed',
    },
    {
      when: 'there is a VPC already',
      seen: seen({ captCluster: existing }),
      says: 'Provisioned ExistingVPCUsed',
      does: 'tell ExistingVPCUsed',
    },
    {
      when: 'there is one already, and an apply of another has the name',
      seen: seen({ captCluster: existing, taken: anApply('demo-vpc', undefined, 'done') }),
      says: 'Provisioned ExistingVPCUsed',
      does: 'tell ExistingVPCUsed',
    },
    {
      when: 'the VPC we built is called existing',
      seen: seen({ captCluster: existing, apply: aVpc('done') }),
      says: 'Provisioned ExistingVPCUsed',
      does: `${letGo}, tell ExistingVPCUsed`,
    },
    {
      when: 'that one is on its way out',
      seen: seen({ captCluster: existing, apply: but(retainedApply, gone) }),
      says: 'Provisioned ExistingVPCUsed',
      does: 'tell ExistingVPCUsed',
    },
    {
      when: 'both are set',
      seen: seen({ captCluster: but(network, { spec: { existingVpcId: vpcId } }) }),
      says: 'NotProvisioned InvalidVPCConfig',
      does: 'tell InvalidVPCConfig',
    },
    {
      when: 'neither is set',
      seen: { ...built, captCluster: but(known, { spec: { vpcTemplateRef: undefined } }) },
      says: 'Provisioned InvalidVPCConfig',
      does: 'tell InvalidVPCConfig',
    },
  ])('when $when', ({ seen: given, says, does }) => {
    const plan = decide(given)
    expect(saysOf(plan, 'Ready', 'VPCReady')).toBe(says)
    expect(doesOf(plan)).toBe(does)
  })

  test('what was said before is no news, nor that a network which is there is worked on', () => {
    const [, vpc] = decide(built).conditions
    const captCluster = but(known, { status: { conditions: [{ ...vpc, lastTransitionTime: '' }] } })
    expect(doesOf(decide({ ...built, captCluster }))).toBe(ask)
    expect(doesOf(decide({ ...built, captCluster, apply: later('running') }))).toBe(ask)
    expect(doesOf(decide({ ...built, captCluster, apply: later('failed') }))).toBe(`${ask}, tell VPCCreationFailed`)
  })

  test('a Cluster that is gone destroys nothing', () => {
    expect(decide({ ...built, cluster: 'gone' }).effects).toEqual([])
  })

  test('the finalizer of the predecessor goes once ours is there', () => {
    const old = 'infrastructure.cluster.x-k8s.io/finalizer'
    expect(decide(built).effects[0]).toEqual({ do: 'removeFinalizer', finalizer: old, onceGone: [] })
  })
})

const wishOf = (plan: Plan) => {
  const wish = plan.effects.find((each) => each.do === 'apply')
  return wish?.object as unknown as { metadata: Record<string, unknown>; spec: Record<string, unknown> }
}

const named = (eksClusterName: string) => but(controlPlane, { spec: { eksClusterName } })
const askedFor = (cluster_name: string) => but(aVpc('done'), { spec: { variables: { cluster_name } } })

describe('what Terraform is asked for', () => {
  test('the VPC of that cluster, in that region, as ours', () => {
    expect(wishOf(decide(unbuilt))).toMatchObject({
      metadata: {
        name: 'demo-vpc',
        namespace: 'team',
        labels: { 'cluster.x-k8s.io/cluster-name': 'demo', 'capt.appthrust.io/cluster': 'demo' },
        ownerReferences: [{ kind: 'CAPTCluster', name: 'demo', uid: 'uid-of-network', controller: true }],
      },
      spec: {
        templateRef: { name: 'vpc' },
        variables: {
          cluster_name: 'demo',
          region: 'ap-northeast-1',
          vpc_name: 'demo-vpc',
          tags: {},
          environment: 'production',
        },
        retainOnDelete: false,
      },
    })
  })

  test('with all that a user can say of it', () => {
    const spec = {
      vpcTemplateRef: { name: 'vpc', namespace: 'shared' },
      vpcConfig: { name: 'blue' },
      additionalTags: { team: 'a' },
      providerConfigRef: { kind: 'ProviderConfig', name: 'acme' },
      destructiveChanges: 'Hold',
      retainOnDelete: true,
    } as const
    const { variables, ...rest } = wishOf(
      decide({
        ...unbuilt,
        captCluster: but(network, { spec }),
        controlPlane: but(controlPlane, { spec: { eksClusterName: 'demo-eks' } }),
      }),
    ).spec
    expect(variables).toMatchObject({ cluster_name: 'demo-eks', vpc_name: 'blue', tags: { team: 'a' } })
    expect(rest).toEqual({
      templateRef: spec.vpcTemplateRef,
      providerConfigRef: spec.providerConfigRef,
      destructiveChanges: 'Hold',
      writeConnectionSecretToRef: { name: 'demo-vpc-connection' },
      retainOnDelete: true,
    })
  })

  const outputsIn = (name: string) => but(aVpc('done'), { spec: { writeConnectionSecretToRef: { name } } })
  test.each<[string, Partial<Seen>, object | undefined]>([
    [
      'a Secret that is called after the Cluster, not after what a topology calls the network',
      { captCluster: but(network, { metadata: { name: 'demo-x7k2p' } }) },
      { name: 'demo-vpc-connection' },
    ],
    ['the Secret that they are in already', { apply: outputsIn('elsewhere') }, { name: 'elsewhere' }],
    ['where they are, when nobody has said so', { apply: aVpc('done') }, undefined],
  ])('with its outputs in %s', (_, differently, expected) => {
    expect(wishOf(decide({ ...unbuilt, ...differently })).spec['writeConnectionSecretToRef']).toEqual(expected)
  })

  test.each<[string, Partial<Seen>, string]>([
    ['that of the Cluster', {}, 'demo'],
    ['the one that the control plane says', { controlPlane: named('demo-eks') }, 'demo-eks'],
    [
      'what it was, once the control plane is gone',
      { controlPlane: 'missing', apply: askedFor('demo-eks') },
      'demo-eks',
    ],
    ['what is said anew', { controlPlane: named('other'), apply: askedFor('demo-eks') }, 'other'],
    ['that of the Cluster, when nobody has said one', { controlPlane: 'missing' }, 'demo'],
    ['that of the Cluster, under another provider', { controlPlane: undefined, apply: askedFor('x') }, 'demo'],
  ])('for a cluster whose name in EKS is %s', (_, more, name) => {
    expect(wishOf(decide(seen(more))).spec['variables']).toMatchObject({ cluster_name: name })
  })

  test('with a VPC called after the Cluster, whatever a topology calls the network', () => {
    const captCluster = but(network, { metadata: { name: 'demo-x7k2p' } })
    expect(wishOf(decide(seen({ captCluster }))).spec['variables']).toMatchObject({ vpc_name: 'demo-vpc' })
  })

  test('in the account where it is, whatever is wanted later', () => {
    const captCluster = but(known, { spec: { providerConfigRef: acme } })
    expect(wishOf(decide({ ...built, captCluster })).spec).not.toHaveProperty('providerConfigRef')
    expect(wishOf(decide(seen({ captCluster }))).spec['providerConfigRef']).toEqual(acme)
  })

  test('under the name that the predecessor wrote down', () => {
    const captCluster = but(network, { spec: { workspaceTemplateApplyName: 'old-vpc-apply' } })
    expect(wishOf(decide(seen({ captCluster }))).metadata['name']).toBe('old-vpc-apply')
    const leaving = decide(seen({ captCluster: but(captCluster, gone) }))
    expect(JSON.stringify(leaving.effects)).toContain('old-vpc-apply')
  })
})

describe('whether it stays when it is deleted', () => {
  const givenUp = { annotations: { 'capt.appthrust.io/force-delete': 'true' } }
  const [f, t] = [false, true]
  test.each<{
    own: boolean
    old?: boolean
    cp: boolean | 'going' | 'goingToStay' | 'givenUp' | 'gone'
    apply: boolean
    stays: boolean
  }>([
    { own: f, cp: f, apply: f, stays: f },
    { own: t, cp: f, apply: f, stays: t },
    { own: f, old: t, cp: f, apply: f, stays: t },
    { own: f, cp: t, apply: f, stays: t },
    { own: t, cp: t, apply: f, stays: t },
    { own: f, cp: f, apply: t, stays: f }, // it was wanted once, and is not any more
    { own: f, cp: 'goingToStay', apply: f, stays: t }, // asked for a moment before it was deleted
    { own: f, cp: 'going', apply: t, stays: f },
    { own: f, cp: 'gone', apply: f, stays: f },
    { own: f, cp: 'gone', apply: t, stays: t }, // only the apply knows
    { own: t, cp: 'gone', apply: f, stays: t },
    { own: f, cp: 'givenUp', apply: f, stays: t }, // what is left to itself needs its network
  ])('asked here: $own, on the control plane: $cp, on the apply: $apply', ({ own, old, cp, apply, stays }) => {
    const retains = but(controlPlane, { spec: { retainOnDelete: cp === true || cp === 'goingToStay' } })
    const given: Seen = {
      ...built,
      captCluster: but(known, { spec: { retainOnDelete: own, ...(old && { retainVpcOnDelete: old }) } }),
      controlPlane:
        cp === 'gone'
          ? 'missing'
          : typeof cp === 'boolean'
            ? retains
            : but(retains, { metadata: { ...gone.metadata, ...(cp === 'givenUp' && givenUp) } }),
      apply: apply ? retainedApply : aVpc('done'),
    }
    expect(wishOf(decide(given)).spec['retainOnDelete']).toBe(stays)
    const leaving = decide({ ...given, captCluster: but(given.captCluster, gone) })
    const isAlone = cp === 'gone'
    const deeds = [...(stays && !apply ? ['patch demo-vpc'] : []), ...(isAlone ? ['delete demo-vpc'] : [])]
    expect(doesOf(leaving)).toBe(deeds.join(', '))
  })

  test('one whose control plane is not ours may be told to stay, and to go again', () => {
    const others = but(cluster, {
      spec: { controlPlaneRef: { apiGroup: 'x', kind: 'OtherControlPlane', name: 'demo' } },
    })
    const plan = decide({ ...built, cluster: others, controlPlane: undefined, apply: retainedApply })
    expect(wishOf(plan).spec['retainOnDelete']).toBe(false)
  })

  test('a condition says so when nobody asked for it here', () => {
    const plan = decide({ ...built, controlPlane: but(controlPlane, { spec: { retainOnDelete: true } }) })
    expect(plan.conditions.find(({ type }) => type === 'VPCReady')?.message).toContain(
      'the control plane in it is retained',
    )
  })
})

describe('when it leaves', () => {
  const going = but(known, gone)
  const word = but(aVpc('done'), {
    ...gone,
    status: {
      conditions: [
        { type: 'Deleting', status: 'True', reason: 'Deleting', message: 'demo-eks uses it', lastTransitionTime: '' },
      ],
    },
  })
  const free = 'removeFinalizer captcluster'
  const orLeave = `or leave behind what is there: kubectl annotate captclusters.infrastructure.cluster.x-k8s.io demo --namespace team --overwrite ${annotations.forceDelete}=true`
  const backed = but(going, noted(annotations.workspace, 'tf.m.upbound.io/demo-vpc'))
  const alone: Seen = { ...built, captCluster: going, controlPlane: 'missing' }
  const forced = but(going, { metadata: { annotations: { 'capt.appthrust.io/force-delete': 'true' } } })
  test.each<{ when: string; seen: Seen; says: string; does: string }>([
    {
      when: 'its apply is there',
      seen: alone,
      says: 'waits for WorkspaceTemplateApply team/demo-vpc: it is told to go',
      does: 'delete demo-vpc',
    },
    {
      when: 'a control plane that stays is in it',
      seen: { ...built, captCluster: going },
      says: 'waits for CAPTControlPlane team/demo, which is in this network and stays: delete the Cluster, or that first',
      does: '',
    },
    {
      when: 'a control plane is in it, and its VPC is none of ours',
      seen: {
        ...built,
        captCluster: but(going, { spec: { vpcTemplateRef: undefined, existingVpcId: 'vpc-0123456789abcdef0' } }),
        apply: undefined,
      },
      says: 'waits for CAPTControlPlane team/demo, which is in this network and stays: delete the Cluster, or that first',
      does: '',
    },
    {
      when: 'a control plane that goes is in it',
      seen: { ...built, captCluster: going, controlPlane: but(controlPlane, gone) },
      says: 'waits for CAPTControlPlane team/demo, which is in this network and goes first',
      does: '',
    },
    {
      when: 'its Cluster is gone, and a control plane is in it',
      seen: { ...built, captCluster: going, cluster: 'gone' },
      says: 'waits for CAPTControlPlane team/demo, which is in this network and stays: delete the Cluster, or that first',
      does: '',
    },
    {
      when: 'another provider looks after the control plane',
      seen: { ...alone, controlPlane: undefined },
      says: 'waits for WorkspaceTemplateApply team/demo-vpc: it is told to go',
      does: 'delete demo-vpc',
    },
    {
      when: 'a control plane is in it, but nothing was built',
      seen: seen({ captCluster: going }),
      says: 'everything is gone',
      does: free,
    },
    {
      when: 'it is forced, whatever is in it',
      seen: { ...built, captCluster: forced },
      says: 'waits for WorkspaceTemplateApply team/demo-vpc: it is told to go',
      does: 'tell ForceDeleted, patch demo-vpc, delete demo-vpc',
    },
    {
      when: 'it is forced, as its apply knows',
      seen: {
        ...built,
        captCluster: forced,
        apply: but(word, { metadata: { annotations: forced.metadata.annotations } }),
      },
      says: 'waits for WorkspaceTemplateApply team/demo-vpc: demo-eks uses it',
      does: '',
    },
    {
      when: 'its apply goes',
      seen: { ...built, captCluster: going, apply: word },
      says: 'waits for WorkspaceTemplateApply team/demo-vpc: demo-eks uses it',
      does: '',
    },
    {
      when: 'it came back from a backup without its apply',
      seen: seen({ captCluster: backed }),
      says: `WorkspaceTemplateApply team/demo-vpc built it (Workspace tf.m.upbound.io/demo-vpc) and did not come back: restore it, or, if nothing of it is left, begin anew with: kubectl annotate captclusters.infrastructure.cluster.x-k8s.io demo --namespace team ${annotations.workspace}-, ${orLeave}`,
      does: '',
    },
    {
      when: 'it came back without its apply, and is forced',
      seen: seen({
        captCluster: but(backed, {
          metadata: { annotations: { ...backed.metadata.annotations, [annotations.forceDelete]: 'true' } },
        }),
      }),
      says: 'what is there is left behind',
      does: `tell ForceDeleted, ${free}`,
    },
    {
      when: 'somebody took the finalizer from its apply, and what that built is there',
      seen: seen({ captCluster: going, left: aHeldWorkspace('demo-vpc') }),
      says: `WorkspaceTemplateApply team/demo-vpc is gone, but Workspace team/demo-vpc is not, nor what that built: have it destroyed (kubectl patch workspaces.tf.m.upbound.io demo-vpc --namespace team --type=merge --patch '{"metadata":{"finalizers":["finalizer.managedresource.crossplane.io"]}}' && kubectl delete workspaces.tf.m.upbound.io demo-vpc --namespace team), ${orLeave}`,
      does: '',
    },
    {
      when: 'the same, and that is being destroyed',
      seen: seen({ captCluster: going, left: but(aHeldWorkspace('demo-vpc'), gone) }),
      says: `WorkspaceTemplateApply team/demo-vpc is gone, but Workspace team/demo-vpc is not yet: waits until Terraform has destroyed what that built, ${orLeave}`,
      does: '',
    },
    {
      when: 'the same, and that is paused, for it may have been moved',
      seen: seen({ captCluster: going, left: but(aHeldWorkspace('demo-vpc'), noted('crossplane.io/paused', 'true')) }),
      says: `WorkspaceTemplateApply team/demo-vpc is gone, but Workspace team/demo-vpc is not, nor what that built, and it is paused: bring the apply back, ${orLeave}`,
      does: '',
    },
    {
      when: 'the same, and it is forced',
      seen: seen({ captCluster: forced, left: aHeldWorkspace('demo-vpc') }),
      says: 'what is there is left behind',
      does: `tell ForceDeleted, ${free}`,
    },
    {
      when: 'the same, and it is retained',
      seen: seen({ captCluster: but(going, { spec: { retainOnDelete: true } }), left: aHeldWorkspace('demo-vpc') }),
      says: 'everything is gone',
      does: free,
    },
    {
      when: 'it just came back, with its apply',
      seen: { ...alone, captCluster: backed },
      says: 'waits for WorkspaceTemplateApply team/demo-vpc: it is told to go',
      does: 'patch CAPTCluster team/demo, delete demo-vpc',
    },
    { when: 'its apply is gone', seen: seen({ captCluster: going }), says: 'everything is gone', does: free },
    {
      when: "another's apply has the name",
      seen: seen({ captCluster: going, taken: aVpc('done') }),
      says: 'everything is gone',
      does: free,
    },
    {
      when: 'its Cluster is gone',
      seen: { ...built, captCluster: going, cluster: 'gone', controlPlane: 'missing' },
      says: 'waits for WorkspaceTemplateApply team/demo-vpc: it is told to go',
      does: 'delete demo-vpc',
    },
    {
      when: 'it never had one',
      seen: seen({ captCluster: going, cluster: 'none' }),
      says: 'everything is gone',
      does: free,
    },
    {
      when: 'it is paused',
      seen: { ...built, captCluster: going, cluster: paused },
      says: 'waits while it is paused: Cluster team/demo is paused (spec.paused)',
      does: '',
    },
    {
      when: 'clusterctl has moved it',
      seen: { ...built, captCluster: but(going, noted('clusterctl.cluster.x-k8s.io/delete-for-move')) },
      says: '',
      does: '',
    },
  ])('and $when', ({ seen: given, says, does }) => {
    const plan = decide(given)
    expect(plan.conditions.find(({ type }) => type === 'Deleting')?.message ?? '').toBe(says)
    expect(doesOf(plan)).toBe(does)
  })

  test('its finalizers hold until a live read finds no apply, but not for that of another', () => {
    const held = (plan: Plan) =>
      plan.effects.flatMap((each) => (each.do === 'removeFinalizer' ? [each.onceGone.map(({ key }) => key.name)] : []))
    expect(held(decide(seen({ captCluster: going })))).toEqual([['demo-vpc'], ['demo-vpc']])
    expect(held(decide(seen({ captCluster: going, taken: aVpc('done') })))).toEqual([[], []])
  })
})

describe('what Cluster API reads', () => {
  test('is there once the network is', () => {
    expect(decide(seen({ apply: aVpc('done') })).status).toMatchObject({
      ready: true,
      vpcId,
      initialization: { provisioned: true },
      failureDomains: [
        { name: 'a', controlPlane: true },
        { name: 'b', controlPlane: true },
      ],
    })
  })

  test.each<[string, unknown, unknown]>([
    ['each zone once, though there are more subnets', ['a', 'b', 'a'], ['a', 'b']],
    ['no zone without a name', ['', 'a'], ['a']],
    ['nothing of what is no list of names', 'a', undefined],
  ])('names %s', (_, azs, names) => {
    const { status = {} } = decide(seen({ apply: aVpc('done', { ...vpcOutputs, azs }) }))
    const zones = status['failureDomains'] as { name: string }[] | undefined
    expect(zones?.map(({ name }) => name)).toEqual(names)
  })

  test('has no VPC that is gone, and stays provisioned', () => {
    const { status } = decide({ ...built, apply: aVpc('running') })
    expect(status).toMatchObject({ ready: false, vpcId: null })
    expect(status).not.toHaveProperty('initialization')
  })

  test('has nothing of failures that the predecessor left there for good', () => {
    const captCluster = but(known, { status: { failureReason: 'VPCReconciliationFailed', failureMessage: 'x' } })
    expect(decide({ ...built, captCluster }).status).toMatchObject({ failureReason: null, failureMessage: null })
    expect(decide(built).status).not.toHaveProperty('failureReason')
  })

  test('has nothing of failures that pass', () => {
    const text = JSON.stringify(decide(seen({ apply: aVpc('failed') })).status)
    expect(text).not.toContain('failureReason')
    expect(text).toContain('"lastFailureMessage":"WorkspaceTemplateApply team/demo-vpc: quota: VpcLimitExceeded"')
  })
})

const every: readonly Seen[] = [network, known, existing, but(network, { spec: { existingVpcId: vpcId } })].flatMap(
  (object) =>
    [{}, gone, { metadata: { finalizers: [] } }, noted('cluster.x-k8s.io/paused')].flatMap((mark) =>
      (['none', 'gone', cluster, paused] as const).flatMap((of) =>
        [
          undefined,
          ...(['new', 'running', 'failed', 'held', 'done'] as const).map((run) => aVpc(run)),
          but(aVpc('done'), gone),
        ].flatMap((apply) =>
          (apply ? [undefined] : [undefined, aVpc('done')]).flatMap((taken) =>
            ([undefined, 'missing', controlPlane] as const).map((beside) => ({
              captCluster: but(object, mark),
              now,
              accountOfTemplate: undefined,
              cluster: of,
              apply,
              taken,
              left: undefined,
              controlPlane: beside,
            })),
          ),
        ),
      ),
    ),
)
const isLeaving = ({ captCluster: { metadata } }: Seen) => metadata.deletionTimestamp !== undefined
const isDoing = ({ effects }: Plan, what: Effect['do']) => effects.some((each) => each.do === what)

test('it looks again when the control plane has not come', () => {
  expect(decide(seen({ captCluster: justBorn, controlPlane: 'missing' })).wake).toEqual({ afterSeconds: 7 })
})

test.each<[string, (plan: Plan, seen: Seen) => boolean]>([
  ['it acts or says why it waits', ({ effects, conditions }) => effects.length + conditions.length > 0],
  [
    'it deletes only what leaves, or what is let go with all it built',
    (plan, given) =>
      !isDoing(plan, 'delete') ||
      isLeaving(given) ||
      (given.captCluster.spec.existingVpcId !== undefined && isDoing(plan, 'patch')),
  ],
  [
    'it does not leave before its apply',
    (plan, given) => !isLeaving(given) || !isDoing(plan, 'removeFinalizer') || given.apply === undefined,
  ],
  ['what was provisioned stays so', ({ status }) => !JSON.stringify(status ?? {}).includes('"provisioned":false')],
  ['what it only promises it says so', promisesOnly],
  [
    'it says only what it has words for',
    ({ conditions }) => conditions.every(({ type }) => Object.keys(CAPTCluster.words).includes(type)),
  ],
  [
    'what is not so names an object or a field',
    ({ conditions }) =>
      conditions.every(
        ({ type, status, message }) =>
          status !== 'False' ||
          ['Paused', 'Deleting'].includes(type) ||
          /WorkspaceTemplateApply|spec\.|Cluster|template|everything is gone/.test(message),
      ),
  ],
])('in every situation %s', (_, holds) => {
  expect(every.filter((each) => !holds(decide(each), each))).toEqual([])
})
