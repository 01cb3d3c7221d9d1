// Whole lives of applies, in each of the four APIs, while a player moves their Workspaces as Crossplane's provider does. The
// manager is the real one, under the role that is shipped.
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { isWrite, lendAudit, readAudit } from '../../../test/bed/audit.ts'
import { seeEstablished } from '../../../test/bed/core.ts'
import { launchManager, managerKubeconfig, managerUser, readLog, seeReady } from '../../../test/bed/manager.ts'
import { type OwnApi, startOwnApi } from '../../../test/bed/own.ts'
import { theBed } from '../../../test/bed/story.ts'
import { aTeller } from '../../../test/golden.ts'
import { startPlayer, type Terraform } from '../../../test/player.ts'
import { until } from '../../../test/until.ts'
import { blockMoveAnnotation, pausedAnnotation } from '../../api/contract.ts'
import { annotations, holdFinalizer, labels } from '../../api/keys.ts'
import { ConfigMap, CustomResourceDefinition, Secret } from '../../api/neighbours.ts'
import type { JsonRecord } from '../../api/record.ts'
import type { Resource } from '../../api/resource.ts'
import { crossplane, type Workspace, type WorkspaceGroup, workspaceAPIs, workspaceGroups } from '../../api/workspace.ts'
import { WorkspaceTemplate } from '../../api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { type Client, createClient } from '../../kube/client.ts'
import { isNotFound } from '../../kube/errors.ts'
import { findAccess } from '../../kube/find.ts'
import { getIfThere } from '../../kube/ifthere.ts'
import { applyLabelOf, externalNameOf, workspaceNameOf } from '../../terraform/identity.ts'
import { luggageOn } from '../../terraform/luggage.ts'

type Apply = WorkspaceTemplateApply

const patience = { withinSeconds: 120, everyMs: 20 }
const manifests = resolve(import.meta.dirname, '../../../manifests')
const engines = [
  `${manifests}/engine/crds.yaml`,
  resolve(import.meta.dirname, '../../../test/bed/other-engine-crds.yaml'),
]
let api: OwnApi
let client: Client
let log: string
beforeAll(async () => {
  api = await startOwnApi('applies')
  await api.kube.kubectl(['apply', '--server-side', '--field-manager=bed', ...engines.flatMap((file) => ['-f', file])])
  client = createClient(findAccess({ kubeconfig: api.adminKubeconfig, env: {} }))
  await seeEstablished(api.kube)
  await api.kube.apply(
    ...workspaceGroups.map((group) => {
      const { clusterProviderConfig, providerConfig } = workspaceAPIs[group]
      const { kind } = clusterProviderConfig ?? providerConfig
      return { apiVersion: `${group}/v1beta1`, kind, metadata: { name: 'default' }, spec: {} }
    }),
  )
  const kubeconfig = await managerKubeconfig({ kube: api.kube, folder: api.home.folder }, api)
  const manager = await launchManager(api.home, { name: 'manager', kubeconfig })
  log = manager.address.log
  await seeReady(manager)
})
afterAll(async () => {
  if (api) await lendAudit(theBed(), api.auditLog, 'applies-story')
  client?.close()
  await api?.home.end()
})

const module = `
variable "cidr" {}
variable "password" {
  default   = ""
  sensitive = true
}
variable "region" { default = "here" }
output "id" { value = var.cidr }
output "region" { value = var.region }
output "token" {
  value     = var.password
  sensitive = true
}
`
// What that module would make of its variables.
const asWritten: Terraform = ({ cidr, password = '', region = 'here' }) => ({
  outputs: {
    id: { value: `id-${String(cidr)}` },
    region: { value: region },
    token: { value: `token-${String(password)}`, sensitive: true },
  },
})
const fails =
  (at: 'plan' | 'apply', summary: string): Terraform =>
  (inputs, workspace) =>
    inputs['cidr'] === '10.2.0.0/16' ? { fails: at, summary } : asWritten(inputs, workspace)

