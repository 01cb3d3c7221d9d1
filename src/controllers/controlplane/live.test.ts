import { describe, expect, test } from 'vitest'
import { condition, messageOf } from '../../../test/applies.ts'
import {
  all,
  anEks,
  ask,
  awaiting,
  building,
  built,
  but,
  cluster,
  copies,
  eksOutputs,
  ensure,
  existing,
  fresh,
  late,
  network,
  no,
  noted,
  ofCP,
  plainly,
  point,
  runs,
  saysOf,
  serving,
  spot,
  tokens,
  unprovisioned,
  waitingSeen,
  withSecrets,
} from '../../../test/controlplanes.ts'
import { annotations } from '../../api/keys.ts'
import { decide } from './decide.ts'
import type { Seen } from './seen.ts'

const does = (seen: Seen) => plainly(decide(seen))
const asking = (variables: object) =>
  but(anEks('done'), { spec: { variables: { kubernetes_version: '1.34', ...variables } } })
const [owner] = waitingSeen.controlPlane.metadata.ownerReferences ?? []
const ofDots = (eksClusterName: string | undefined) =>
  ofCP(waitingSeen, { metadata: { ownerReferences: [{ ...owner, name: 'prod.eu' }] }, spec: { eksClusterName } })
const ranged = but(cluster, { spec: { clusterNetwork: { services: { cidrBlocks: ['10.97.0.0/16'] } } } })
const networkSaying = (reason: string) =>
  but(network, { status: { conditions: [condition('VPCReady', 'False', reason, { message: 'why' })] } })

