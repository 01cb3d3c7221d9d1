// A network and a control plane of one Cluster, and everything around them as their judges see it.
import type { CAPTCluster } from '../src/api/captcluster.ts'
import type { CAPTControlPlane } from '../src/api/captcontrolplane.ts'
import { holdFinalizer } from '../src/api/keys.ts'
import type { Cluster, Secret } from '../src/api/neighbours.ts'
import type { JsonRecord } from '../src/api/record.ts'
import type { KubeObject } from '../src/api/resource.ts'
import { seal } from '../src/api/sealed.ts'
import { crossplane, type Workspace } from '../src/api/workspace.ts'
import type { WorkspaceTemplateApply } from '../src/api/workspacetemplateapply.ts'
import { usualAccount } from '../src/controllers/account.ts'
import type { Seen as SeenOfNetwork } from '../src/controllers/captcluster/seen.ts'
import { ownedBy } from '../src/controllers/childapply.ts'
import { finalizer } from '../src/controllers/controlplane/finalizer.ts'
import type { Copy, Credential, Secrets, Seen } from '../src/controllers/controlplane/seen.ts'
import type { Plan } from '../src/runtime/plan.ts'
import { copyOf, type Material, type Role, roles } from '../src/secrets/copies.ts'
import { at, condition, now, tell } from './applies.ts'
import { aCA } from './pki.ts'

// As a user would change it: what is told goes into each part.
interface Change {
  readonly metadata?: object
  readonly spec?: object
  readonly status?: object
}
export function but<T extends KubeObject>(object: T, { metadata, spec, status }: Change): T {
  const { spec: old, status: before } = object as { spec?: object; status?: object }
  return {
    ...object,
    metadata: { ...object.metadata, ...metadata },
    spec: { ...old, ...spec },
    ...((before ?? status) && { status: { ...before, ...status } }),
  }
}
export const noted = (annotation: string, value = '') => ({ metadata: { annotations: { [annotation]: value } } })
export const gone = { metadata: { deletionTimestamp: '2026-11-16T11:00:00Z' } }

export const cluster: Cluster = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: at('demo'),
  spec: {
    infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'CAPTCluster', name: 'demo' },
    controlPlaneRef: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'CAPTControlPlane', name: 'demo' },
  },
  status: { initialization: { infrastructureProvisioned: true }, conditions: [] },
}
const ownerReferences = [{ apiVersion: cluster.apiVersion, kind: 'Cluster', name: 'demo', uid: 'uid-of-cluster' }]
const born = { creationTimestamp: '2026-11-16T11:55:00Z', generation: 1, ownerReferences }

export const network: CAPTCluster = {
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
  kind: 'CAPTCluster',
  metadata: {
    ...at('demo'),
    ...born,
    uid: 'uid-of-network',
    finalizers: ['infrastructure.cluster.x-k8s.io/captcluster'],
  },
  spec: {
    region: 'ap-northeast-1',
    vpcTemplateRef: { name: 'vpc' },
    deletionProtection: false,
    retainOnDelete: false,
  },
}
export const controlPlane: CAPTControlPlane = {
  apiVersion: 'controlplane.cluster.x-k8s.io/v1beta1',
  kind: 'CAPTControlPlane',
  metadata: { ...at('demo'), ...born, uid: 'uid-of-control-plane', finalizers: [finalizer] },
  spec: {
    version: 'v1.34.0',
    workspaceTemplateRef: { name: 'eks' },
    eksClusterName: 'demo',
    deletionProtection: false,
    retainOnDelete: false,
  },
}

// As its Secrets name it: a topology gives a control plane another name than the Cluster has.
export const ownerOfSecrets = { ...ownedBy(controlPlane), name: 'demo-abc' }

type Run = 'new' | 'running' | 'failed' | 'held' | 'done'
const readiness = {
  running: condition('Ready', 'False', 'Applying', { message: 'Terraform is at work' }),
  failed: condition('Ready', 'False', 'TerraformFailed', { message: 'quota: VpcLimitExceeded' }),
  held: condition('Ready', 'False', 'ApprovalRequired', { message: 'the plan deletes 1: approve it' }),
  done: condition('Ready', 'True', 'Ready'),
}
// An apply of ours, as far as it is.
export function anApply(
  name: string,
  owner: KubeObject | undefined,
  run: Run,
  outputs?: JsonRecord,
): WorkspaceTemplateApply {
  return {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
    kind: 'WorkspaceTemplateApply',
    metadata: {
      ...at(name),
      uid: `uid-of-${name}`,
      generation: 1,
      creationTimestamp: '2026-11-16T11:58:00Z',
      ...(owner && { ownerReferences: [ownedBy(owner)] }),
    },
    spec: { templateRef: { name: 'any' }, deletionProtection: false, retainOnDelete: false },
    ...(run !== 'new' && {
      status: { conditions: [readiness[run]], ...(outputs && { outputs, applied: true }), workspaceName: name },
    }),
  }
}