async function aStage(group: WorkspaceGroup, story: string) {
  const workspaceAPI = workspaceAPIs[group]
  const namespace = `${story}-${group.replaceAll('.', '-')}`
  await api.kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const buildMs = ({ metadata }: Workspace) => (metadata.name.endsWith('slow') ? 10_000 : 0)
  const player = startPlayer({ client, api: workspaceAPI, terraform: asWritten, buildMs })
  onTestFinished(player.stop)
  const at = (name: string) => ({ namespace, name })
  const template: WorkspaceTemplate = {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
    kind: 'WorkspaceTemplate',
    metadata: at('network'),
    spec: { workspaceAPI: group, template: { spec: { forProvider: { source: 'Inline', module } } } },
  }
  await client.create(WorkspaceTemplate, template)
  const isJudged = async () => (await client.get(WorkspaceTemplate, at('network'))).status?.conditions?.length
  await until('the template is judged', isJudged, patience)
  const anApply = async (name: string, spec: Partial<Apply['spec']> = {}, metadata: object = {}) =>
    client.create(WorkspaceTemplateApply, {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
      kind: 'WorkspaceTemplateApply',
      metadata: { ...at(name), ...metadata },
      spec: { templateRef: { name: 'network' }, deletionProtection: false, retainOnDelete: false, ...spec },
    })
  const read = async (name: string) => client.get(WorkspaceTemplateApply, at(name))
  const change = async (name: string, how: JsonRecord) => client.patch<Apply>(WorkspaceTemplateApply, at(name), how)
  const annotate = async (name: string, key: string, value: string | null) =>
    change(name, { metadata: { annotations: { [key]: value } } })
  const keyFor = (name: string) => {
    const own = workspaceNameOf(workspaceAPI, at(name))
    return workspaceAPI.isNamespaced ? at(own) : { name: own }
  }
  const workspace = async (name: string) => client.get(workspaceAPI.workspace, keyFor(name))
  const sees = async (name: string, what: string, isSo: (apply: Apply) => boolean) => {
    let last: Apply | undefined
    try {
      return await until(`${name} ${what}`, async () => (isSo((last = await read(name))) ? last : undefined), patience)
    } catch (error) {
      throw new Error(`${String(error)}\nseen last: ${JSON.stringify(last, undefined, 1)}`, { cause: error })
    }
  }
  const conditionOf = ({ status }: Apply, type: string) => status?.conditions?.find((each) => each.type === type)
  const says = async (name: string, type: string, reason: string) =>
    sees(name, `says ${type} because ${reason}`, (apply) => {
      const condition = conditionOf(apply, type)
      return condition?.reason === reason && condition.observedGeneration === apply.metadata.generation
    })
  const isGone = async (resource: Resource, key: { name: string; namespace?: string }) =>
    until(
      `${resource.kind} ${key.name} is gone`,
      async () =>
        client.get(resource, key).then(
          () => undefined,
          (error: unknown) => (isNotFound(error, key.name) ? true : undefined),
        ),
      patience,
    )
  return {
    workspaceAPI,
    namespace,
    at,
    player,
    template,
    anApply,
    read,
    change,
    annotate,
    keyFor,
    workspace,
    sees,
    says,
    conditionOf,
    isGone,
    // As golden logs tell it.
    told: (apply: Apply) => apply as unknown as Parameters<ReturnType<typeof aTeller>['says']>[0],
  }
}

async function secret(namespace: string, name: string, value: string): Promise<void> {
  const data = { value: Buffer.from(value).toString('base64') }
  await client.apply<Secret>(
    Secret,
    // Who labels it is not kept waiting.
    { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name, labels: { [labels.watch]: '' } }, data },
    { fieldManager: 'user', force: true },
  )
}

// What the manager wrote in a namespace, and on Workspaces that have none, up to now.
async function writesOf(namespace: string): Promise<readonly string[]> {
  const all = await readAudit(api.auditLog, { user: managerUser })
  return all
    .filter((each) => isWrite(each) && each.resource !== 'leases')
    .filter((each) => each.namespace === namespace || each.name.startsWith(`${namespace}.`))
    .map(({ verb, resource, name }) => `${verb} ${resource} ${name}`)
}