describe('what becomes of EKS', () => {
  test.each<{ when: string; seen: Seen; says: string; does: string }>([
    {
      when: 'somebody else manages it',
      seen: ofCP(serving, noted('cluster.x-k8s.io/managed-by')),
      says: ' ',
      does: '',
    },
    { when: 'Cluster API has not claimed it', seen: { ...waitingSeen, cluster: 'none' }, says: ' ', does: '' },
    { when: 'its Cluster is gone', seen: { ...serving, cluster: 'gone' }, says: ' ', does: '' },
    {
      when: 'it came back from a backup, and its apply did not yet',
      seen: ofCP(waitingSeen, noted(annotations.workspace, 'tf.m.upbound.io/demo-eks-controlplane')),
      says: 'ApplyMissing NotCreated',
      does: '',
    },
    {
      when: 'its apply has a Workspace',
      seen: { ...building, eks: but(anEks('running'), noted(annotations.workspace, 'tf.m.upbound.io/demo-eks')) },
      says: 'Applying NotCreated',
      does: `${point}, ${ask}`,
    },
    {
      when: 'the network is not there',
      seen: { ...waitingSeen, cluster: unprovisioned },
      says: 'WaitingForClusterInfrastructureReady WaitingForClusterInfrastructureReady',
      does: '',
    },
    {
      when: 'the network takes too long',
      seen: { ...ofCP(waitingSeen, late), cluster: unprovisioned },
      says: 'VPCReadyTimeout NotCreated',
      does: '',
    },
    { when: 'the network is there', seen: waitingSeen, says: 'Applying NotCreated', does: ask },
    {
      when: 'it has no name in EKS yet',
      seen: ofCP(waitingSeen, { spec: { eksClusterName: undefined } }),
      says: 'Applying NotCreated',
      does: `${point}, ${ask}`,
    },
    {
      when: 'the infrastructure is of another provider',
      seen: { ...waitingSeen, network: undefined },
      says: 'Applying NotCreated',
      does: ask,
    },
    {
      when: 'the network of one that serves is not there any more',
      seen: { ...serving, network: 'missing' },
      says: 'NetworkMissing Available',
      does: '',
    },
    {
      when: 'the network was there, and is not any more',
      seen: { ...waitingSeen, network: 'missing' },
      says: 'NetworkMissing NotCreated',
      does: '',
    },
    {
      when: 'the network was never there',
      seen: { ...waitingSeen, network: 'missing', cluster: unprovisioned },
      says: 'WaitingForClusterInfrastructureReady WaitingForClusterInfrastructureReady',
      does: '',
    },
    {
      when: 'its network is made again in another region',
      seen: { ...serving, eks: asking({ region: 'eu-west-1' }) },
      says: 'RegionMismatch Available',
      does: '',
    },
    {
      when: 'it is to be in another region',
      seen: ofCP(waitingSeen, { spec: { controlPlaneConfig: { region: 'eu-west-1' } } }),
      says: 'RegionMismatch NotCreated',
      does: '',
    },
    {
      when: 'it names the region of the network',
      seen: ofCP(waitingSeen, { spec: { controlPlaneConfig: { region: 'ap-northeast-1' } } }),
      says: 'Applying NotCreated',
      does: ask,
    },
    {
      when: 'an existing VPC has no subnets',
      seen: { ...waitingSeen, network: existing() },
      says: 'SubnetsMissing NotCreated',
      does: '',
    },
    {
      when: 'an existing VPC has some',
      seen: { ...waitingSeen, network: existing({ existingSubnets: { private: ['subnet-0123456789abcdef0'] } }) },
      says: 'Applying NotCreated',
      does: ask,
    },
    {
      when: 'another has its name in EKS',
      seen: { ...waitingSeen, claimedBy: { namespace: 'rich', name: 'demo' } },
      says: 'NameClaimed NotCreated',
      does: '',
    },
    {
      when: "its tokens would open another's cluster",
      seen: { ...waitingSeen, namesake: { namespace: 'rich', name: 'demo' } },
      says: 'NameClaimed NotCreated',
      does: '',
    },
    {
      when: "its tokens would open another's cluster, and it is built",
      seen: { ...building, namesake: { namespace: 'rich', name: 'demo' } },
      says: 'Applying NotCreated',
      does: ask,
    },
    {
      when: 'EKS has no names like that of its Cluster',
      seen: ofDots(undefined),
      says: 'NameInvalid NotCreated',
      does: '',
    },
    {
      when: 'EKS has no names like that of its Cluster, and it has another there',
      seen: ofDots('prod-eu'),
      says: 'Applying NotCreated',
      does: ask,
    },
    {
      when: "another's apply has the name",
      seen: { ...waitingSeen, taken: anEks('done') },
      says: 'NameTaken NotCreated',
      does: '',
    },
    {
      when: 'the spot role is not asked for yet',
      seen: ofCP(waitingSeen, ensure),
      says: 'WaitingForSpotRole NotCreated',
      does: 'apply spot-role-default',
    },
    {
      when: 'the spot role is not there yet',
      seen: { ...ofCP(waitingSeen, ensure), spotRole: spot('running') },
      says: 'WaitingForSpotRole NotCreated',
      does: 'apply spot-role-default',
    },
    {
      when: 'the spot role failed',
      seen: { ...ofCP(waitingSeen, ensure), spotRole: spot('failed') },
      says: 'WaitingForSpotRole NotCreated',
      does: 'apply spot-role-default',
    },
    {
      when: 'the spot role is there',
      seen: { ...ofCP(waitingSeen, ensure), spotRole: spot('done') },
      says: 'Applying NotCreated',
      does: `apply spot-role-default, ${ask}`,
    },
    {
      when: 'the spot role fails later',
      seen: { ...ofCP(serving, ensure), spotRole: spot('failed') },
      says: 'Converged Available',
      does: `apply spot-role-default, ${ask}`,
    },
    { when: 'Terraform is at work', seen: building, says: 'Applying NotCreated', does: ask },
    {
      when: 'Terraform takes too long',
      seen: { ...building, now: new Date('2026-11-16T12:29:00Z') },
      says: 'ControlPlaneTimeout NotCreated',
      does: ask,
    },
    {
      when: 'Terraform is at work again after a long time in which it failed',
      seen: {
        ...building,
        now: new Date('2026-11-16T12:29:00Z'),
        eks: but(anEks('running'), { status: { applyingSince: '2026-11-16T12:28:00Z' } }),
      },
      says: 'Applying NotCreated',
      does: ask,
    },
    {
      when: 'a first run at another version fails',
      seen: ofCP({ ...waitingSeen, eks: anEks('failed') }, { spec: { version: 'v1.36.0' } }),
      says: 'TerraformFailed NotCreated',
      does: ask,
    },
    {
      when: 'an older version is asked for while it is built',
      seen: ofCP(building, { spec: { version: 'v1.33.0' } }),
      says: 'DowngradeNotAllowed NotCreated',
      does: ask,
    },
    {
      when: 'it is to be in another account',
      seen: ofCP(serving, { spec: { providerConfigRef: { kind: 'ClusterProviderConfig', name: 'acme' } } }),
      says: 'ProviderConfigChanged Available',
      does: ask,
    },
    {
      when: 'the Cluster changes the range of Services',
      seen: { ...serving, cluster: ranged },
      says: 'Converged Available',
      does: ask,
    },
    {
      when: 'Terraform failed',
      seen: { ...waitingSeen, eks: anEks('failed') },
      says: 'TerraformFailed NotCreated',
      does: ask,
    },
    {
      when: 'a plan is held',
      seen: { ...waitingSeen, eks: anEks('held') },
      says: 'ApprovalRequired NotCreated',
      does: ask,
    },
    {
      when: 'all is there for the first time',
      seen: built,
      says: 'Converged Available',
      does: `${all}, ${point}, ${ask}`,
    },
    { when: 'nothing is new', seen: serving, says: 'Converged Available', does: ask },
    {
      when: 'a later network is not ready',
      seen: { ...serving, cluster: unprovisioned },
      says: 'Converged Available',
      does: ask,
    },
    {
      when: 'an upgrade is asked for',
      seen: ofCP(serving, { spec: { version: 'v1.35.0' } }),
      says: 'Applying Available',
      does: ask,
    },
    {
      when: 'an upgrade runs',
      seen: { ...ofCP(serving, { spec: { version: 'v1.35.0' } }), eks: runs('1.34', 'running') },
      says: 'Applying Available',
      does: ask,
    },
    {
      when: 'an upgrade failed',
      seen: { ...ofCP(serving, { spec: { version: 'v1.35.0' } }), eks: runs('1.34', 'failed') },
      says: 'TerraformFailed Available',
      does: ask,
    },
    {
      when: 'an older version is asked for',
      seen: ofCP(serving, { spec: { version: 'v1.33.0' } }),
      says: 'DowngradeNotAllowed Available',
      does: ask,
    },
    {
      when: 'somebody deletes the apply',
      seen: { ...serving, eks: awaiting(anEks('done')), inside: { is: 'clean' } },
      says: 'NotApplied Available',
      does: 'patch demo-eks-controlplane', // it may go on
    },
    {
      when: 'somebody deletes the apply, and something is left in the cluster',
      seen: {
        ...serving,
        eks: awaiting(anEks('done')),
        inside: { is: 'left', services: ['default/web'] },
      },
      says: 'NotApplied Available',
      does: '',
    },
    {
      when: 'the API server is silent',
      seen: withSecrets(serving, { answer: no('no answer') }),
      says: 'Converged NotAnswering',
      does: ask,
    },
  ])('when $when', ({ seen, says, does: deeds }) => {
    expect(saysOf(decide(seen), 'EKSApplied', 'Available')).toBe(says)
    expect(does(seen)).toBe(deeds)
  })

  test.each<[string, Seen, string, string]>([
    ['the network', { ...waitingSeen, cluster: unprovisioned }, 'EKSApplied', 'CAPTCluster team/demo'],
    [
      'what stops the network',
      { ...waitingSeen, cluster: unprovisioned, network: networkSaying('VPCCreationFailed') },
      'EKSApplied',
      'CAPTCluster team/demo: why',
    ],
    [
      'no step of a network that comes along',
      { ...waitingSeen, cluster: unprovisioned, network: networkSaying('VPCCreating') },
      'EKSApplied',
      'it does not say yet that CAPTCluster team/demo is provisioned',
    ],
    [
      'the network that is not there',
      { ...serving, network: 'missing' },
      'Available',
      'it serves, but CAPTCluster team/demo, which the Cluster names in spec.infrastructureRef, is not there',
    ],
    [
      'both regions',
      ofCP(waitingSeen, { spec: { controlPlaneConfig: { region: 'eu-west-1' } } }),
      'EKSApplied',
      'is eu-west-1, but CAPTCluster team/demo is in ap-northeast-1',
    ],
    [
      'who has the name',
      { ...waitingSeen, claimedBy: { namespace: 'rich', name: 'demo' } },
      'EKSApplied',
      'CAPTControlPlane rich/demo',
    ],
    [
      'whose cluster its tokens would open',
      { ...waitingSeen, namesake: { namespace: 'rich', name: 'demo' } },
      'EKSApplied',
      'CAPTControlPlane rich/demo, too: set spec.eksClusterName to another name, or spec.kubeconfig.aws.roleARN to a role of your own',
    ],
    ['what to name it in EKS', ofDots(undefined), 'Available', 'set spec.eksClusterName'],
    ['what EKS cannot change', { ...serving, cluster: ranged }, 'EKSApplied', 'EKS cannot change it to 10.97.0.0/16'],
    [
      'what it waits for before the next version',
      ofCP({ ...waitingSeen, eks: anEks('failed') }, { spec: { version: 'v1.36.0' } }),
      'EKSApplied',
      'VpcLimitExceeded. EKS may run Kubernetes 1.34 already: 1.36 is asked for once that has converged',
    ],
    [
      'what it was begun with',
      ofCP(building, { spec: { version: 'v1.33.0' } }),
      'EKSApplied',
      'EKS was asked for 1.34, and 1.33 is older',
    ],
    [
      'how long it is not done',
      { ...building, now: new Date('2026-11-16T12:29:00Z') },
      'EKSApplied',
      'not done for more than 30 minutes',
    ],
    [
      'how long Terraform is at work',
      {
        ...building,
        now: new Date('2026-11-16T12:59:00Z'),
        eks: but(anEks('running'), { status: { applyingSince: '2026-11-16T12:28:00Z' } }),
      },
      'EKSApplied',
      'at work for more than 30 minutes',
    ],
    ['what lacks a Cluster', { ...waitingSeen, cluster: 'none' }, 'Ready', 'spec.controlPlaneRef'],
    [
      'how to go back',
      ofCP(serving, { spec: { version: 'v1.33.0' } }),
      'EKSApplied',
      'capt.appthrust.io/allow-downgrade',
    ],
    ['what Terraform said', { ...waitingSeen, eks: anEks('failed') }, 'Available', 'VpcLimitExceeded'],
    [
      'that the template does not follow',
      {
        ...ofCP(serving, { spec: { version: 'v1.34.0' } }),
        eks: but(runs('1.33'), { spec: { variables: { kubernetes_version: '1.34' } } }),
      },
      'EKSApplied',
      'output cluster_version is 1.33 still',
    ],
  ])('it names %s', (_, seen, type, message) => {
    expect(messageOf(decide(seen), type)).toContain(message)
  })

  test('what is done for the Secrets comes first: it does not wait until Terraform can be asked', () => {
    const due = withSecrets(ofCP(serving, ensure), { copies: copies({ dueIn: 0 }), credential: fresh() })
    expect(does({ ...due, spotRole: spot('done') })).toBe(`${tokens}, apply spot-role-default, ${ask}`)
  })

  test('a Cluster that is gone destroys nothing', () => {
    expect(decide({ ...serving, cluster: 'gone' })).toMatchObject({ effects: [], others: 'stay' })
  })

  test('an apply of another lends it neither its kubeconfig nor its version', () => {
    const plan = decide({ ...waitingSeen, taken: anEks('done') })
    expect(plan.status).toMatchObject({ phase: 'Creating', ready: false })
    expect(plan.status).not.toHaveProperty('version')
  })
})