export const vpcOutputs = { vpc_id: 'vpc-0123456789abcdef0', azs: ['a', 'b'] }
export const aVpc = (run: Run, outputs: JsonRecord | undefined = run === 'done' ? vpcOutputs : undefined) =>
  anApply('demo-vpc', network, run, outputs)

export const unbuilt: SeenOfNetwork = {
  captCluster: network,
  now,
  cluster,
  controlPlane,
  apply: undefined,
  taken: undefined,
  left: undefined,
  accountOfTemplate: usualAccount,
}

// One that nobody has let go of.
export const aHeldWorkspace = (name: string): Workspace => ({
  apiVersion: 'tf.m.upbound.io/v1beta1',
  kind: 'Workspace',
  metadata: { ...at(name), finalizers: [crossplane.finalizer, holdFinalizer] },
  spec: { forProvider: { source: 'Inline', module: '' } },
})

export const eksOutputs = { cluster_endpoint: 'https://api.example', cluster_name: 'demo', cluster_version: '1.34' }
const asked = { kubernetes_version: '1.34' }
export const anEks = (run: Run, outputs: JsonRecord | undefined = run === 'done' ? eksOutputs : undefined) =>
  but(anApply('demo-eks-controlplane', controlPlane, run, outputs), { spec: { variables: asked } })
// It would be destroyed next, and asks whether something is left inside.
export const awaiting = (eks: WorkspaceTemplateApply) =>
  but(eks, {
    ...gone,
    status: { conditions: [...(eks.status?.conditions ?? []), condition('Deleting', 'True', 'WaitingForCleanup')] },
  })

const minutes = (count: number) => new Date(now.getTime() + count * 60_000)
export const material: Material = {
  kubeconfig: seal('a kubeconfig'),
  userKubeconfig: 'one for people',
  ca: aCA,
  expires: minutes(14),
  renews: minutes(8),
}
export const endpoint = { host: 'api.example', port: 443 }
const yes = { is: 'yes' } as const
export const no = (why: string) => ({ is: 'no', why }) as const
export const fresh = (answer: Seen['secrets']['answer'] = yes): Credential => ({ is: 'fresh', material, answer })
export const refused = (isFinal: boolean, why = 'AWS is out'): Credential => ({
  is: 'refused',
  mend: isFinal ? 'here' : 'nowhere',
  why,
})

// The copies as they are after they were written; `isGood` for that many minutes more.
export function copies(
  how: Partial<Copy> & { readonly dueIn?: number; readonly goodFor?: number } = {},
): ReadonlyMap<Role, Copy> {
  const { dueIn = 8, goodFor = 14, ...rest } = how
  const whose = { namespace: 'team', cluster: 'demo', owner: ownedBy(controlPlane), revision: 'r1' }
  const made = { ...material, expires: minutes(goodFor), renews: minutes(dueIn) }
  return new Map(
    roles.map((role) => [role, { secret: copyOf(role, whose, made), isIntact: true, isCurrent: true, ...rest }]),
  )
}
export const noSecrets: Secrets = {
  revision: 'r1',
  copies: new Map(),
  inTheWay: [],
  connection: 'absent',
  credential: { is: 'none' },
  answer: { is: 'unasked' },
}
export const connection = {
  endpoint,
  ca: aCA,
  kubeconfig: undefined,
  clusterName: 'demo',
  complaints: [],
} as const
// Terraform is done, and the Secrets were never written.
export const firstSecrets: Secrets = { ...noSecrets, connection, credential: fresh(), answer: yes }
// All is as it should be.
export const keptSecrets: Secrets = {
  ...noSecrets,
  copies: copies(),
  connection: 'unread',
  credential: { is: 'kept' },
  answer: yes,
}

