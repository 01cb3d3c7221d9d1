// A cluster of the offline templates on an API server in memory, as those who tell of its life need it: what its user makes, what Terraform makes of that, and
// the API server of the cluster itself. Nothing happens here by itself.
import { CAPTCluster } from '../src/api/captcluster.ts'
import { CAPTControlPlane } from '../src/api/captcontrolplane.ts'
import { Cluster, Secret } from '../src/api/neighbours.ts'
import type { JsonRecord } from '../src/api/record.ts'
import type { Key, KubeObject, Resource } from '../src/api/resource.ts'
import { seal } from '../src/api/sealed.ts'
import { WorkspaceTemplate } from '../src/api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../src/api/workspacetemplateapply.ts'
import { nowhere, type Outside } from '../src/controllers/controlplane/outside.ts'
import { type Inputs, isVarFile } from '../src/engine/inputs.ts'
import { judgeKubeconfig, type Way, writeKubeconfig } from '../src/secrets/kubeconfig.ts'
import { anAuthority } from './bed/certificates.ts'
import { aCaptCluster, leadingTo, offlineSecret, offlineTemplates } from './clusters.ts'
import type { Module } from './instant.ts'
import type { Objects } from './objects.ts'
import type { Found } from './settled.ts'
import { api } from './struck.ts'

// What the API server of the cluster is, and what it takes.
export interface Workload {
  readonly host: string
  readonly port: number
  readonly ca: string
  readonly token: string
}

export function theWorkload(): Workload {
  const { cert: ca } = anAuthority('workload')
  return { host: '192.0.2.1', port: 6443, ca, token: 'a-token' }
}

export const name = 'demo'
export const userKinds: readonly (readonly [Resource, string])[] = [
  [WorkspaceTemplate, 'vpc'],
  [WorkspaceTemplate, 'eks'],
  [Secret, 'offline-workload'],
]
export const kinds: readonly Resource[] = [
  Cluster,
  CAPTCluster,
  CAPTControlPlane,
  WorkspaceTemplate,
  WorkspaceTemplateApply,
  api.workspace,
  api.usage,
  Secret,
]

export function begin(objects: Objects, namespace: string, workload: Workload): void {
  const put = (resource: Resource) => (object: KubeObject | undefined) => object && objects.put(resource, object)
  const [secret, templates] = [offlineSecret(namespace, leadingTo(workload)), offlineTemplates(namespace)]
  const { stringData = {}, ...rest } = secret as Secret & { readonly stringData?: Readonly<Record<string, string>> }
  const data = Object.entries(stringData).map(([file, text]) => [file, Buffer.from(text).toString('base64')] as const)
  put(Secret)({ ...rest, data: Object.fromEntries(data) } as Secret)
  for (const each of templates as readonly unknown[]) put(WorkspaceTemplate)(shortened(each as WorkspaceTemplate))
  // As the API server would fill it in.
  const kept = { deletionProtection: false, retainOnDelete: false }
  const { network, controlPlane, cluster } = aCaptCluster({
    namespace,
    name,
    network: kept,
    controlPlane: { version: 'v1.33.0', eksClusterName: name, ...kept },
  })
  put(CAPTCluster)(network)
  put(CAPTControlPlane)(controlPlane)
  put(Cluster)(cluster)
}

export function allIn(objects: Objects): readonly KubeObject[] {
  return kinds.flatMap((kind) => objects.list(kind))
}

export function found(objects: Objects, key: Key): Found {
  return {
    cluster: objects.get(Cluster, key),
    network: objects.get(CAPTCluster, key),
    controlPlane: objects.get(CAPTControlPlane, key),
    applies: objects.list(WorkspaceTemplateApply),
  }
}

// A network never goes before what is in it.
export function outOfOrder(calls: readonly string[]): readonly string[] {
  const gone = calls.filter((call) => call.startsWith('delete '))
  const eks = gone.findLastIndex((call) => call.includes('-eks-controlplane '))
  const vpc = gone.findIndex((call) => call.includes('-vpc '))
  return vpc >= 0 && vpc < eks ? ['the network went before the control plane'] : []
}

export function byWorkspace(a: string, b: string): number {
  const [, one = ''] = a.split(' ')
  const [, other = ''] = b.split(' ')
  return one.localeCompare(other)
}

// The API server of the cluster: it answers to whoever has its token, and comes to the right door.
export function outsideOf(workload: Workload, services: Map<string, number>): Outside {
  const isLetIn = (way: Way) => isTaken(workload, writeKubeconfig(name, way).open())
  const refused = { is: 'no', why: 'another is meant' } as const
  return {
    ...nowhere,
    // Where the template's kubeconfig is gone with its namespace.
    awsToken: async () => ({ token: seal(workload.token), expires: new Date(Date.now() + 840_000) }),
    greet: async (way) => (isLetIn(way) ? { is: 'yes' } : refused),
    async removeLoadBalancers(way) {
      if (!isLetIn(way)) return refused
      for (const [service, times] of services) {
        if (times > 1) services.set(service, times - 1)
        else services.delete(service)
      }
      return [...services.keys()]
    },
  }
}

export function isTaken({ host, port, token, ca }: Workload, kubeconfig: string): boolean {
  const judged = judgeKubeconfig(seal(kubeconfig), new Date())
  if (judged.is === 'unusable') return false
  const { way } = judged
  return way.server === `https://${host}:${port}` && way.token?.open() === token && way.ca.trim() === ca.trim()
}

// Nobody here runs it, and reading it again and again takes time: what it declares will do.
function shortened(template: WorkspaceTemplate): WorkspaceTemplate {
  const { spec } = template
  const { forProvider } = spec.template.spec
  const declared = (forProvider.module ?? '').matchAll(/^(?:variable|output) "\w+"/gm)
  const module = [...declared]
    .map(([head]) => `${head} {${head.startsWith('output') ? ' value = "" ' : ''}}\n`)
    .join('')
  const whole = { ...spec.template.spec, forProvider: { ...forProvider, module } }
  return { ...template, spec: { ...spec, template: { ...spec.template, spec: whole } } }
}

// What the offline templates say, as the instant Terraform reads it.
export function moduleOf({ files }: Inputs): Module {
  const given = Object.entries(files).filter(([file]) => isVarFile(file))
  const values = given.flatMap(([, text]) => Object.entries(JSON.parse(text) as JsonRecord))
  const { workload, ...variables } = Object.fromEntries(values)
  if (!workload) {
    const { cluster_name, vpc_name, region, tags: asked } = variables
    const zones = ['a', 'b', 'c'].map((zone) => `${String(region)}${zone}`)
    return {
      resources: {
        'terraform_data.vpc': { name: vpc_name, region, tags: asked },
        ...Object.fromEntries(
          zones.map((zone) => [`terraform_data.subnet["${zone}"]`, { zone, cluster: cluster_name }]),
        ),
      },
      outputs: {
        vpc_id: 'vpc-0123456789abcdef0',
        private_subnets: zones.map((zone) => `subnet-${zone}`),
        public_subnets: [],
        azs: zones,
      },
    }
  }
  const { endpoint, ca, token } = workload as Readonly<Record<'endpoint' | 'ca' | 'token', string>>
  return {
    resources: { 'terraform_data.cluster': variables },
    outputs: {
      cluster_name: variables['cluster_name'],
      cluster_version: variables['kubernetes_version'],
      cluster_endpoint: endpoint,
      cluster_certificate_authority_data: Buffer.from(ca).toString('base64'),
      kubeconfig: writeKubeconfig('eks', { server: endpoint, ca, token: seal(token) }).open(),
    },
    sensitive: ['kubeconfig'],
  }
}
