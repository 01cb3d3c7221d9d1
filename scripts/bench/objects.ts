// The objects that the manager is measured with: one WorkspaceTemplate for every three WorkspaceTemplateApplies, in twenty
// namespaces, each about 4 KiB as the API server stores it, settled: CAPT has nothing to write. The mix is stern, for real
// templates have more users.
import { tellConditions } from '../../src/api/condition.ts'
import { pausedAnnotation } from '../../src/api/contract.ts'
import { apiVersionOf, type KubeObject, keyOf, type ObjectMeta, type Resource } from '../../src/api/resource.ts'
import { WorkspaceTemplate } from '../../src/api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../src/api/workspacetemplateapply.ts'
import { pausedByItself } from '../../src/controllers/pause.ts'
import { decide } from '../../src/controllers/workspacetemplate/decide.ts'
import type { Client } from '../../src/kube/client.ts'

export const namespaces = Array.from({ length: 20 }, (_, at) => `team-${at}`)
export const perTemplate = 4
export const measuredKinds: readonly Resource[] = [WorkspaceTemplate, WorkspaceTemplateApply]

// Who owns which field, as the API server writes it down: half of a stored object.
export type Owners = ReadonlyMap<Resource, ObjectMeta['managedFields']>

interface Made {
  readonly resource: Resource
  readonly object: KubeObject & { readonly spec: object }
  readonly status: object
}

// Asked of the API server by one object of each kind, which then go.
export async function ownersBy(client: Client): Promise<Owners> {
  const found = [0, 1].map(async (number) => {
    const { resource, object, status } = objectAt(number)
    await client.create(resource, object, { fieldManager: 'kubectl-client-side-apply' })
    const manager = { subresource: 'status', fieldManager: `capt-${resource.kind.toLowerCase()}` } as const
    const { metadata } = await client.patch(resource, keyOf(object), { status }, manager)
    await client.remove(resource, keyOf(object))
    return [resource, metadata.managedFields] as const
  })
  return new Map(await Promise.all(found))
}

// An object as it lies in etcd; what it is depends on nothing but its number.
export function storedAt(number: number, owners: Owners): readonly [key: string, value: string] {
  const { resource, object, status } = objectAt(number)
  const metadata = {
    ...object.metadata,
    uid: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    generation: 1,
    creationTimestamp: '2026-11-01T07:59:00Z',
    managedFields: owners.get(resource),
  }
  const { namespace, name } = metadata
  const key = `/registry/${resource.group}/${resource.plural}/${namespace}/${name}`
  return [key, JSON.stringify({ ...object, metadata, status })]
}

export function objectAt(number: number): Made {
  const group = Math.floor(number / perTemplate)
  const namespace = namespaces[group % namespaces.length] ?? ''
  return number % perTemplate === 0 ? template(namespace, group) : apply(namespace, group, number)
}

function template(namespace: string, group: number): Made {
  const spec: WorkspaceTemplate['spec'] = {
    template: {
      metadata: { description: `Network ${group} of a team`, version: '1.4.0', tags: { team: namespace } },
      spec: {
        forProvider: { source: 'Inline', module: moduleText(group) },
        writeConnectionSecretToRef: { name: `network-${group}-connection` },
      },
    },
    variables: [
      { name: 'cluster_name', type: 'string', required: true, sensitive: false, description: 'Name of the cluster.' },
      optional('region', 'string', 'ap-northeast-1'),
      optional('azs', 'list(string)', ['ap-northeast-1a', 'ap-northeast-1c', 'ap-northeast-1d']),
      optional('cidr', 'string', '10.0.0.0/16'),
      optional('tags', 'map(string)', {}),
    ],
  }
  const object = { ...named(WorkspaceTemplate), metadata: { name: `t-${group}`, namespace, generation: 1 }, spec }
  const users = [1, 2, 3].map((at) => `a-${group * perTemplate + at}`)
  // What CAPT would say of it.
  const { conditions: said, status } = decide({ template: object, users })
  const now = '2026-11-01T08:00:00Z'
  const conditions = tellConditions([], { words: WorkspaceTemplate.words, said, generation: 1, now })
  return { resource: WorkspaceTemplate, object, status: { ...status, conditions, observedGeneration: 1 } }
}