describe.each(workspaceGroups)('in %s', { timeout: 400_000 }, (group) => {
  test('a chain of two is made, changed, broken, mended, paused, and deleted in reverse', async () => {
    const stage = await aStage(group, 'chain')
    const { namespace, at, anApply, change, annotate, says, sees, workspace, told, player, conditionOf } = stage
    const teller = aTeller()
    const all = ['Ready', 'DependenciesReady', 'VariablesResolved', 'Applied', 'Synced'] as const

    teller.happens('an apply is made that waits for a Secret')
    await anApply('vpc', {
      variables: { cidr: '10.0.0.0/16' },
      variablesFrom: [
        { name: 'password', secret: { name: 'password', key: 'value', format: 'Text' }, optional: false },
        { name: 'region', configMap: { name: 'place', key: 'region', format: 'JSON' }, optional: true },
      ],
      waitForSecrets: [{ name: 'password' }],
    })
    teller.says(told(await says('vpc', 'Ready', 'WaitingForSecrets')), ...all)
    await anApply('eks', {
      variables: {},
      variablesFrom: [
        { name: 'cidr', apply: { name: 'vpc', output: 'id' }, optional: false },
        { name: 'password', apply: { name: 'vpc', output: 'token' }, optional: false },
      ],
    })
    teller.happens('another uses its outputs')
    teller.says(told(await says('eks', 'Ready', 'WaitingForWorkspaces')), ...all)

    teller.happens('the Secret comes: both converge, one after the other')
    await secret(namespace, 'password', 's3cr3t-one')
    const vpc = await says('vpc', 'Ready', 'Ready')
    teller.says(told(vpc), ...all)
    expect(vpc.status).toMatchObject({ workspaceAPI: group, applied: true, outputs: { id: 'id-10.0.0.0/16' } })
    expect(vpc.status?.outputs).not.toHaveProperty('token')
    expect(vpc.metadata.annotations?.[annotations.workspace]).toBe(`${group}/${stage.keyFor('vpc').name}`)
    const eks = await says('eks', 'Ready', 'Ready')
    teller.says(told(eks), ...all)
    expect(eks.status?.outputs).toEqual({ id: 'id-id-10.0.0.0/16', region: 'here' })
    const made = await workspace('vpc')
    expect(made.metadata).toMatchObject({
      labels: { [labels.apply]: applyLabelOf(at('vpc')) },
      annotations: { [crossplane.externalName]: externalNameOf(at('vpc')), [annotations.apply]: `${namespace}/vpc` },
    })
    expect(made.metadata.finalizers).toContain(holdFinalizer)
    expect(made.metadata.ownerReferences).toBeUndefined()
    expect(JSON.stringify([made, await workspace('eks')])).not.toMatch(/s3cr3t-one/)
    const vars = await client.get(Secret, at('vpc-vars'))
    expect(Object.keys(vars.data ?? {}).toSorted()).toEqual(
      [`${made.metadata.annotations?.[annotations.revision]}.json`, 'salt'].toSorted(),
    )

    teller.happens('nothing changes: nothing is written')
    // There is one queue: when this one was looked at, all others were, and what was written before is in the audit log.
    const seeAllLookedAt = async (last: string) => {
      await anApply(last, { templateRef: { name: 'none' } })
      await says(last, 'Ready', 'TemplateNotFound')
      await client.remove(WorkspaceTemplateApply, at(last))
    }
    await seeAllLookedAt('last-before')
    const before = await writesOf(namespace)
    await client.patch(WorkspaceTemplateApply, at('vpc'), { metadata: { labels: { touched: 'yes' } } })
    await client.patch(WorkspaceTemplate, at('network'), { metadata: { labels: { touched: 'yes' } } })
    await seeAllLookedAt('last-after')
    const since = (await writesOf(namespace)).slice(before.length)
    expect(since.filter((each) => !/ (\S+\.)?last-/.test(each))).toEqual([])

    teller.happens('a variable changes, and with it an output that the other uses')
    const first = vpc.status?.revision
    await change('vpc', { spec: { variables: { cidr: '10.1.0.0/16' } } })
    const changed = await sees('vpc', 'has converged anew', (each) => each.status?.outputs?.['id'] === 'id-10.1.0.0/16')
    expect(changed.status?.revision).not.toBe(first)
    await sees('eks', 'has followed', (each) => each.status?.outputs?.['id'] === 'id-id-10.1.0.0/16')
    teller.says(told(await says('vpc', 'Ready', 'Ready')), ...all)

    teller.happens('the Secret changes: the Workspace moves though its text is the same')
    await secret(namespace, 'password', 's3cr3t-two')
    const renewed = await sees(
      'vpc',
      'has a new revision',
      (each) => each.status?.revision !== changed.status?.revision,
    )
    teller.says(told(await says('vpc', 'Ready', 'Ready')), ...all)
    const keys = async () => Object.keys((await client.get(Secret, at('vpc-vars'))).data ?? {}).toSorted()
    await expect.poll(keys, { timeout: 120_000 }).toEqual([`${renewed.status?.revision}.json`, 'salt'].toSorted())

    teller.happens('so does a ConfigMap')
    const place = { apiVersion: 'v1', kind: 'ConfigMap', metadata: at('place'), data: { region: '"anywhere"' } }
    await client.create(ConfigMap, place)
    await annotate('vpc', 'example.com/look', 'again') // nobody has told us of the ConfigMap
    await sees('vpc', 'knows the region', (each) => each.status?.outputs?.['region'] === 'anywhere')
    await client.patch(ConfigMap, at('place'), { data: { region: '"there"' } })
    await sees('vpc', 'follows the ConfigMap', (each) => each.status?.outputs?.['region'] === 'there')
    teller.says(told(await says('vpc', 'Ready', 'Ready')), ...all)

    teller.happens('Terraform fails')
    player.plays(fails('apply', 'VpcLimitExceeded: too many'))
    await change('vpc', { spec: { variables: { cidr: '10.2.0.0/16' } } })
    const failed = await says('vpc', 'Ready', 'TerraformFailed')
    teller.says(told(failed), ...all)
    teller.notes(`it says: ${conditionOf(failed, 'Applied')?.message}`)
    expect(failed.status?.outputs).toEqual({ id: 'id-10.1.0.0/16', region: 'there' })
    const dependent = await says('eks', 'Ready', 'DependencyFailed')
    teller.says(told(dependent), ...all)
    teller.notes(`the other says: ${conditionOf(dependent, 'DependenciesReady')?.message}`)

    teller.happens('it is mended')
    player.plays()
    teller.says(told(await says('vpc', 'Ready', 'Ready')), ...all)
    await sees('eks', 'has followed', (each) => each.status?.outputs?.['id'] === 'id-id-10.2.0.0/16')

    teller.happens('it is paused, and its Workspace with it')
    await annotate('vpc', pausedAnnotation, '')
    teller.says(told(await says('vpc', 'Paused', 'Paused')), 'Paused', ...all)
    const paused = await until(
      'the Workspace is paused',
      async () => ((await workspace('vpc')).metadata.annotations?.[crossplane.paused] === 'true' ? true : undefined),
      patience,
    )
    expect(paused).toBe(true)
    teller.happens('and goes on')
    await annotate('vpc', pausedAnnotation, null)
    teller.says(told(await says('vpc', 'Paused', 'NotPaused')), 'Paused')
    const resumed = await until(
      'the Workspace goes on',
      async () => {
        const { metadata } = await workspace('vpc')
        return metadata.annotations?.[crossplane.paused] === undefined ? metadata : undefined
      },
      patience,
    )
    expect(resumed.annotations?.[annotations.paused]).toBeUndefined()
    teller.says(told(await says('vpc', 'Ready', 'Ready')), ...all)

    teller.happens('its Workspace is deleted by hand: nothing is destroyed, and it is made again')
    const { uid } = (await workspace('vpc')).metadata
    await client.remove(stage.workspaceAPI.workspace, stage.keyFor('vpc'))
    const again = await until(
      'there is a new Workspace',
      async () => {
        const found = await workspace('vpc').catch(() => undefined)
        return found && found.metadata.uid !== uid ? found : undefined
      },
      patience,
    )
    expect(again.metadata.annotations?.[crossplane.externalName]).toBe(externalNameOf(at('vpc')))
    teller.says(told(await says('vpc', 'Ready', 'Ready')), ...all)
    await says('eks', 'Ready', 'Ready')
    expect(player.destroyed).toEqual([])

    teller.happens('it is deleted while the other still uses it')
    await client.remove(WorkspaceTemplateApply, at('vpc'))
    const waiting = await says('vpc', 'Deleting', 'Deleting')
    teller.says(told(waiting), 'Ready', 'Deleting')
    teller.notes(`it says: ${conditionOf(waiting, 'Deleting')?.message}`)
    teller.happens('the other goes, and then it goes')
    await client.remove(WorkspaceTemplate, at('network')) // nobody needs it any more
    await client.remove(WorkspaceTemplateApply, at('eks'))
    for (const name of ['eks', 'vpc']) {
      await stage.isGone(WorkspaceTemplateApply, at(name))
      await stage.isGone(Secret, at(`${name}-vars`))
      await stage.isGone(stage.workspaceAPI.workspace, stage.keyFor(name))
    }
    expect(player.destroyed.map((each) => each.replace(/.*[./]/, ''))).toEqual(['eks', 'vpc'])
    await teller.end('chain')
  })

  test('what fails from the beginning says so at a plan and at an apply, and goes on when it is mended', async () => {
    const { anApply, at, says, sees, workspace, conditionOf, player, isGone } = await aStage(group, 'failing')
    const variables = { cidr: '10.2.0.0/16' }
    const conditionsOn = async (name: string) =>
      ((await workspace(name)).status?.conditions ?? []).map(({ type, status }) => `${type}=${status}`)
    player.plays(fails('plan', 'Reference to undeclared resource'))
    await anApply('planned', { variables })
    const planned = await says('planned', 'Ready', 'TerraformFailed')
    expect(conditionOf(planned, 'Applied')?.message).toContain('Reference to undeclared resource')
    expect(await conditionsOn('planned')).toEqual(['Synced=False'])
    expect((await workspace('planned')).metadata.finalizers).toEqual([holdFinalizer])

    player.plays(fails('apply', 'VpcLimitExceeded: too many'))
    await anApply('applied', { variables })
    const applied = await says('applied', 'Ready', 'TerraformFailed')
    expect(conditionOf(applied, 'Applied')?.message).toContain('VpcLimitExceeded: too many')
    expect(await conditionsOn('applied')).toEqual(['Ready=False', 'Synced=False'])
    await sees('planned', 'fails as the other', (each) =>
      Boolean(conditionOf(each, 'Applied')?.message.includes('VpcLimitExceeded')),
    )

    player.plays()
    for (const name of ['planned', 'applied']) {
      await says(name, 'Ready', 'Ready')
      await client.remove(WorkspaceTemplateApply, at(name))
      await isGone(WorkspaceTemplateApply, at(name))
    }
    expect(player.destroyed).toHaveLength(2)
  })

  test('a Workspace of somebody else is left alone, and an old one is taken over only when somebody says so', async () => {
    const stage = await aStage(group, 'others')
    const { workspaceAPI, namespace, at, anApply, annotate, says, conditionOf, player } = stage
    const { workspace: resource } = workspaceAPI
    const theirs = (name: string, more: JsonRecord = {}): Workspace => ({
      apiVersion: `${group}/v1beta1`,
      kind: 'Workspace',
      metadata: workspaceAPI.isNamespaced ? at(name) : { name },
      spec: {
        forProvider: { source: 'Inline', module: '# theirs', ...more },
        writeConnectionSecretToRef: { name: `${name}-conn`, ...(!workspaceAPI.isNamespaced && { namespace }) },
      },
    })
    const foreign = theirs(stage.keyFor('taken').name)
    await client.create(resource, foreign)
    await anApply('taken', { variables: { cidr: 'mine' } })
    const taken = await says('taken', 'Ready', 'NameTaken')
    expect(conditionOf(taken, 'Applied')?.message).toContain('is left alone')

    // As the predecessor left it: a name in the status, nothing on the Workspace.
    const oldName = `${namespace}-old`
    const old = theirs(oldName, { vars: [{ key: 'cidr', value: 'old' }] })
    await client.create(resource, old)
    const recorded = await anApply(
      'old-apply',
      { variables: { cidr: 'new' } },
      { annotations: { [pausedAnnotation]: '' } },
    )
    await client.patch(
      WorkspaceTemplateApply,
      at('old-apply'),
      { metadata: { uid: recorded.metadata.uid }, status: { workspaceName: oldName, applied: true } },
      { subresource: 'status' },
    )
    await annotate('old-apply', pausedAnnotation, null)
    const frozen = await says('old-apply', 'Applied', 'AdoptionFrozen')
    const message = conditionOf(frozen, 'Applied')?.message ?? ''
    expect(message).toContain('it would change spec.forProvider.module')
    expect(message).toContain('spec.forProvider.vars')
    expect(message).toContain(
      `kubectl annotate workspacetemplateapply old-apply --namespace ${namespace} --overwrite ${annotations.adopt}=approved`,
    )
    const key = workspaceAPI.isNamespaced ? at(oldName) : { name: oldName }
    const untouched = await client.get(resource, key)
    expect(untouched.spec.forProvider.module).toBe('# theirs')
    expect(untouched.metadata.labels).toBeUndefined()
    expect(untouched.metadata.finalizers ?? []).not.toContain(holdFinalizer)

    await annotate('old-apply', annotations.adopt, 'approved')
    const adopted = await says('old-apply', 'Ready', 'Ready')
    expect(adopted.status).toMatchObject({ workspaceName: oldName, outputs: { id: 'id-new' } })
    const kept = await until(
      'what others left is gone',
      async () => {
        const found = await client.get(resource, key)
        return found.spec.forProvider.vars === undefined ? found : undefined
      },
      patience,
    )
    expect(kept.metadata.annotations?.[crossplane.externalName]).toBe(oldName)
    expect(kept.spec.forProvider).toMatchObject({ module, varmap: { cidr: 'new' } })

    // It was only looked at, and stays.
    const left = await client.get(resource, workspaceAPI.isNamespaced ? at('taken') : { name: foreign.metadata.name })
    expect(left.spec.forProvider.module).toBe('# theirs')
    await client.remove(WorkspaceTemplateApply, at('taken'))
    await stage.isGone(WorkspaceTemplateApply, at('taken'))
    expect((await client.get(resource, stage.keyFor('taken'))).metadata.deletionTimestamp).toBeUndefined()

    // Retained: the apply goes, the Workspace stays without a hold, and nobody destroys anything.
    await stage.change('old-apply', { spec: { retainOnDelete: true } })
    await client.remove(WorkspaceTemplateApply, at('old-apply'))
    await stage.isGone(WorkspaceTemplateApply, at('old-apply'))
    const retained = await client.get(resource, key)
    expect(retained.metadata.deletionTimestamp).toBeUndefined()
    expect(retained.metadata.finalizers ?? []).not.toContain(holdFinalizer)
    const { managementPolicies = [], deletionPolicy } = retained.spec
    expect(workspaceAPI.isNamespaced ? managementPolicies.includes('Delete') : deletionPolicy).toBe(
      workspaceAPI.isNamespaced ? false : 'Orphan',
    )
    expect(player.destroyed).toEqual([])
  })
})

