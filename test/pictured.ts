// Clusters of CAPT's kinds at every stage of a life, as their controllers say it: what `capt tree` draws.
import fc from 'fast-check'
import { CAPTCluster } from '../src/api/captcluster.ts'
import { CAPTControlPlane } from '../src/api/captcontrolplane.ts'
import type { Condition, Words } from '../src/api/condition.ts'
import { clusterNameLabel } from '../src/api/contract.ts'
import { annotations } from '../src/api/keys.ts'
import type { KubeObject, ObjectMeta } from '../src/api/resource.ts'
import { WorkspaceTemplateApply } from '../src/api/workspacetemplateapply.ts'
import type { Situation } from '../src/view/situation.ts'

export const now = new Date('2026-11-17T12:00:00Z')
export const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString()

export type Object = KubeObject & { readonly spec?: object; readonly status?: object }

interface Made extends Partial<ObjectMeta> {
  readonly spec?: object
  readonly status?: object
  readonly ownedBy?: KubeObject
  readonly says?: readonly Partial<Condition>[]
}

// A condition of so many minutes.
export function says(type: string, status: Condition['status'], reason: string, message = '', minutes = 3) {
  return { type, status, reason, message, lastTransitionTime: ago(minutes), observedGeneration: 1 }
}

// Only what the kind can say.
function word(kind: { readonly words: Words }, type: string, reason: string, message = '', minutes = 3) {
  const status = kind.words[type]?.[reason]
  if (status === undefined) throw new Error(`there is no ${type}=${reason}`)
  return says(type, status, reason, message, minutes)
}
export const network = (type: keyof typeof CAPTCluster.words, reason: string, message = '', minutes = 3) =>
  word(CAPTCluster, type, reason, message, minutes)
export const plane = (type: keyof typeof CAPTControlPlane.words, reason: string, message = '', minutes = 3) =>
  word(CAPTControlPlane, type, reason, message, minutes)
export const applied = (type: keyof typeof WorkspaceTemplateApply.words, reason: string, message = '', minutes = 3) =>
  word(WorkspaceTemplateApply, type, reason, message, minutes)

export function made(
  apiVersion: string,
  kind: string,
  name: string,
  { spec, status, ownedBy, says: said, ...meta }: Made = {},
): Object {
  const uid = `${kind}-${name}`
  const owners = ownedBy && [
    {
      apiVersion: ownedBy.apiVersion,
      kind: ownedBy.kind,
      name: ownedBy.metadata.name,
      uid: ownedBy.metadata.uid ?? '',
    },
  ]
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace: 'default',
      uid,
      generation: 1,
      creationTimestamp: ago(60),
      ...(owners && { ownerReferences: owners }),
      ...meta,
    },
    ...(spec && { spec }),
    ...((status || said) && { status: { ...status, ...(said && { conditions: said }) } }),
  }
}

const core = 'cluster.x-k8s.io/v1beta2'
const infra = 'infrastructure.cluster.x-k8s.io/v1beta1'
const control = 'controlplane.cluster.x-k8s.io/v1beta1'

export function theCluster(given: Made = {}): Object {
  return made(core, 'Cluster', 'demo', {
    ...given,
    spec: {
      infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'CAPTCluster', name: 'demo' },
      controlPlaneRef: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'CAPTControlPlane', name: 'demo' },
      controlPlaneEndpoint: { host: 'A1B2.gr7.ap-northeast-1.eks.amazonaws.com', port: 443 },
      ...given.spec,
    },
  })
}

const cluster = theCluster()
export const theNetwork = (...said: readonly Partial<Condition>[]) =>
  made(infra, 'CAPTCluster', 'demo', { ownedBy: cluster, says: said })
export const thePlane = (given: Made = {}) =>
  made(control, 'CAPTControlPlane', 'demo', {
    ownedBy: cluster,
    ...given,
    status: { version: 'v1.34.2', ...given.status },
  })

