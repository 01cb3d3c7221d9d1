// The kind Workspace and its companions, as Crossplane's provider-terraform and provider-opentofu define them and as
// capt-engine serves them. Four groups serve it, two of them for the whole cluster and two by namespace.
import type { Condition } from './condition.ts'
import { groupOf, type KubeObject, type OwnerReference, type Resource, slim } from './resource.ts'

export const workspaceGroups = [
  'tf.upbound.io',
  'tf.m.upbound.io',
  'opentofu.upbound.io',
  'opentofu.m.upbound.io',
] as const
export type WorkspaceGroup = (typeof workspaceGroups)[number]

// Its namespace is written only where Workspaces have none of their own.
export interface KeyRef {
  readonly name: string
  readonly namespace?: string
  readonly key: string
}

export interface VarFile {
  readonly source: 'ConfigMapKey' | 'SecretKey'
  readonly format?: 'HCL' | 'JSON'
  readonly configMapKeyRef?: KeyRef
  readonly secretKeyRef?: KeyRef
}

export interface EnvVar {
  readonly name: string
  readonly value?: string
  readonly configMapKeyRef?: KeyRef
  readonly secretKeyRef?: KeyRef
}

export interface ForProvider {
  readonly source: 'Inline' | 'Remote' | 'Flux'
  readonly module: string
  readonly inlineFormat?: 'HCL' | 'JSON'
  readonly entrypoint?: string
  readonly vars?: readonly { readonly key: string; readonly value: string }[]
  readonly varmap?: Readonly<Record<string, unknown>>
  readonly varFiles?: readonly VarFile[]
  readonly env?: readonly EnvVar[]
  readonly initArgs?: readonly string[]
  readonly planArgs?: readonly string[]
  readonly applyArgs?: readonly string[]
  readonly destroyArgs?: readonly string[]
  readonly enableTerraformCLILogging?: boolean
  readonly remotePullPolicy?: 'Always' | 'IfNotPresent'
}

export type ManagementPolicy = '*' | 'Observe' | 'Create' | 'Update' | 'Delete' | 'LateInitialize'

export interface WorkspaceSpec {
  readonly forProvider: ForProvider
  readonly providerConfigRef?: { readonly kind?: string; readonly name: string }
  readonly writeConnectionSecretToRef?: { readonly name: string; readonly namespace?: string }
  readonly managementPolicies?: readonly ManagementPolicy[]
  readonly deletionPolicy?: 'Delete' | 'Orphan' // where Workspaces are for the whole cluster
}

export interface Workspace extends KubeObject {
  readonly spec: WorkspaceSpec
  readonly status?: {
    readonly atProvider?: {
      readonly checksum?: string
      readonly outputs?: Readonly<Record<string, unknown>> // those that are not sensitive
      readonly remoteSource?: string
    }
    readonly conditions?: readonly WorkspaceCondition[]
    readonly lastHandledReconcileAt?: string
  }
}

// Ready=True carries no observedGeneration, and an empty message is left out.
export type WorkspaceCondition = Omit<Condition, 'message'> & { readonly message?: string }

export interface ProviderConfig extends KubeObject {
  readonly spec: {
    readonly configuration?: string
    readonly backendFile?: string
    readonly pluginCache?: boolean
    readonly credentials?: readonly {
      readonly filename: string
      readonly source: 'None' | 'Secret' | 'InjectedIdentity' | 'Environment' | 'Filesystem'
      readonly secretRef?: { readonly name: string; readonly namespace?: string; readonly key: string }
      readonly env?: { readonly name: string }
      readonly fs?: { readonly path: string }
    }[]
  }
  readonly status?: { readonly users?: number }
}

export interface ProviderConfigUsage extends KubeObject {
  readonly providerConfigRef: { readonly kind?: string; readonly name: string }
  readonly resourceRef: {
    readonly apiVersion: string
    readonly kind: string
    readonly name: string
    readonly uid?: string
  }
}

// What a group serves.
export interface WorkspaceAPI {
  readonly group: WorkspaceGroup
  readonly isNamespaced: boolean
  readonly workspace: Resource<Workspace>
  readonly providerConfig: Resource<ProviderConfig>
  readonly clusterProviderConfig: Resource<ProviderConfig> | undefined // where Workspaces are namespaced
  readonly usage: Resource<ProviderConfigUsage>
}

// Always the same ones, so that a Resource can be compared.
export const workspaceAPIs: Readonly<Record<WorkspaceGroup, WorkspaceAPI>> = {
  'tf.upbound.io': serving('tf.upbound.io', false),
  'tf.m.upbound.io': serving('tf.m.upbound.io', true),
  'opentofu.upbound.io': serving('opentofu.upbound.io', false),
  'opentofu.m.upbound.io': serving('opentofu.m.upbound.io', true),
}

function serving(group: WorkspaceGroup, isNamespaced: boolean): WorkspaceAPI {
  const resource = <T extends KubeObject>(kind: string, isEverywhere = !isNamespaced): Resource<T> => ({
    isOptional: true,
    group,
    version: 'v1beta1',
    kind,
    plural: `${kind.toLowerCase()}s`,
    ...(isEverywhere && { isClusterScoped: true }),
    keep: slim,
  })
  return {
    group,
    isNamespaced,
    workspace: resource('Workspace'),
    providerConfig: resource('ProviderConfig'),
    clusterProviderConfig: isNamespaced ? resource('ClusterProviderConfig', true) : undefined,
    usage: resource('ProviderConfigUsage'),
  }
}

// The package of Crossplane that brings a kind, from the definition of the kind. It has an engine behind it.
export function packageOf({ metadata }: Pick<KubeObject, 'metadata'>): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ apiVersion }) => /(?:^|\.)crossplane\.io$/.test(groupOf(apiVersion)))
}

// Crossplane's own words on a managed resource.
export const crossplane = {
  externalName: 'crossplane.io/external-name',
  createPending: 'crossplane.io/external-create-pending',
  createSucceeded: 'crossplane.io/external-create-succeeded',
  createFailed: 'crossplane.io/external-create-failed',
  paused: 'crossplane.io/paused',
  reconcileRequestedAt: 'crossplane.io/reconcile-requested-at',
  pollInterval: 'crossplane.io/poll-interval',
  providerConfigLabel: 'crossplane.io/provider-config',
  providerConfigKindLabel: 'crossplane.io/provider-config-kind',
  finalizer: 'finalizer.managedresource.crossplane.io',
  inUseFinalizer: 'in-use.crossplane.io', // on a ProviderConfig
  connectionSecretType: 'connection.crossplane.io/v1alpha1',
} as const