test('where Crossplane runs Terraform, changes wait for approval when somebody asked for that', async () => {
  const group = 'opentofu.m.upbound.io'
  const { anApply, change, annotate, says, sees, workspace, conditionOf, at, isGone } = await aStage(group, 'guard')
  await ownedByCrossplane(group)
  await anApply('vpc', { variables: { cidr: 'one' }, destructiveChanges: 'Hold' })
  await says('vpc', 'Ready', 'Ready')
  const policies = async () => (await workspace('vpc')).spec.managementPolicies
  await expect.poll(policies, { timeout: 120_000 }).toEqual(['Observe', 'Create', 'Delete'])

  await change('vpc', { spec: { variables: { cidr: 'two' } } })
  const held = await says('vpc', 'Ready', 'ApprovalRequired')
  const command = conditionOf(held, 'Applied')?.message ?? ''
  const approval = /approve=(\S+)/.exec(command)?.[1] ?? ''
  expect(approval).toBe((await workspace('vpc')).metadata.annotations?.[annotations.revision])
  expect(held.status?.outputs).toMatchObject({ id: 'id-one' })
  await annotate('vpc', annotations.approve, approval)
  await sees('vpc', 'has carried it out', ({ status }) => status?.outputs?.['id'] === 'id-two')
  await expect.poll(policies, { timeout: 120_000 }).toEqual(['Observe', 'Create', 'Delete'])
  await says('vpc', 'Ready', 'Ready')

  // Who does not ask for it any more has everything carried out.
  await change('vpc', { spec: { destructiveChanges: 'Allow', variables: { cidr: 'three' } } })
  await sees('vpc', 'has carried it out', ({ status }) => status?.outputs?.['id'] === 'id-three')
  expect(await policies()).toEqual(['*'])
  await client.remove(WorkspaceTemplateApply, at('vpc'))
  await isGone(WorkspaceTemplateApply, at('vpc'))
})

