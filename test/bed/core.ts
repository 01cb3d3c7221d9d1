// Cluster API core outside a cluster: its real CRDs, roles and webhooks, its process run as its own ServiceAccount.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Located } from '../../tools/build.ts'
import { until } from '../until.ts'
import { type Api, answers } from './apiserver.ts'
import type { Household } from './household.ts'
import type { Kube, KubeObject } from './kube.ts'
import { kubeconfig } from './kubeconfig.ts'
import { freePort } from './ports.ts'
import { privateFile } from './private-file.ts'

const namespace = 'capi-system'
const featureGates = 'ClusterTopology=true,MachinePool=true' // naming ClusterResourceSet, always on, ends the process

export type CoreParts = Located<'cluster-api-core' | 'cluster-api-core.yaml'>

export async function startCore(home: Household, api: Api, kube: Kube, parts: CoreParts): Promise<void> {
  const [webhookPort, healthPort, diagnosticsPort] = await Promise.all([freePort(), freePort(), freePort()])
  const serving = api.authority.issueServer('cluster-api-webhooks', ['127.0.0.1'])
  const certs = join(home.folder, 'cluster-api-core-certs')
  mkdirSync(certs)
  privateFile(join(certs, 'tls.crt'), serving.cert)
  privateFile(join(certs, 'tls.key'), serving.key)

  const manifests = outsideACluster(readManifests(parts['cluster-api-core.yaml']), webhookPort, api.ca)
  await kube.apply(...manifests.roles)
  await Promise.all([kube.apply(...manifests.crds), seeAggregatedRole(kube)])
  await seeEstablished(kube)

  const token = await kube.kubectl(['create', 'token', 'capi-manager', '--namespace', namespace, '--duration=24h'])
  const itself = kubeconfig(api, { token: token.trim() })
  const core = home.start('cluster-api-core', parts['cluster-api-core'], [
    `--kubeconfig=${privateFile(join(home.folder, 'cluster-api-core.kubeconfig'), itself)}`,
    '--leader-elect=false',
    `--webhook-port=${webhookPort}`,
    `--webhook-cert-dir=${certs}`,
    `--health-addr=127.0.0.1:${healthPort}`,
    `--diagnostics-address=127.0.0.1:${diagnosticsPort}`,
    '--insecure-diagnostics',
    `--feature-gates=${featureGates}`,
    '--v=2',
  ])
  await until('Cluster API core is ready', async () => answers({ url: `http://127.0.0.1:${healthPort}/readyz` }), {
    withinSeconds: 60,
    giveUp: core.obituary,
  })
  await kube.apply(...manifests.webhooks)
}

export function readManifests(file: string): readonly KubeObject[] {
  return readFileSync(file, 'utf8')
    .split('\n---\n')
    .map((document) => JSON.parse(document) as KubeObject)
}

interface Manifests {
  readonly crds: readonly KubeObject[]
  readonly roles: readonly KubeObject[]
  readonly webhooks: readonly KubeObject[]
}

// What a bare API server can take: webhooks are called by URL instead of through a Service, and what would need a
// kubelet or cert-manager (Deployment, Service, Certificate, Issuer) is left out.
function outsideACluster(objects: readonly KubeObject[], port: number, ca: string): Manifests {
  const local = (config: ClientConfig): ClientConfig => ({
    url: `https://127.0.0.1:${port}${config.service?.path ?? '/'}`,
    caBundle: Buffer.from(ca).toString('base64'),
  })
  const ofKinds = (...kinds: string[]) => objects.filter(({ kind }) => kinds.includes(kind))
  return {
    crds: (ofKinds('CustomResourceDefinition') as ConvertingCRD[]).map((crd) => {
      const { conversion } = crd.spec
      const webhook = { ...conversion.webhook, clientConfig: local(conversion.webhook.clientConfig) }
      return { ...crd, spec: { ...crd.spec, conversion: { ...conversion, webhook } } }
    }),
    webhooks: (ofKinds('MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration') as WebhookConfiguration[]).map(
      (each) => ({
        ...each,
        webhooks: each.webhooks.map((webhook) => ({ ...webhook, clientConfig: local(webhook.clientConfig) })),
      }),
    ),
    roles: ofKinds('Namespace', 'ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'),
  }
}

interface ClientConfig {
  readonly service?: { readonly path?: string }
  readonly url?: string
  readonly caBundle?: string
}
type ConvertingCRD = KubeObject & { spec: { conversion: { webhook: { clientConfig: ClientConfig } } } }
type WebhookConfiguration = KubeObject & { webhooks: readonly { clientConfig: ClientConfig }[] }

// Core's rights are gathered by the controller manager. Started before that, core says it is ready and may read nothing.
async function seeAggregatedRole(kube: Kube): Promise<void> {
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'capi-aggregated-manager-role' },
  }
  await kube.see(role, 'has rules', (object) => ((object['rules'] as unknown[] | undefined) ?? []).length > 0)
}

// Not by `kubectl wait`: that would outlive us by a minute if we were killed.
export async function seeEstablished(kube: Kube): Promise<void> {
  const told = '{range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Established")].status}{"\\n"}{end}'
  await until('every CRD is established', async () => {
    const lines = (await kube.kubectl(['get', 'crds', '-o', `jsonpath=${told}`])).trim().split('\n')
    return lines.every((line) => line.endsWith('=True')) ? true : undefined
  })
}
