// Whole clusters for stories: the objects a user applies, the offline templates they are built from, and what is said of them.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { secretsManager } from '../src/api/keys.ts'
import type { Bed } from './bed/bed.ts'
import type { Kube, KubeObject, ObjectRef } from './bed/kube.ts'
import type { Workload } from './bed/workload.ts'

const examples = resolve(import.meta.dirname, '../examples')

export function documentsIn(file: string): readonly KubeObject[] {
  return parseAllDocuments(readFileSync(join(examples, file), 'utf8')).map((each) => each.toJS() as KubeObject)
}

export interface Leading {
  readonly endpoint: string
  readonly ca: string // PEM
  readonly token: string
}

export function leadingTo({ host, port, ca, token }: Pick<Workload, 'host' | 'port' | 'ca' | 'token'>): Leading {
  return { endpoint: `https://${host}:${port}`, ca, token }
}

// Where the offline templates lead. They read it when Terraform runs.
export function offlineSecret(namespace: string, workload: Leading): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: 'offline-workload' },
    stringData: { 'workload.json': JSON.stringify({ workload }) },
  }
}

export function offlineTemplates(namespace: string): readonly KubeObject[] {
  return within(namespace, documentsIn('offline/templates.yaml'))
}

export function within(namespace: string, objects: readonly KubeObject[]): readonly KubeObject[] {
  return objects.map((each) => ({ ...each, metadata: { ...each.metadata, namespace } }))
}

interface Asked {
  readonly namespace: string
  readonly name?: string
  readonly cluster?: object // more of the spec of each
  readonly network?: object
  readonly controlPlane?: object
}

export interface ClusterObjects {
  readonly cluster: KubeObject
  readonly network: KubeObject
  readonly controlPlane: KubeObject
  readonly all: readonly KubeObject[] // the Cluster last: core looks for a missing object again only after seconds
}

export function aCaptCluster({ namespace, name = 'demo', ...more }: Asked): ClusterObjects {
  const metadata = { namespace, name }
  const cluster: KubeObject = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata,
    spec: {
      infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'CAPTCluster', name },
      controlPlaneRef: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'CAPTControlPlane', name },
      ...more.cluster,
    },
  }
  const network: KubeObject = {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
    kind: 'CAPTCluster',
    metadata,
    spec: { region: 'ap-northeast-1', vpcTemplateRef: { name: 'vpc' }, ...more.network },
  }
  const controlPlane: KubeObject = {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1beta1',
    kind: 'CAPTControlPlane',
    metadata,
    // All clusters of a bed are in one account.
    spec: {
      version: 'v1.34.0',
      workspaceTemplateRef: { name: 'eks' },
      eksClusterName: namespace,
      ...more.controlPlane,
    },
  }
  return { cluster, network, controlPlane, all: [network, controlPlane, cluster] }
}

interface AskedOfClass {
  readonly namespace: string
  readonly name?: string
}

// The class that we ship and a Cluster of it, which is called in EKS as the Cluster is. Its objects get random names, as in a class that
// does not say how to call them.
export function aClass({ namespace, name = namespace }: AskedOfClass) {
  const [shipped, networkTemplate, controlPlaneTemplate] = within(namespace, documentsIn('clusterclass/class.yaml'))
  const [example] = within(namespace, documentsIn('clusterclass/cluster.yaml'))
  if (!shipped || !networkTemplate || !controlPlaneTemplate || !example) throw new Error('an example lacks a part')
  const spec = shipped['spec'] as Record<'infrastructure' | 'controlPlane', { readonly templateRef: unknown }>
  const [infrastructure, controlPlane] = [spec.infrastructure, spec.controlPlane].map(({ templateRef }) => ({
    templateRef,
  }))
  const said = (example['spec'] as { readonly topology: { readonly variables: readonly Variable[] } }).topology
  // Its variables, but for those.
  const topology = (others: Readonly<Record<string, unknown>>) => {
    const variables = said.variables.map((each) => ({ name: each.name, value: others[each.name] ?? each.value }))
    return { spec: { topology: { variables } } }
  }
  return {
    clusterClass: { ...shipped, spec: { ...spec, infrastructure, controlPlane } },
    networkTemplate,
    controlPlaneTemplate,
    cluster: { ...example, metadata: { namespace, name } },
    topology,
  }
}

interface Variable {
  readonly name: string
  readonly value: unknown
}

// What core made of a Cluster of a class.
export function classObjects({ metadata: { namespace = '' }, spec }: KubeObject) {
  const refs = spec as Record<'infrastructureRef' | 'controlPlaneRef', { readonly name: string }>
  const named = (apiVersion: string, kind: string, { name }: { readonly name: string }): ObjectRef => ({
    apiVersion,
    kind,
    metadata: { namespace, name },
  })
  return {
    network: named('infrastructure.cluster.x-k8s.io/v1beta1', 'CAPTCluster', refs.infrastructureRef),
    controlPlane: named('controlplane.cluster.x-k8s.io/v1beta1', 'CAPTControlPlane', refs.controlPlaneRef),
  }
}

// What clusterctl shows, without what differs from time to time.
export async function describeCluster(bed: Bed, { metadata }: KubeObject): Promise<readonly string[]> {
  const { namespace = '', name } = metadata
  const text = await bed.clusterctl(['describe', 'cluster', name, '--namespace', namespace])
  return text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => masked(line, namespace).replaceAll(/ {2,}/g, '  ').trimEnd())
}

export function masked(text: string, namespace: string): string {
  return text
    .replaceAll(`${namespace}/`, '')
    .replaceAll(namespace, 'demo') // what is called after it
    .replaceAll(/127\.0\.0\.1:\d+/g, 'API-SERVER')
    .replaceAll(/ {2,}(\d+[smh])+ {2,}/g, '  ')
    .replaceAll(/ {2,}(\d+[smh])+$/g, '')
}

// Writes a Secret of a cluster with other notes on it. Time goes by faster so: whoever writes as we do is believed.
export async function asOurselves(
  kube: Kube,
  { apiVersion, kind, type, data, metadata }: KubeObject,
  notes: object,
): Promise<void> {
  const { name, namespace, labels, ownerReferences } = metadata
  const written = { name, namespace, labels, ownerReferences, annotations: notes }
  await kube.kubectl(
    ['apply', '--server-side', `--field-manager=${secretsManager}`, '-f', '-'],
    JSON.stringify({ apiVersion, kind, type, data, metadata: written }),
  )
}