describe('what Cluster API reads', () => {
  test('of a cluster that serves', () => {
    expect(decide(built).status).toMatchObject({
      externalManagedControlPlane: true,
      initialization: { controlPlaneInitialized: true },
      version: 'v1.34.0',
      versions: [{ version: 'v1.34.0' }],
      phase: 'Ready',
      ready: true,
      initialized: true,
      secretsReady: true,
      workspaceStatus: { ready: true, atProvider: { outputs: eksOutputs } },
    })
  })
  test.each<[string, Seen, object]>([
    ['waits', waitingSeen, { phase: 'Creating', ready: false, initialized: false }],
    ['failed', { ...waitingSeen, eks: anEks('failed') }, { phase: 'Failed', ready: false }],
    ['has no name', { ...waitingSeen, claimedBy: { name: 'x' } }, { phase: 'Failed' }],
    [
      'is silent for now',
      withSecrets(serving, { answer: no('x') }),
      { phase: 'Creating', ready: false, initialized: true, initialization: { controlPlaneInitialized: true } },
    ],
  ])('of one that %s', (_, seen, status) => {
    expect(decide(seen).status).toMatchObject(status)
  })
  test('no failure that the predecessor left there for good', () => {
    const plan = decide(ofCP(serving, { status: { failureReason: 'SecretError' } }))
    expect(plan.status).toMatchObject({ failureReason: null })
    expect(plan.status).not.toHaveProperty('failureMessage')
  })
  test('a version only once there is one', () => {
    expect(decide(building).status).not.toHaveProperty('version')
  })
  test.each<[string, string, string, string, string]>([
    ['v1.36.0', '1.34', 'v1.34', 'RollingOut', 'from Kubernetes 1.34 to 1.36, 1.35 first'],
    ['v1.35.0', '1.34', 'v1.34', 'RollingOut', 'from Kubernetes 1.34 to 1.35'],
    ['v1.34.7', '1.34', 'v1.34.7', 'NotRollingOut', ''],
    ['v1.33.0', '1.34', 'v1.34', 'NotRollingOut', ''],
  ])('asked for %s and running %s it reports %s, %s', (version, runsNow, reported, rolling, message) => {
    const plan = decide({ ...ofCP(serving, { spec: { version } }), eks: runs(runsNow) })
    expect(plan.status).toMatchObject({ version: reported, versions: [{ version: reported }] })
    expect(saysOf(plan, 'RollingOut')).toBe(rolling)
    expect(messageOf(plan, 'RollingOut')).toContain(message)
  })
})