// As Crossplane's package manager leaves it, while a test runs.
async function ownedByCrossplane(group: WorkspaceGroup): Promise<void> {
  const owner = { apiVersion: 'pkg.crossplane.io/v1', kind: 'ProviderRevision', name: 'terraform', uid: randomUUID() }
  const owned = async (...ownerReferences: readonly object[]) =>
    client.patch(CustomResourceDefinition, { name: `workspaces.${group}` }, { metadata: { ownerReferences } })
  await owned(owner)
  onTestFinished(async () => void (await owned()))
}

const inBucket = (bucket: string) => `terraform {\n  backend "s3" {\n    bucket = "${bucket}"\n  }\n}\n`
const inCluster = 'terraform {\n  backend "kubernetes" {\n    in_cluster_config = true\n  }\n}\n'

describe.each(workspaceGroups)('where Crossplane runs Terraform in %s', { timeout: 400_000 }, (group) => {
  test('a state outside of the cluster lets its apply be moved, and one in it says why not', async () => {
    const stage = await aStage(group, 'moving')
    const { namespace, at, anApply, annotate, says, sees, conditionOf, workspaceAPI } = stage
    await ownedByCrossplane(group)
    const { providerConfig, clusterProviderConfig } = workspaceAPI
    const aConfig = ({ kind, isClusterScoped }: Resource, name: string, configuration: string) => ({
      apiVersion: `${group}/v1beta1`,
      kind: kind as 'ProviderConfig',
      metadata: isClusterScoped ? { name: `${namespace}-${name}` } : at(name),
      spec: { configuration },
    })
    const outside = aConfig(clusterProviderConfig ?? providerConfig, 'outside', inBucket('states'))
    const inside = aConfig(providerConfig, 'inside', inCluster)
    await api.kube.apply(outside, inside)
    const refTo = ({ kind, metadata: { name } }: typeof inside) => ({ providerConfigRef: { kind, name } })
    await anApply('vpc', { variables: { cidr: 'one' }, ...refTo(outside) })
    await anApply('eks', { variables: { cidr: 'two' }, ...refTo(inside) })
    for (const name of ['vpc', 'eks']) await says(name, 'Ready', 'Ready')
    const mayMove = ({ metadata }: Apply) => metadata.annotations?.[blockMoveAnnotation] === undefined
    for (const name of ['vpc', 'eks']) expect(mayMove(await stage.read(name))).toBe(false)

    for (const name of ['vpc', 'eks']) await annotate(name, pausedAnnotation, '')
    const moved = await sees('vpc', 'may be moved', mayMove)
    const paused = await stage.workspace('vpc')
    expect(paused.status?.conditions).toContainEqual(
      expect.objectContaining({ reason: 'ReconcilePaused', observedGeneration: paused.metadata.generation }),
    )
    const { metadata: luggage } = await client.get(Secret, at('vpc-state'))
    expect(luggageOn(luggage)).toEqual({
      backend: 'other',
      group,
      externalName: externalNameOf(at('vpc')),
      place: 's3 (bucket states)',
    })
    expect(luggage.annotations?.[annotations.moved]).toBe(paused.metadata.annotations?.[annotations.moved])
    expect(luggage.ownerReferences?.map(({ uid }) => uid)).toEqual([moved.metadata.uid])
    const isTold = (apply: Apply) => conditionOf(apply, 'Paused')?.message.includes('cannot be moved')
    const stuck = await sees('eks', 'says why it is not moved', (apply) => isTold(apply) === true)
    expect(conditionOf(stuck, 'Paused')?.message).toMatch(/its state is in a Secret of a cluster .* such as s3/)
    expect(mayMove(stuck)).toBe(false)

    // What it asks for is done. It would look again by itself within half a minute.
    await api.kube.apply({ ...inside, spec: { configuration: inBucket('states') } })
    await annotate('eks', 'example.com/look', 'again')
    await sees('eks', 'may be moved', mayMove)
    await sees('eks', 'has nothing more to say', (apply) => isTold(apply) === false)

    // Nobody moved them: they go on, and cannot be moved any more.
    for (const name of ['vpc', 'eks']) await annotate(name, pausedAnnotation, null)
    for (const name of ['vpc', 'eks']) {
      await sees(name, 'cannot be moved', (apply) => !mayMove(apply))
      await client.remove(WorkspaceTemplateApply, at(name))
      await stage.isGone(WorkspaceTemplateApply, at(name))
    }
    expect(stage.player.destroyed).toHaveLength(2)
  })
})

