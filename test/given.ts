// Builders: each gives a whole object, and takes what the test cares about.
import { stringify } from 'yaml'
import type { ObjectMeta } from '../src/api/resource.ts'
import type { KubeObject } from './bed/kube.ts'

interface In {
  readonly namespace: string
  readonly name?: string
}

export function aCluster({
  namespace,
  name = 'demo',
  labels,
}: In & { readonly labels?: Record<string, string> }): KubeObject {
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name, namespace, ...(labels && { labels }) },
    spec: {
      infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'BedCluster', name },
      controlPlaneRef: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'BedControlPlane', name },
    },
  }
}

export function aBedCluster({ namespace, name = 'demo', ...meta }: In & Partial<ObjectMeta>): KubeObject {
  return {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
    kind: 'BedCluster',
    metadata: { name, namespace, ...meta },
    spec: {},
  }
}

export function aBedControlPlane({ namespace, name = 'demo', ...meta }: In & Partial<ObjectMeta>): KubeObject {
  return {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
    kind: 'BedControlPlane',
    metadata: { name, namespace, ...meta },
    spec: { version: 'v1.36.3' },
  }
}

// Core caches only Secrets with the cluster-name label: without it a kubeconfig is "not found".
export function aKubeconfigSecret({ namespace, name = 'demo', text }: In & { readonly text: string }): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `${name}-kubeconfig`, namespace, labels: { 'cluster.x-k8s.io/cluster-name': name } },
    type: 'cluster.x-k8s.io/secret',
    stringData: { value: text },
  }
}

export function aWorkspaceTemplate({ namespace, name = 'demo', module }: In & { readonly module: string }): KubeObject {
  return {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
    kind: 'WorkspaceTemplate',
    metadata: { name, namespace },
    spec: { template: { spec: { forProvider: { source: 'Inline', module } } } },
  }
}

export function aWorkspaceTemplateApply({
  namespace,
  name = 'demo',
  template = name,
  ...spec
}: In & { readonly template?: string } & Readonly<Record<string, unknown>>): KubeObject {
  return {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
    kind: 'WorkspaceTemplateApply',
    metadata: { name, namespace },
    spec: { templateRef: { name: template }, ...spec },
  }
}

// Of our engine: for the whole cluster unless it is in a namespace.
export function aWorkspace({
  namespace,
  name = 'demo',
  module = 'resource "terraform_data" "it" {}\n',
  annotations,
  ...forProvider
}: Partial<In> & {
  readonly module?: string
  readonly annotations?: Readonly<Record<string, string>>
} & Readonly<Record<string, unknown>>): KubeObject {
  return {
    apiVersion: namespace === undefined ? 'tf.upbound.io/v1beta1' : 'tf.m.upbound.io/v1beta1',
    kind: 'Workspace',
    metadata: { name, ...(namespace !== undefined && { namespace }), ...(annotations && { annotations }) },
    spec: { forProvider: { source: 'Inline', module, ...forProvider } },
  }
}

export function aConfigMap({
  namespace,
  name = 'demo',
  data = {},
}: In & { readonly data?: Record<string, string> }): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data }
}

// A ClusterResourceSet that puts `resources` into every cluster labelled `label`, and the ConfigMap that carries them.
export function aResourceSet({
  namespace,
  name = 'addons',
  label,
  resources,
}: In & { readonly label: Record<string, string>; readonly resources: readonly object[] }): KubeObject[] {
  return [
    aConfigMap({ namespace, name, data: { 'all.yaml': resources.map((each) => stringify(each)).join('---\n') } }),
    {
      apiVersion: 'addons.cluster.x-k8s.io/v1beta2',
      kind: 'ClusterResourceSet',
      metadata: { name, namespace },
      spec: { clusterSelector: { matchLabels: label }, resources: [{ kind: 'ConfigMap', name }] },
    },
  ]
}