export function anApply(name: string, given: Made = {}): Object {
  return made(infra, 'WorkspaceTemplateApply', name, {
    annotations: { [annotations.workspace]: `tf.m.upbound.io/${name}` },
    ...given,
  })
}

export function aWorkspaceOf(name: string, ...said: readonly Partial<Condition>[]): Object {
  return made('tf.m.upbound.io/v1beta1', 'Workspace', name, {
    annotations: { [annotations.apply]: `default/${name}` },
    finalizers: ['finalizer.managedresource.crossplane.io'],
    spec: { forProvider: { source: 'Inline', module: '' } },
    ...(said.length > 0 && { says: said }),
  })
}

const synced = says('Synced', 'True', 'ReconcileSuccess', '', 30)
export const isReady = [synced, says('Ready', 'True', 'Available', '', 30)]

export function aSecret(name: string, given: Made = {}): Object {
  return made('v1', 'Secret', name, { labels: { [clusterNameLabel]: 'demo' }, ownedBy: thePlane(), ...given })
}

const expires = { annotations: { [annotations.tokenExpires]: new Date(now.getTime() + 12 * 60_000).toISOString() } }
export const fourSecrets = [
  aSecret('demo-kubeconfig', expires),
  aSecret('demo-control-plane-kubeconfig', expires),
  aSecret('demo-user-kubeconfig'),
  aSecret('demo-ca'),
]

export function situation(...objects: readonly KubeObject[]): Situation {
  return { namespace: 'default', name: 'demo', objects, unseen: [] }
}

const available = says('Available', 'True', 'Available', '', 90)
const notAvailable = (message: string) => says('Available', 'False', 'NotAvailable', message, 20)
const networkThere = theNetwork(network('Ready', 'Provisioned', '', 110), network('VPCReady', 'VPCCreated', '', 110))
const vpcThere = [
  networkThere,
  anApply('demo-vpc', { ownedBy: networkThere, says: [applied('Ready', 'Ready', '', 110)] }),
  aWorkspaceOf('demo-vpc', ...isReady),
]
const planeThere = thePlane({
  says: [
    plane('Available', 'Available', '', 95),
    plane('EKSApplied', 'Converged', '', 95),
    plane('SecretsReady', 'Ready', '', 95),
    plane('EndpointReady', 'Known', '', 95),
    plane('SpotRoleReady', 'Ignored', '', 95),
    plane('RollingOut', 'NotRollingOut', '', 95),
  ],
})
const eks = (...said: readonly Partial<Condition>[]) =>
  anApply('demo-eks-controlplane', { ownedBy: planeThere, says: said })
const eksThere = [planeThere, eks(applied('Ready', 'Ready', '', 95)), aWorkspaceOf('demo-eks-controlplane', ...isReady)]
const planeWaits = thePlane({
  status: {},
  says: [
    plane('Available', 'WaitingForClusterInfrastructureReady', 'waits until the network is there', 20),
    says('EKSApplied', 'Unknown', 'NotYetKnown', '', 20),
  ],
})
const quota =
  'creating EC2 VPC (aws_vpc.this, main.tf line 12): VpcLimitExceeded: The maximum number of VPCs has been reached. (quota: raise the quota in Service Quotas of the AWS account, or remove what is no longer needed)'
const failedApply = (name: string, ownedBy: KubeObject, message: string, failureClass = 'quota') =>
  anApply(name, {
    ownedBy,
    says: [applied('Ready', 'TerraformFailed', message), applied('Applied', 'TerraformFailed', message)],
    status: { failure: { class: failureClass, text: 'all of it' } },
  })
const failedWorkspace = (name: string) =>
  aWorkspaceOf(name, says('Synced', 'False', 'ReconcileError', 'create failed: Error: creating EC2 VPC'))
const upgradeFailed =
  'waiting for EKS Cluster (demo) version update: unexpected state Failed (it is tried again; status.failure.text has the whole error)'