test('where Crossplane runs Terraform, none is moved while it is built, nor goes on without its state where it arrived', async () => {
  const group = 'tf.m.upbound.io'
  const stage = await aStage(group, 'busy')
  const { namespace, at, anApply, annotate, says, sees, conditionOf, workspace } = stage
  await ownedByCrossplane(group)
  const aConfig = (bucket: string) => ({
    apiVersion: `${group}/v1beta1`,
    kind: 'ProviderConfig',
    metadata: at('states'),
    spec: { configuration: inBucket(bucket) },
  })
  await api.kube.apply(aConfig('states'))
  const spec = { variables: { cidr: 'one' }, providerConfigRef: { kind: 'ProviderConfig', name: 'states' } } as const
  await anApply('slow', spec)
  const notes = async () => (await getIfThere(client, stage.workspaceAPI.workspace, at('slow')))?.metadata.annotations
  await until('it is being built', async () => (await notes())?.[crossplane.createPending], patience)
  await annotate('slow', pausedAnnotation, '')
  const busy = await sees('slow', 'says that it waits', (apply) =>
    Boolean(conditionOf(apply, 'Paused')?.message.includes('Terraform may still be at work')),
  )
  expect(busy.metadata.annotations).toHaveProperty([blockMoveAnnotation])
  await sees('slow', 'may be moved', ({ metadata }) => metadata.annotations?.[blockMoveAnnotation] === undefined)
  expect(await notes()).toHaveProperty([crossplane.createSucceeded])

  // One that comes from elsewhere: as clusterctl makes it, what it owns first.
  const luggage = { backend: 'other', group, externalName: externalNameOf(at('come')), place: 's3 (bucket old)' }
  await api.kube.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      ...at('come-state'),
      labels: { [labels.apply]: applyLabelOf(at('come')) },
      annotations: { [annotations.apply]: `${namespace}/come`, [annotations.state]: JSON.stringify(luggage) },
    },
  })
  await anApply('come', spec, { annotations: { [annotations.workspace]: `${group}/come` } })
  const held = await says('come', 'Ready', 'StateMissing')
  expect(conditionOf(held, 'Applied')?.message).toContain('in s3 (bucket old), and the ProviderConfig here leads to s3')
  await expect(workspace('come')).rejects.toThrow('not found')
  await api.kube.apply(aConfig('old'))
  await annotate('come', 'example.com/look', 'again')
  await says('come', 'Ready', 'Ready')
  await annotate('slow', pausedAnnotation, null)
  for (const name of ['slow', 'come']) {
    await client.remove(WorkspaceTemplateApply, at(name))
    await stage.isGone(WorkspaceTemplateApply, at(name))
  }
}, 400_000)

