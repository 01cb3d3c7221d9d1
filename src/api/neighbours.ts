// The kinds of others, as far as we read or write them, and no further.
import type { Condition } from './condition.ts'
import { secretsManager, tokenNotes } from './keys.ts'
import { type KubeObject, type Resource, slim } from './resource.ts'

export interface ContractRef {
  readonly apiGroup: string
  readonly kind: string
  readonly name: string
}

interface AddressRanges {
  readonly cidrBlocks?: readonly string[]
}

// cluster.x-k8s.io/v1beta2
export interface Cluster extends KubeObject {
  readonly spec?: {
    readonly paused?: boolean
    readonly clusterNetwork?: { readonly services?: AddressRanges; readonly pods?: AddressRanges }
    readonly controlPlaneEndpoint?: { readonly host?: string; readonly port?: number }
    readonly infrastructureRef?: ContractRef
    readonly controlPlaneRef?: ContractRef
    readonly topology?: { readonly classRef?: { readonly name: string; readonly namespace?: string } }
  }
  readonly status?: {
    readonly initialization?: {
      readonly infrastructureProvisioned?: boolean
      readonly controlPlaneInitialized?: boolean
    }
    readonly conditions?: readonly Condition[]
  }
}

// cluster.x-k8s.io/v1beta2
export interface Machine extends KubeObject {
  readonly spec: {
    readonly clusterName: string
    readonly version?: string
    readonly failureDomain?: string
    readonly bootstrap: { readonly dataSecretName?: string }
    readonly infrastructureRef: ContractRef
  }
}

// cluster.x-k8s.io/v1beta2
export interface MachinePool extends KubeObject {
  readonly spec: {
    readonly clusterName: string
    readonly replicas?: number
    readonly template: { readonly spec: { readonly version?: string; readonly infrastructureRef: ContractRef } }
  }
}

// v1
export interface Secret extends KubeObject {
  readonly type?: string
  readonly data?: Readonly<Record<string, string>> // base64
  readonly immutable?: boolean
}

// v1
export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

// addons.cluster.x-k8s.io/v1beta2
export interface ClusterResourceSet extends KubeObject {
  readonly spec: {
    readonly clusterSelector: { readonly matchLabels?: Readonly<Record<string, string>> }
    readonly resources: readonly { readonly kind: 'ConfigMap' | 'Secret'; readonly name: string }[]
    readonly strategy?: 'ApplyOnce' | 'Reconcile'
  }
}

// addons.cluster.x-k8s.io/v1beta2
export interface ClusterResourceSetBinding extends KubeObject {
  readonly spec?: {
    readonly clusterName?: string
    readonly bindings?: readonly {
      readonly clusterResourceSetName: string
      readonly resources?: readonly {
        readonly kind: string
        readonly name: string
        readonly applied: boolean
        readonly hash?: string
      }[]
    }[]
  }
}

export interface Namespace extends KubeObject {
  readonly status?: { readonly phase?: string }
}

// coordination.k8s.io/v1
export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string
    readonly leaseDurationSeconds?: number
    readonly acquireTime?: string
    readonly renewTime?: string
    readonly leaseTransitions?: number
  }
}

// events.k8s.io/v1
export interface Event extends KubeObject {
  readonly eventTime: string
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly action: string
  readonly note: string
  readonly reportingController: string
  readonly reportingInstance: string
  readonly regarding: Readonly<Record<string, string>>
  readonly series?: { readonly count: number; readonly lastObservedTime: string }
}

// authentication.k8s.io/v1
export interface TokenReview extends KubeObject {
  readonly spec: { readonly token: string }
  readonly status?: {
    readonly authenticated?: boolean
    readonly user?: { readonly username?: string; readonly uid?: string; readonly groups?: readonly string[] }
  }
}

// authorization.k8s.io/v1
export interface SubjectAccessReview extends KubeObject {
  readonly spec: {
    readonly user: string
    readonly groups?: readonly string[]
    readonly nonResourceAttributes: { readonly path: string; readonly verb: string }
  }
  readonly status?: { readonly allowed?: boolean }
}

// v1
export interface Service extends KubeObject {
  readonly spec?: { readonly type?: string }
}

// apiextensions.k8s.io/v1
export interface CustomResourceDefinition extends KubeObject {
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string; readonly plural: string }
    readonly scope?: 'Namespaced' | 'Cluster'
    readonly versions: readonly { readonly name: string; readonly served: boolean; readonly storage: boolean }[]
  }
  readonly status?: {
    readonly storedVersions?: readonly string[]
    readonly conditions?: readonly Partial<Condition>[]
  }
}

// rbac.authorization.k8s.io/v1
export interface ClusterRoleBinding extends KubeObject {
  readonly roleRef: { readonly apiGroup: string; readonly kind: string; readonly name: string }
  readonly subjects: readonly { readonly kind: string; readonly name: string; readonly namespace: string }[]
}

function neighbour<T extends KubeObject>(where: Omit<Resource<T>, 'keep'>): Resource<T> {
  return { ...where, keep: slim }
}

export const Cluster = neighbour<Cluster>({
  group: 'cluster.x-k8s.io',
  version: 'v1beta2',
  kind: 'Cluster',
  plural: 'clusters',
})
export const MachineDeployment = neighbour<KubeObject>({
  group: 'cluster.x-k8s.io',
  version: 'v1beta2',
  kind: 'MachineDeployment',
  plural: 'machinedeployments',
})
export const MachinePool = neighbour<MachinePool>({
  group: 'cluster.x-k8s.io',
  version: 'v1beta2',
  kind: 'MachinePool',
  plural: 'machinepools',
})

// Whether core reaches the API server of the cluster, as it says itself.
export const remoteProbe = 'RemoteConnectionProbe'

// Which bytes of one, and which times of its token, are still those that we wrote can be told by who owns them, without reading any.
export const Secret: Resource<Secret> = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  isSecret: true,
  keep(secret) {
    const { managedFields = [] } = secret.metadata
    const ours = managedFields.flatMap(({ manager = '', operation = '', fieldsV1 }) => {
      const { 'f:data': data, 'f:metadata': metadata } = fieldsV1 ?? {}
      if (manager !== secretsManager || !data) return []
      const notes = tokenNotes.map((name) => `f:${name}`).filter((name) => metadata?.['f:annotations']?.[name])
      const noted = notes.length > 0 && {
        'f:metadata': { 'f:annotations': Object.fromEntries(notes.map((name) => [name, {}])) },
      }
      return [{ manager, operation, fieldsV1: { 'f:data': data, ...noted } }]
    })
    const slimmed = slim(secret)
    return ours.length === 0 ? slimmed : { ...slimmed, metadata: { ...slimmed.metadata, managedFields: ours } }
  },
}
export const ServiceAccount = neighbour({ group: '', version: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts' })
export const ClusterRoleBinding = neighbour<ClusterRoleBinding>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  isClusterScoped: true,
})
export const Service = neighbour<Service>({ group: '', version: 'v1', kind: 'Service', plural: 'services' })
export const ConfigMap = neighbour<ConfigMap>({ group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps' })
export const Namespace = neighbour<Namespace>({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  isClusterScoped: true,
})
export const Lease = neighbour<Lease>({ group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases' })
export const Event = neighbour<Event>({ group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events' })
export const TokenReview = neighbour<TokenReview>({
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  isClusterScoped: true,
})
export const SubjectAccessReview = neighbour<SubjectAccessReview>({
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  isClusterScoped: true,
})
export const CustomResourceDefinition = neighbour<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  isClusterScoped: true,
})