const coreSays = [
  '* RemoteConnectionProbe: Remote connection not established yet',
  '* InfrastructureReady: VPC is being created',
  '* ControlPlaneAvailable: waits until the network is there',
].join('\n')
const notYet = theCluster({ spec: { controlPlaneEndpoint: {} }, says: [notAvailable(coreSays)] })

const approval =
  'the plan has 1 to replace (aws_eks_cluster.this). To approve: kubectl annotate workspacetemplateapply demo-eks-controlplane --namespace default --overwrite capt.appthrust.io/approve=4f2a'

const networkComing = (message = '') =>
  theNetwork(network('Ready', 'NotProvisioned', '', 20), network('VPCReady', 'VPCCreating', message, 20))
const going = { deletionTimestamp: ago(5) }

// Each a situation that a user meets.
export const clusters: Readonly<Record<string, Situation>> = {
  'all is there': situation(theCluster({ says: [available] }), ...vpcThere, ...eksThere, ...fourSecrets),
  'a Cluster that nobody has looked at yet': situation(
    made(core, 'Cluster', 'demo', { spec: theCluster().spec ?? {} }),
    made(infra, 'CAPTCluster', 'demo'),
    made(control, 'CAPTControlPlane', 'demo'),
  ),
  'the network is planned': situation(
    notYet,
    networkComing(),
    anApply('demo-vpc', {
      ownedBy: networkComing(),
      says: [applied('Ready', 'Planning', 'Terraform finds out what there is to do', 0.2)],
    }),
    aWorkspaceOf('demo-vpc'),
    planeWaits,
  ),
  'the network is built': situation(
    notYet,
    networkComing('Terraform builds it for the first time: 23 to create'),
    anApply('demo-vpc', {
      ownedBy: networkComing(),
      says: [applied('Ready', 'Creating', 'Terraform builds it for the first time: 23 to create')],
      status: { applyingSince: ago(1.5) },
    }),
    aWorkspaceOf('demo-vpc', says('Ready', 'False', 'Creating')),
    planeWaits,
  ),
  'EKS is built': situation(
    theCluster({
      spec: { controlPlaneEndpoint: {} },
      says: [notAvailable('* ControlPlaneAvailable: Terraform builds it for the first time: 41 to create')],
    }),
    ...vpcThere,
    thePlane({
      status: {},
      says: [
        plane('Available', 'NotCreated', '', 9),
        plane('EKSApplied', 'Applying', 'Terraform builds it for the first time: 41 to create', 9),
        plane('SecretsReady', 'WaitingForSecret', 'waits for the outputs of Terraform', 9),
      ],
    }),
    anApply('demo-eks-controlplane', {
      ownedBy: planeThere,
      says: [applied('Ready', 'Creating', 'Terraform builds it for the first time: 41 to create', 9)],
    }),
    aWorkspaceOf('demo-eks-controlplane', says('Ready', 'False', 'Creating')),
  ),
  'EKS is there and core cannot reach it': situation(
    theCluster({
      says: [
        notAvailable(
          '* RemoteConnectionProbe: Remote connection probe failed, probe last succeeded at 2026-11-17T11:40:00Z',
        ),
        says('ControlPlaneAvailable', 'True', 'Available'),
      ],
    }),
    ...vpcThere,
    ...eksThere,
    ...fourSecrets,
  ),
  'the VPC failed': situation(
    notYet,
    theNetwork(network('Ready', 'NotProvisioned', '', 20), network('VPCReady', 'VPCCreationFailed', quota)),
    failedApply('demo-vpc', networkThere, quota),
    failedWorkspace('demo-vpc'),
    planeWaits,
  ),
  'a lock is in the way': situation(
    notYet,
    theNetwork(network('Ready', 'NotProvisioned', '', 20), network('VPCReady', 'VPCCreationFailed', 'see the apply')),
    failedApply(
      'demo-vpc',
      networkThere,
      'Error acquiring the state lock: held by engine-1 since yesterday (lock: wait until the run that holds it ends; if that run is gone for sure, release the lock: kubectl annotate workspacetemplateapply demo-vpc --namespace default --overwrite capt.appthrust.io/unlock=1a-2b)',
      'lock',
    ),
    failedWorkspace('demo-vpc'),
    planeWaits,
  ),
  'an upgrade of EKS failed, and the cluster serves on': situation(
    theCluster({ says: [available] }),
    ...vpcThere,
    thePlane({
      says: [plane('Available', 'Available', '', 95), plane('EKSApplied', 'TerraformFailed', upgradeFailed)],
    }),
    failedApply('demo-eks-controlplane', planeThere, upgradeFailed, 'unknown'),
    failedWorkspace('demo-eks-controlplane'),
    ...fourSecrets,
  ),
  'an upgrade of EKS runs': situation(
    theCluster({ says: [available] }),
    ...vpcThere,
    thePlane({
      says: [
        plane('Available', 'Available', '', 95),
        plane('EKSApplied', 'Applying', 'Terraform carries a change out: 1 to update'),
        plane('RollingOut', 'RollingOut', 'from v1.33 to v1.34'),
      ],
    }),
    eks(applied('Ready', 'Applying', 'Terraform carries a change out: 1 to update')),
    aWorkspaceOf('demo-eks-controlplane', ...isReady),
    ...fourSecrets,
  ),
  'the kubeconfigs cannot be made': situation(
    theCluster({ says: [notAvailable('* ControlPlaneAvailable: the token was refused')] }),
    ...vpcThere,
    thePlane({
      says: [
        plane('Available', 'NotAnswering', 'the API server has not answered yet', 6),
        plane('EKSApplied', 'Converged', '', 6),
        plane(
          'SecretsReady',
          'Failed',
          'Secret default/demo-kubeconfig is controlled by another owner: remove it, and it is made again',
          5,
        ),
      ],
    }),
    eks(applied('Ready', 'Ready', '', 6)),
    aWorkspaceOf('demo-eks-controlplane', ...isReady),
    aSecret('demo-ca'),
  ),
  'a token was not renewed': situation(
    theCluster({ says: [available] }),
    ...vpcThere,
    ...eksThere,
    aSecret('demo-kubeconfig', { annotations: { [annotations.tokenExpires]: ago(4) } }),
    aSecret('demo-ca'),
  ),
  'the Cluster is paused': situation(
    theCluster({ spec: { paused: true }, says: [available] }),
    theNetwork(network('Ready', 'Provisioned', '', 110), network('Paused', 'Paused')),
    thePlane({ says: [plane('Available', 'Available', '', 95), plane('Paused', 'Paused')] }),
    anApply('demo-vpc', { ownedBy: networkThere, says: [applied('Ready', 'Ready'), applied('Paused', 'Paused')] }),
    ...fourSecrets,
  ),
  'a plan waits for approval': situation(
    theCluster({ says: [available] }),
    ...vpcThere,
    thePlane({
      says: [plane('Available', 'Available', '', 95), plane('EKSApplied', 'ApprovalRequired', approval)],
    }),
    eks(applied('Ready', 'ApprovalRequired', approval)),
    aWorkspaceOf('demo-eks-controlplane', ...isReady),
    ...fourSecrets,
  ),
  'the Cluster is deleted, and EKS goes': situation(
    theCluster({
      ...going,
      says: [
        notAvailable('* Deleting: Control plane deletion in progress'),
        says('Deleting', 'True', 'WaitingForControlPlaneDeletion', '* Control plane: CAPTControlPlane'),
      ],
    }),
    ...vpcThere,
    {
      ...thePlane({
        ...going,
        says: [plane('Available', 'Deleting'), plane('Deleting', 'Deleting', 'waits until EKS is gone')],
      }),
    },
    anApply('demo-eks-controlplane', {
      ...going,
      ownedBy: planeThere,
      says: [
        applied(
          'Ready',
          'Deleting',
          'waits until Terraform has destroyed what Workspace default/demo-eks-controlplane built',
        ),
        applied(
          'Deleting',
          'Deleting',
          'waits until Terraform has destroyed what Workspace default/demo-eks-controlplane built',
        ),
      ],
      annotations: { [annotations.workspace]: 'tf.m.upbound.io/demo-eks-controlplane' },
    }),
    {
      ...made('tf.m.upbound.io/v1beta1', 'Workspace', 'demo-eks-controlplane', { ...going, spec: { forProvider: {} } }),
    },
  ),
  'the Cluster is deleted, and a load balancer stays in it': situation(
    theCluster({ ...going, says: [says('Deleting', 'True', 'WaitingForControlPlaneDeletion', '')] }),
    ...vpcThere,
    thePlane({
      ...going,
      says: [
        plane('Available', 'Deleting', 'waits until Services are gone'),
        plane('Deleting', 'CleanupTimeout', 'waits until Services of type LoadBalancer are gone: default/web'),
      ],
    }),
    eks(applied('Ready', 'Ready')),
    aWorkspaceOf('demo-eks-controlplane', ...isReady),
    ...fourSecrets,
  ),
  'the Cluster is deleted, and the network cannot be destroyed': situation(
    theCluster({ ...going, says: [says('Deleting', 'True', 'WaitingForInfrastructureDeletion', '')] }),
    { ...made(infra, 'CAPTCluster', 'demo', { ...going, ownedBy: cluster, says: [network('Ready', 'Deleting')] }) },
    anApply('demo-vpc', {
      ...going,
      ownedBy: networkThere,
      says: [
        applied(
          'Deleting',
          'Deleting',
          'Terraform cannot destroy what Workspace default/demo-vpc built: DependencyViolation: vpc-1 has dependencies (dependency: something still uses it: remove what the error names, which Terraform may not know of, and it goes on)',
        ),
      ],
      status: { failure: { class: 'dependency', text: 'all of it' } },
      annotations: { [annotations.workspace]: 'tf.m.upbound.io/demo-vpc' },
    }),
  ),
  'what the Cluster names is not there': situation(notYet),
  'the manager does not run, and its engine has failed': situation(
    notYet,
    networkComing(),
    anApply('demo-vpc', { ownedBy: networkComing() }),
    failedWorkspace('demo-vpc'),
    planeWaits,
  ),
  'a message that is long': situation(
    notYet,
    theNetwork(
      network('VPCReady', 'InvalidVPCConfig', `${'the subnets do not fit. '.repeat(12)}${'x'.repeat(150)}`),
      network('Ready', 'NotProvisioned'),
    ),
    planeWaits,
  ),
  'workers, a role for Spot and an apply of one’s own': situation(
    theCluster({ says: [available] }),
    ...vpcThere,
    thePlane({
      says: [
        plane('Available', 'Available', '', 95),
        plane('SpotRoleReady', 'Creating', 'waits for spot-role-default'),
      ],
    }),
    anApply('spot-role-default', { says: [applied('Ready', 'Creating', 'Terraform builds it for the first time', 1)] }),
    eks(applied('Ready', 'Ready', '', 95)),
    aWorkspaceOf('demo-eks-controlplane', ...isReady),
    ...fourSecrets,
    ...['pool-a', 'pool-b'].flatMap((name) => {
      const labels = { [clusterNameLabel]: 'demo' }
      const pool = made(core, 'MachinePool', name, { labels, status: { phase: 'Running' } })
      const ours = made(infra, 'CAPTMachinePool', name, {
        labels,
        ownedBy: pool,
        says: [says('Ready', 'True', 'Provisioned')],
      })
      return [pool, ours]
    }),
    ...[1, 2, 3, 4, 5].map((each) =>
      made(infra, 'CAPTMachine', `node-${each}`, {
        labels: { [clusterNameLabel]: 'demo' },
        says: [says('Ready', 'True', 'Provisioned')],
      }),
    ),
    anApply('demo-dns', { labels: { [clusterNameLabel]: 'demo' }, says: [applied('Ready', 'Ready')] }),
    anApply('of-another', { says: [applied('Ready', 'TerraformFailed', 'not ours')] }),
  ),
}