test('in a namespace that goes, what was deleted with it is destroyed in order, and nothing is made', async () => {
  const stage = await aStage('tf.m.upbound.io', 'leaving')
  const { namespace, at, anApply, says, workspace, keyFor, workspaceAPI, isGone, player } = stage
  await secret(namespace, 'password', 's3cr3t')
  const password = {
    name: 'password',
    secret: { name: 'password', key: 'value', format: 'Text' },
    optional: false,
  } as const
  await anApply('vpc', { variables: { cidr: 'one' }, variablesFrom: [password] })
  await says('vpc', 'Ready', 'Ready')
  await anApply('eks', {
    variablesFrom: [{ name: 'cidr', apply: { name: 'vpc', output: 'id' }, optional: false }, password],
  })
  await says('eks', 'Ready', 'Ready')

  // There is nobody here who empties a namespace: what he would delete is deleted by hand, in a bad order.
  await api.kube.kubectl(['delete', 'namespace', namespace, '--wait=false'])
  for (const name of ['vpc', 'eks']) await client.remove(workspaceAPI.workspace, keyFor(name))
  for (const name of ['vpc-vars', 'eks-vars', 'password']) await client.remove(Secret, at(name))
  await client.remove(WorkspaceTemplate, at('network'))
  for (const name of ['vpc', 'eks']) {
    const applied = await says(name, 'Applied', 'Applying')
    expect(stage.conditionOf(applied, 'Applied')?.message).toContain('is being deleted with its namespace')
    expect((await workspace(name)).metadata.finalizers).toContain(holdFinalizer)
  }
  for (const name of ['vpc', 'eks']) await client.remove(WorkspaceTemplateApply, at(name))
  for (const name of ['eks', 'vpc']) {
    await isGone(WorkspaceTemplateApply, at(name))
    await isGone(Secret, at(`${name}-vars`))
    await isGone(workspaceAPI.workspace, keyFor(name))
  }
  expect(player.destroyed.map((each) => each.replace(/.*[/]/, ''))).toEqual(['eks', 'vpc'])
})

test('nothing that was secret was logged', async () => {
  const lines = await readLog(log)
  expect(lines.length).toBeGreaterThan(10)
  expect(JSON.stringify(lines)).not.toMatch(/s3cr3t/)
  const failures = lines.filter(({ level }) => level === 'error')
  expect(failures).toEqual([])
})