function apply(namespace: string, group: number, number: number): Made {
  const cluster = `cluster-${number}`
  const id = (kind: string, at = 0) => `${kind}-0${(number * 7919 + at).toString(16).padStart(16, '0')}`
  const subnets = { private: [0, 1, 2].map((at) => id('subnet', at)), public: [3, 4, 5].map((at) => id('subnet', at)) }
  const azs = ['ap-northeast-1a', 'ap-northeast-1c', 'ap-northeast-1d']
  const condition = (type: string, status: string, reason: string, message = '') => {
    const minute = String(number % 60).padStart(2, '0')
    return {
      type,
      status,
      reason,
      message,
      observedGeneration: 1,
      lastTransitionTime: `2026-11-01T08:${minute}:00Z`,
    }
  }
  const spec: WorkspaceTemplateApply['spec'] = {
    templateRef: { name: `t-${group}` },
    variables: {
      cluster_name: cluster,
      region: 'ap-northeast-1',
      kubernetes_version: '1.34',
      vpc_id: id('vpc'),
      private_subnets: subnets.private,
      public_subnets: subnets.public,
      azs,
      endpoint_public_access: true,
      service_ipv4_cidr: '172.20.0.0/16',
      tags: { team: namespace, environment: 'production', 'cost-center': String(number % 97) },
    },
    waitForSecrets: [{ name: 'aws-credentials' }],
    writeConnectionSecretToRef: { name: `${cluster}-eks-connection` },
    deletionProtection: false,
    retainOnDelete: false,
    destructiveChanges: 'Hold',
  }
  const labels = { 'cluster.x-k8s.io/cluster-name': cluster, 'capt.appthrust.io/cluster': cluster }
  // There is no engine here: what is measured is a manager at rest.
  const annotations = { [pausedAnnotation]: '' }
  const metadata = { name: `a-${number}`, namespace, labels, annotations }
  const object = { ...named(WorkspaceTemplateApply), metadata, spec }
  return {
    resource: WorkspaceTemplateApply,
    object,
    status: {
      conditions: [
        condition('Ready', 'True', 'Ready'),
        condition('DependenciesReady', 'True', 'Ready'),
        condition('VariablesResolved', 'True', 'Resolved'),
        condition('Applied', 'True', 'Converged'),
        condition('Synced', 'True', 'ReconcileSuccess'),
        condition('Paused', 'True', 'Paused', pausedByItself(object).join('; ')),
      ],
      observedGeneration: 1,
      workspaceName: `a-${number}`,
      workspaceAPI: 'tf.m.upbound.io',
      revision: (number * 2654435761).toString(16).padStart(16, '0'),
      applied: true,
      lastAppliedTime: '2026-11-01T08:00:00Z',
      outputs: {
        vpc_id: id('vpc'),
        private_subnets: subnets.private,
        azs,
        cluster_name: cluster,
        cluster_endpoint: `https://${id('').slice(2).toUpperCase()}.gr7.ap-northeast-1.eks.amazonaws.com`,
        cluster_version: '1.34',
      },
    },
  }
}

function named<K extends string>(resource: Resource & { readonly kind: K }) {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind }
}

// As the API server stores it, with what the schema adds.
const optional = (name: string, type: string, value: unknown) => ({
  name,
  type,
  required: false,
  sensitive: false,
  default: value,
})

function moduleText(group: number): string {
  const output = (name: string) => `output "${name}" {\n  value = terraform_data.network.output.${name}\n}\n`
  return `# Network ${group}: a VPC with private and public subnets in each zone, and what EKS wants to know of it.
terraform {
  required_version = ">= 1.6"
}
variable "cluster_name" {
  type = string
}
variable "region" {
  type    = string
  default = "ap-northeast-1"
}
variable "azs" {
  type    = list(string)
  default = ["ap-northeast-1a", "ap-northeast-1c", "ap-northeast-1d"]
}
variable "cidr" {
  type    = string
  default = "10.0.0.0/16"
}
variable "tags" {
  type    = map(string)
  default = {}
}
resource "terraform_data" "network" {
  input = {
    vpc_id          = "vpc-\${substr(sha1(var.cluster_name), 0, 17)}"
    private_subnets = [for az in var.azs : "subnet-\${substr(sha1("\${var.cluster_name}/\${az}"), 0, 17)}"]
    public_subnets  = [for az in var.azs : "subnet-\${substr(sha1("\${var.cluster_name}/\${az}/public"), 0, 17)}"]
    azs             = var.azs
    tags            = merge(var.tags, { "kubernetes.io/cluster/\${var.cluster_name}" = "shared" })
  }
}
${['vpc_id', 'private_subnets', 'public_subnets', 'azs'].map(output).join('')}`
}
