// Whole clusters for stories: the objects a user applies, the offline templates they are built from, and what is said of them.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from './bed/kube.ts'
import type { Workload } from './bed/workload.ts'

const examples = resolve(import.meta.dirname, '../examples')

export function documentsIn(file: string): readonly KubeObject[] {
  return parseAllDocuments(readFileSync(join(examples, file), 'utf8')).map((each) => each.toJS() as KubeObject)
}

// The templates, and where they lead.
export function offlineObjects(
  namespace: string,
  workload: Pick<Workload, 'host' | 'port' | 'ca' | 'token'>,
): readonly KubeObject[] {
  const { host, port, ca, token } = workload
  const where = { workload: { endpoint: `https://${host}:${port}`, ca, token } }
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: 'offline-workload' },
    stringData: { 'workload.json': JSON.stringify(where) },
  }
  return [secret, ...within(namespace, documentsIn('offline/templates.yaml'))]
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
    spec: { version: 'v1.34.0', workspaceTemplateRef: { name: 'eks' }, ...more.controlPlane },
  }
  return { cluster, network, controlPlane, all: [network, controlPlane, cluster] }
}
