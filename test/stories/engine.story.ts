// Workspaces in both groups on the bed: the engine under its roles, the real OpenTofu, garbage collection. Their lives are told
// in a golden log, the same for both.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { annotations as ours } from '../../src/api/keys.ts'
import { stateNamespace } from '../../src/terraform/statesecret.ts'
import type { KubeObject } from '../bed/kube.ts'
import { theBed } from '../bed/story.ts'
import { aConfigMap } from '../given.ts'
import { aTeller } from '../golden.ts'
import { conditionOf, isConverged } from '../lives.ts'
import { until } from '../until.ts'

const bed = theBed()
const { kube } = bed
const patience = { withinSeconds: 90 }

const module = `
variable "name" {}
variable "zone" {}
variable "region" {}
variable "password" {}
resource "terraform_data" "network" {
  input            = "\${var.name} in \${var.region}"
  triggers_replace = var.zone
}
output "network" {
  value = terraform_data.network.output
}
output "zones" {
  value = [var.zone]
}
output "password" {
  value     = var.password
  sensitive = true
}
`

const outputsOf = (object: KubeObject) =>
  JSON.stringify((object['status'] as { atProvider: { outputs?: object } }).atProvider.outputs)

test.each([
  { group: 'tf.upbound.io', isNamespaced: false },
  { group: 'tf.m.upbound.io', isNamespaced: true },
])('the life of a Workspace of $group', async ({ group, isNamespaced }) => {
  const namespace = await bed.namespace('life')
  const tell = aTeller()
  const where = isNamespaced ? {} : { namespace }
  const workspace: KubeObject = {
    apiVersion: `${group}/v1beta1`,
    kind: 'Workspace',
    metadata: {
      name: isNamespaced ? 'network' : `network-${namespace}`,
      ...(isNamespaced && { namespace }),
      annotations: { 'crossplane.io/external-name': `${namespace}.network`, [ours.guard]: 'Hold' },
    },
    spec: {
      forProvider: {
        source: 'Inline',
        module,
        vars: [{ key: 'name', value: 'demo' }],
        varmap: { zone: 'a' },
        varFiles: [
          { source: 'ConfigMapKey', configMapKeyRef: { name: 'values', key: 'region', ...where } },
          { source: 'SecretKey', format: 'JSON', secretKeyRef: { name: 'values', key: 'vars', ...where } },
        ],
      },
      writeConnectionSecretToRef: { name: 'network', ...where },
    },
  }
  const connection = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'network', namespace } }
  const told = ['Ready', 'Synced', 'UpToDate']
  const change = async (forProvider: object) => kube.patch(workspace, { spec: { forProvider } })
  const annotate = async (annotations: object) => kube.patch(workspace, { metadata: { annotations } })
  const see = async (what: string, isSo: (object: KubeObject) => boolean) => {
    const object = await kube.see(workspace, what, isSo, patience)
    tell.says(object, ...told)
    return object
  }

  tell.happens('it is applied, with variables from the spec, a ConfigMap and a Secret')
  await kube.apply(
    aConfigMap({ namespace, name: 'values', data: { region: 'region = "here"' } }),
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'values', namespace },
      stringData: { vars: '{"password":"hush-hush-hush"}' },
    },
    workspace,
  )
  const made = await see('has converged', isConverged)
  tell.notes(`outputs ${outputsOf(made)}`)
  const secret = await kube.read(connection)
  tell.notes(`its connection Secret has ${Object.keys(secret?.['data'] as object).join(', ')}`)

  tell.happens('a variable changes')
  await change({ vars: [{ key: 'name', value: 'other' }] })
  tell.notes(`outputs ${outputsOf(await see('has converged', isConverged))}`)

  tell.happens('what it made is changed behind its back, and it is asked to look')
  const folder = join(bed.folder, 'engine-work', made.metadata.uid ?? '', 'module')
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: bed.folder,
    KUBE_CONFIG_PATH: join(bed.folder, 'engine-work/state.kubeconfig'),
    TF_WORKSPACE: `${namespace}.network`,
  }
  execFileSync(bed.parts.tofu, ['state', 'rm', 'terraform_data.network'], { cwd: folder, env, stdio: 'ignore' })
  await annotate({ 'crossplane.io/reconcile-requested-at': 'today' })
  await see(
    'has looked',
    ({ status }) => (status as { lastHandledReconcileAt?: string }).lastHandledReconcileAt === 'today',
  )
  const list = execFileSync(bed.parts.tofu, ['state', 'list'], { cwd: folder, env, encoding: 'utf8' })
  tell.notes(`in its state: ${list.trim()}`)

  tell.happens('a change would replace something')
  await change({ varmap: { zone: 'b' } })
  const held = await see('is held', (object) => conditionOf(object, 'UpToDate')?.status === 'False')
  const [message = '', command = ''] =
    /^.* approve with: kubectl (.*)$/.exec(conditionOf(held, 'Synced')?.message ?? '') ?? []
  tell.notes(
    message
      .replace(/approve=\w+/, 'approve=…')
      .replaceAll(` --namespace ${namespace}`, '')
      .replace(/workspaces\.\S+ \S+/, 'workspaces… network'),
  )

  tell.happens('it is approved')
  await kube.kubectl(command.split(' '))
  tell.notes(`outputs ${outputsOf(await see('has converged', isConverged))}`)

  tell.happens('its module is torn')
  await change({ module: `${module}\noutput "torn" {` })
  const failed = await see('has failed', (object) => conditionOf(object, 'Synced')?.status === 'False')
  tell.notes((conditionOf(failed, 'Synced')?.message ?? '').replace(/echo "[^"]*"/, 'echo "…"'))

  tell.happens('it is mended')
  await change({ module })
  await see('has converged', isConverged)

  tell.happens('it is paused')
  await annotate({ 'crossplane.io/paused': 'true' })
  await see('is paused', (object) => conditionOf(object, 'Synced')?.reason === 'ReconcilePaused')
  await annotate({ 'crossplane.io/paused': null })
  await kube.see(workspace, 'goes on', isConverged, patience)

  tell.happens('it is deleted, and what it reads is gone already')
  for (const kind of ['ConfigMap', 'Secret']) {
    await kube.remove({ apiVersion: 'v1', kind, metadata: { name: 'values', namespace } })
  }
  await kube.remove(workspace)
  await kube.seeGone(workspace, patience)
  await kube.seeGone(connection, patience)
  const left = [
    ...(await kube.list('v1', 'Secret', stateNamespace)),
    ...(await kube.list('coordination.k8s.io/v1', 'Lease', stateNamespace)),
  ].filter(({ metadata }) => metadata.name.includes(namespace))
  tell.notes(`left of its state: ${left.map(({ metadata }) => metadata.name).join(', ') || 'nothing'}`)
  await tell.end('engine')

  // And nowhere did the secret value show.
  const audited = JSON.stringify((await bed.audit({ namespace })).map(({ body }) => body))
  expect(audited).not.toContain('hush-hush-hush')
})