// Objects of the kinds a picture is made of, with as much or as little in them as one likes.
const reasons = [
  'TerraformFailed',
  'Creating',
  'WaitingForCluster',
  'ApprovalRequired',
  'Paused',
  'Deleting',
  'Odd',
  '',
]
const someConditions = fc.array(
  fc.oneof(
    fc.record(
      {
        type: fc.constantFrom(
          'Ready',
          'Available',
          'Synced',
          'VPCReady',
          'EKSApplied',
          'SecretsReady',
          'Paused',
          'Deleting',
          'RollingOut',
        ),
        status: fc.constantFrom('True', 'False', 'Unknown', 'Maybe'),
        reason: fc.constantFrom(...reasons),
        message: fc.constantFrom('why one', 'why two', 'why one and more', ''),
        lastTransitionTime: fc.constantFrom('2026-11-17T11:00:00Z', 'yesterday'),
      },
      { requiredKeys: [] },
    ),
    fc.constantFrom(null, 'odd', 3, {}),
  ),
  { maxLength: 5 },
)
const someStatus = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom(null, 'odd'),
  fc.record(
    {
      conditions: fc.oneof(someConditions, fc.constant('odd')),
      phase: fc.constantFrom('Running', 'Failed', 3),
      failure: fc.constantFrom({ class: 'lock' }, 'odd'),
    },
    { requiredKeys: [] },
  ),
)
const kindsOfAPicture = [
  ['cluster.x-k8s.io/v1beta2', 'Cluster'],
  ['infrastructure.cluster.x-k8s.io/v1beta1', 'CAPTCluster'],
  ['controlplane.cluster.x-k8s.io/v1beta1', 'CAPTControlPlane'],
  ['infrastructure.cluster.x-k8s.io/v1beta1', 'WorkspaceTemplateApply'],
  ['tf.m.upbound.io/v1beta1', 'Workspace'],
  ['cluster.x-k8s.io/v1beta2', 'MachinePool'],
  ['v1', 'Secret'],
] as const
const someObject = fc
  .record({
    kind: fc.constantFrom(...kindsOfAPicture),
    name: fc.constantFrom('demo', 'demo-vpc', 'demo-kubeconfig'),
    spec: fc.constantFrom(undefined, null, {}, { clusterName: 'demo' }, theCluster().spec, {
      paused: true,
      infrastructureRef: 'odd',
    }),
    status: someStatus,
    owner: fc.constantFrom(...kindsOfAPicture),
    labels: fc.constantFrom(undefined, { 'cluster.x-k8s.io/cluster-name': 'demo' }),
    annotations: fc.constantFrom(
      undefined,
      { 'capt.appthrust.io/workspace': 'tf.m.upbound.io/demo-vpc' },
      { 'capt.appthrust.io/token-expires': 'odd' },
    ),
    deletionTimestamp: fc.constantFrom(undefined, undefined, '2026-11-17T11:00:00Z'),
  })
  .map(({ kind: [apiVersion, kind], name, spec, status, owner, ...meta }) => ({
    apiVersion,
    kind,
    metadata: {
      name,
      namespace: 'default',
      ownerReferences: [{ apiVersion: owner[0], kind: owner[1], name: 'demo' }],
      ...meta,
    },
    spec,
    status,
  }))

// With a Cluster demo among them.
export const someObjects = fc
  .uniqueArray(someObject, { selector: ({ kind, metadata }) => `${kind}/${metadata.name}`, maxLength: 10 })
  .map((some) => {
    const isThere = some.some(({ kind, metadata }) => kind === 'Cluster' && metadata.name === 'demo')
    return [...(isThere ? [] : [theCluster()]), ...some] as unknown as readonly KubeObject[]
  })
