// The kinds of others, as far as we read or write them, and no further.
import type { Condition } from './condition.ts'
import type { ObjectMeta } from './kind.ts'

interface Neighbour {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

export interface ContractRef {
  readonly apiGroup: string
  readonly kind: string
  readonly name: string
}

// cluster.x-k8s.io/v1beta2
export interface Cluster extends Neighbour {
  readonly spec?: {
    readonly paused?: boolean
    readonly controlPlaneEndpoint?: { readonly host?: string; readonly port?: number }
    readonly infrastructureRef?: ContractRef
    readonly controlPlaneRef?: ContractRef
    readonly topology?: { readonly version?: string }
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
export interface Machine extends Neighbour {
  readonly spec: {
    readonly clusterName: string
    readonly version?: string
    readonly failureDomain?: string
    readonly bootstrap: { readonly dataSecretName?: string }
    readonly infrastructureRef: ContractRef
  }
}

// cluster.x-k8s.io/v1beta2
export interface MachinePool extends Neighbour {
  readonly spec: {
    readonly clusterName: string
    readonly replicas?: number
    readonly template: { readonly spec: { readonly version?: string; readonly infrastructureRef: ContractRef } }
  }
}

// v1
export interface Secret extends Neighbour {
  readonly type?: string
  readonly data?: Readonly<Record<string, string>> // base64
}

// v1
export interface ConfigMap extends Neighbour {
  readonly data?: Readonly<Record<string, string>>
}

// tf.upbound.io/v1beta1, tf.m.upbound.io/v1beta1 and the opentofu groups
export interface Workspace extends Neighbour {
  readonly spec: {
    readonly forProvider: Readonly<Record<string, unknown>>
    readonly providerConfigRef?: { readonly kind?: string; readonly name: string }
    readonly writeConnectionSecretToRef?: { readonly name: string; readonly namespace?: string }
    readonly managementPolicies?: readonly string[]
    readonly deletionPolicy?: 'Delete' | 'Orphan'
  }
  readonly status?: {
    readonly atProvider?: { readonly outputs?: Readonly<Record<string, unknown>>; readonly checksum?: string }
    readonly conditions?: readonly Partial<Condition>[]
  }
}

// addons.cluster.x-k8s.io/v1beta2
export interface ClusterResourceSet extends Neighbour {
  readonly spec: {
    readonly clusterSelector: { readonly matchLabels?: Readonly<Record<string, string>> }
    readonly resources: readonly { readonly kind: 'ConfigMap' | 'Secret'; readonly name: string }[]
    readonly strategy?: 'ApplyOnce' | 'Reconcile'
  }
}

// addons.cluster.x-k8s.io/v1beta2
export interface ClusterResourceSetBinding extends Neighbour {
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
