// Engines that come later, and managers that come back: nobody waits for what is not there, and nothing is done twice.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { isWrite, lendAudit, readAudit } from '../../../test/bed/audit.ts'
import { seeEstablished } from '../../../test/bed/core.ts'
import { conditionsOf } from '../../../test/bed/describe.ts'
import type { KubeObject } from '../../../test/bed/kube.ts'
import { launchManager, managerKubeconfig, managerUser, readLog, seeReady } from '../../../test/bed/manager.ts'
import { type OwnApi, startOwnApi } from '../../../test/bed/own.ts'
import { theBed } from '../../../test/bed/story.ts'
import { startPlayer } from '../../../test/player.ts'
import { aClient } from '../../../test/reaching.ts'
import { workspaceAPIs } from '../../api/workspace.ts'

const patience = { withinSeconds: 60 }
const root = resolve(import.meta.dirname, '../../..')
let api: OwnApi
beforeAll(async () => {
  api = await startOwnApi('arrival')
})
afterAll(async () => {
  if (api) await lendAudit(theBed(), api.auditLog, 'arrival-story')
  await api?.home.end()
})

const named = (kind: string, name: string, spec: object): KubeObject => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
  kind,
  metadata: { name, namespace: 'default' },
  spec,
})
const forProvider = { source: 'Inline', module: 'output "id" {\n  value = "one"\n}\n' }
const template = named('WorkspaceTemplate', 'hello', { template: { spec: { forProvider } } })
const anApply = (name: string) => named('WorkspaceTemplateApply', name, { templateRef: { name: 'hello' } })
const definitions = (file: string, group: string) =>
  parseAllDocuments(readFileSync(resolve(root, file), 'utf8'))
    .map((document) => document.toJS() as KubeObject)
    .filter(({ metadata }) => metadata.name.endsWith(`.${group}`))
const sees = async (apply: KubeObject, reason: string, within = patience) =>
  api.kube.see(
    apply,
    `is ${reason}`,
    (seen) => conditionsOf(seen).some((each) => each.type === 'Ready' && each.reason === reason),
    within,
  )
async function launch(name: string) {
  const kubeconfig = await managerKubeconfig({ kube: api.kube, folder: api.home.folder }, api)
  const manager = await launchManager(api.home, { name, kubeconfig })
  await seeReady(manager)
  return manager
}

test('an engine that comes later is found, a second one makes no difference, and a new manager writes nothing', async () => {
  const client = aClient(api.adminKubeconfig)
  const first = await launch('first')
  await api.kube.apply(template, anApply('early'))
  await sees(anApply('early'), 'NoEngine')

  await api.kube.apply(...definitions('manifests/engine/crds.yaml', 'tf.m.upbound.io'))
  await seeEstablished(api.kube)
  const player = startPlayer({
    client,
    api: workspaceAPIs['tf.m.upbound.io'],
    terraform: () => ({ outputs: { id: { value: 'one' } } }),
  })
  onTestFinished(player.stop)
  await api.kube.apply({
    apiVersion: 'tf.m.upbound.io/v1beta1',
    kind: 'ClusterProviderConfig',
    metadata: { name: 'default' },
    spec: {},
  })
  await sees(anApply('early'), 'Ready')

  // What was made stays where it is; new ones go where the others are.
  await api.kube.apply(...definitions('test/bed/other-engine-crds.yaml', 'opentofu.upbound.io'))
  await api.kube.apply(anApply('late'))
  const late = await sees(anApply('late'), 'Ready')
  expect(late['status']).toMatchObject({ workspaceAPI: 'tf.m.upbound.io', outputs: { id: 'one' } })

  await first.member.kill('SIGTERM')
  const complaints = (await readLog(first.address.log)).filter(({ msg }) => msg === 'a watch had trouble')
  expect(complaints.filter((each) => JSON.stringify(each).includes('404'))).toEqual([])

  const since = new Date()
  const second = await launch('second')
  await api.kube.apply(anApply('last'))
  await sees(anApply('last'), 'Ready') // it has one queue: all others were looked at before
  const writes = (await readAudit(api.auditLog, { user: managerUser, since })).filter(
    (each) => isWrite(each) && each.resource !== 'leases',
  )
  expect(writes.filter(({ name }) => ['early', 'late'].includes(name)).map(({ path }) => path)).toEqual([])
  expect(writes.filter(({ name }) => name === 'last')).not.toEqual([])
  await second.member.kill('SIGTERM')
})

test('an engine that gives no sign for two minutes is told, in every API; one that has left a usage is at work', async () => {
  const groups = ['tf.upbound.io', 'tf.m.upbound.io', 'opentofu.upbound.io', 'opentofu.m.upbound.io'] as const
  const files = ['manifests/engine/crds.yaml', 'test/bed/other-engine-crds.yaml']
  await api.kube.apply(...groups.flatMap((group) => files.flatMap((file) => definitions(file, group))))
  const manager = await launch('third')
  onTestFinished(async () => manager.member.kill('SIGTERM'))
  const usingIn = (group: string, name: string) =>
    named('WorkspaceTemplateApply', name, { templateRef: { name: group } })
  const silent = groups.map((group) => usingIn(group, `in.${group}`))
  const busy = usingIn('tf.m.upbound.io', 'busy')
  await api.kube.apply(
    ...groups.map((group) =>
      named('WorkspaceTemplate', group, { workspaceAPI: group, template: { spec: { forProvider } } }),
    ),
  )
  await api.kube.apply(...silent, busy)
  const workspace = { apiVersion: 'tf.m.upbound.io/v1beta1', kind: 'Workspace', metadata: busy.metadata }
  const { metadata } = await api.kube.see(workspace, 'is made', () => true, patience)
  await api.kube.apply({
    apiVersion: 'tf.m.upbound.io/v1beta1',
    kind: 'ProviderConfigUsage',
    metadata: { name: metadata.uid ?? '', namespace: 'default' },
    providerConfigRef: { kind: 'ClusterProviderConfig', name: 'default' },
    resourceRef: { apiVersion: workspace.apiVersion, kind: workspace.kind, name: 'busy' },
  })
  const told = await Promise.all(silent.map(async (each) => sees(each, 'EngineSilent', { withinSeconds: 300 })))
  const messages = told.map((each) => conditionsOf(each).find(({ type }) => type === 'Ready')?.message ?? '')
  for (const [index, group] of groups.entries()) expect(messages[index]).toContain(`the one that serves ${group} runs`)
  await sees(busy, 'Planning')
}, 400_000)