export const waitingSeen: Seen = {
  controlPlane,
  now,
  cluster,
  network: but(network, { status: { vpcId: 'vpc-0123456789abcdef0', initialization: { provisioned: true } } }),
  eks: undefined,
  taken: undefined,
  left: undefined,
  vpc: undefined,
  accountOfTemplate: usualAccount,
  spotRole: undefined,
  claimedBy: undefined,
  namesake: undefined,
  template: undefined,
  secrets: noSecrets,
  inside: { is: 'unasked' },
}
export const building: Seen = { ...waitingSeen, eks: anEks('running') }
export const built: Seen = { ...waitingSeen, eks: anEks('done'), secrets: firstSecrets }
// As it is a day later.
const told = ['SecretsReady', 'Available', 'EKSApplied', 'EndpointReady', 'Ready']
export const serving: Seen = {
  ...built,
  controlPlane: but(controlPlane, {
    spec: { controlPlaneEndpoint: endpoint },
    status: {
      initialization: { controlPlaneInitialized: true },
      version: 'v1.34.0',
      conditions: told.map((type) => condition(type, 'True', type)),
    },
  }),
  secrets: keptSecrets,
}
export const withSecrets = (seen: Seen, secrets: Partial<Secrets>): Seen => ({
  ...seen,
  secrets: { ...seen.secrets, ...secrets },
})
export const ofCP = (seen: Seen, change: Change): Seen => ({ ...seen, controlPlane: but(seen.controlPlane, change) })

export const aSecretOf = (name: string, owner: string | undefined, type = 'cluster.x-k8s.io/secret'): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type,
  metadata: {
    ...at(name),
    uid: `uid-of-${name}`,
    ...(owner !== undefined && {
      ownerReferences: [{ apiVersion: 'x/v1', kind: 'Other', name: owner, uid: 'other', controller: true }],
    }),
  },
})

// What a plan does, in short, without what is in every one.
export const doesOf = ({ effects }: Plan) =>
  effects
    .map(tell)
    .filter((each) => !each.startsWith('addFinalizer captcontrolplane') && each !== 'removeFinalizer finalizer')
    .map((each) => each.replaceAll('WorkspaceTemplateApply team/', '').replaceAll('Secret team/demo-', 'Secret '))
    .join(', ')
// What is done in the same pass is said to be so only when the pass has succeeded. Summaries tell it in other words.
export const promisesOnly = ({ conditions }: Plan) =>
  conditions.every(
    ({ type, message, isPromise }) =>
      ['Ready', 'Available', 'RollingOut'].includes(type) ||
      (isPromise === true) === message.startsWith('Terraform is asked'),
  )
// And what it says, without what is always so.
export const saysOf = ({ conditions }: Plan, ...types: readonly string[]) =>
  types.map((type) => conditions.find((each) => each.type === type)?.reason ?? '').join(' ')
// Without events and figures, too.
export const plainly = (plan: Plan) =>
  doesOf(plan)
    .split(', ')
    .filter((each) => !each.startsWith('tell ') && !each.startsWith('count '))
    .join(', ')
export const ask = 'apply demo-eks-controlplane'
export const tokens = 'apply Secret kubeconfig, apply Secret control-plane-kubeconfig'
export const all = `${tokens}, apply Secret user-kubeconfig, apply Secret ca`
export const point = 'patch CAPTControlPlane team/demo'

export const unprovisioned = but(cluster, { status: { initialization: {} } })
export const paused = but(cluster, { spec: { paused: true } })
export const existing = (spec: object = {}) =>
  but(network, { spec: { vpcTemplateRef: undefined, existingVpcId: 'vpc-0123456789abcdef0', ...spec } })
export const ensure = { spec: { controlPlaneConfig: { spotServiceLinkedRole: 'Ensure' } } }
export const spot = (run: Run) => anApply('spot-role-default', undefined, run)
export const late = { metadata: { creationTimestamp: '2026-11-16T11:40:00Z' } }
export const runs = (version: string, run: Run = 'done') => anEks(run, { ...eksOutputs, cluster_version: version })
// The template does not tell all.
export const incomplete: Secrets = {
  ...noSecrets,
  connection: {
    endpoint: undefined,
    ca: undefined,
    kubeconfig: undefined,
    clusterName: undefined,
    complaints: ['there is no output cluster_endpoint: add it'],
  },
}
// What lies there was never answered.
export const unsaid = ofCP(serving, {
  status: { conditions: [condition('SecretsReady', 'False', 'ValidatingSecret')] },
})
export const rejected = { ...no('it does not take the credential (401)'), isRejected: true } as const