test('a ProviderConfig of a namespace is kept while it is used, and let go after', async () => {
  const namespace = await bed.namespace('kept')
  const config: KubeObject = {
    apiVersion: 'tf.m.upbound.io/v1beta1',
    kind: 'ProviderConfig',
    metadata: { name: 'team', namespace },
    spec: {
      configuration: `terraform {\n  backend "kubernetes" {\n    secret_suffix = "${namespace}"\n    namespace     = "${stateNamespace}"\n  }\n}\n`,
    },
  }
  const workspace: KubeObject = {
    apiVersion: 'tf.m.upbound.io/v1beta1',
    kind: 'Workspace',
    metadata: { name: 'demo', namespace },
    spec: {
      providerConfigRef: { kind: 'ProviderConfig', name: 'team' },
      forProvider: { source: 'Inline', module: 'output "x" {\n  value = 1\n}\n' },
    },
  }
  await kube.apply(workspace)
  const waiting = await kube.see(
    workspace,
    'misses it',
    (object) => conditionOf(object, 'Synced') !== undefined,
    patience,
  )
  expect(conditionOf(waiting, 'Synced')?.message).toContain('ProviderConfig.tf.m.upbound.io "team" not found')
  await kube.apply(config) // and whoever waits for it is woken
  await kube.see(workspace, 'has converged', isConverged, patience)
  const used = await kube.see(config, 'counts its users', ({ status }) => status !== undefined, patience)
  expect(used).toMatchObject({ metadata: { finalizers: ['in-use.crossplane.io'] }, status: { users: 1 } })
  await kube.remove(config)
  await kube.remove(workspace)
  await kube.seeGone(workspace, patience)
  await kube.seeGone(config, patience)
})

test.each(['GitRepository', 'OCIRepository'])('a module of a %s that is not there is told', async (kind) => {
  const namespace = await bed.namespace('flux')
  const workspace: KubeObject = {
    apiVersion: 'tf.m.upbound.io/v1beta1',
    kind: 'Workspace',
    metadata: { name: 'demo', namespace },
    spec: { forProvider: { source: 'Flux', module: `${kind}::${namespace}/modules` } },
  }
  await kube.apply(workspace)
  const failed = await kube.see(
    workspace,
    'has failed',
    (object) => conditionOf(object, 'Synced') !== undefined,
    patience,
  )
  expect(conditionOf(failed, 'Synced')?.message).toMatch(/^connect failed: /)
  await kube.remove(workspace)
  await kube.seeGone(workspace, patience)
})

test('its metrics are for those whom the API server lets', async () => {
  const namespace = await bed.namespace('scrape')
  await kube.apply(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'scraper', namespace } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: namespace },
      rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: namespace },
      subjects: [{ kind: 'ServiceAccount', name: 'scraper', namespace }],
    },
  )
  const token = (await kube.kubectl(['create', 'token', 'scraper', '--namespace', namespace])).trim()
  const headers = { authorization: `Bearer ${token}` }
  const metrics = await until('it is let', async () => {
    // It signs its certificate itself.
    const question = get(`${bed.engine?.diagnostics}/metrics`, { headers, rejectUnauthorized: false })
    const [answer] = (await once(question, 'response')) as [IncomingMessage]
    const page = await text(answer)
    return page.includes('workqueue_depth') ? page : undefined
  })
  expect(metrics).toContain('workqueue_depth{name="workspace",controller="workspace"}')
})
