// Clusters that are deleted at every stage of their lives, under real Cluster API core: by our engine with real OpenTofu, and by a player that moves
// Workspaces as Crossplane's provider does. EKS is gone before its network is touched, each is destroyed once, and nothing is left.
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { annotations } from '../../src/api/keys.ts'
import { seal } from '../../src/api/sealed.ts'
import { type WorkspaceGroup, workspaceAPIs } from '../../src/api/workspace.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { findAccess } from '../../src/kube/find.ts'
import { writeKubeconfig } from '../../src/secrets/kubeconfig.ts'
import { runCommand } from '../bed/command.ts'
import { seeEstablished } from '../bed/core.ts'
import type { KubeObject } from '../bed/kube.ts'
import { bedAws } from '../bed/manager.ts'
import { aWorkload, theBed } from '../bed/story.ts'
import { startWorkload, type Workload } from '../bed/workload.ts'
import { aCaptCluster, type ClusterObjects, leadingTo, offlineSecret } from '../clusters.ts'
import { aDiary, type Diary } from '../diary.ts'
import { aWorkspaceTemplate, aWorkspaceTemplateApply } from '../given.ts'
import { conditionOf, patience, seeEvent, seeNothingLeft, seeSaying, workspaceOf } from '../lives.ts'
import { type Player, startPlayer, type Terraform } from '../player.ts'

const bed = theBed()
const { kube } = bed
const workload = aWorkload()
const eksName = 'farewell' // of the one cluster for which tokens are signed
const signed = aWorkload({ eks: { clusterName: eksName, credentials: bedAws } })

type Engine = 'our engine' | 'a player'
const groups: Readonly<Record<Engine, WorkspaceGroup>> = {
  'our engine': 'tf.m.upbound.io',
  'a player': 'opentofu.m.upbound.io',
}
const awayGroup: WorkspaceGroup = 'opentofu.upbound.io' // where the player stops

let client: Client
let player: Player
beforeAll(async () => {
  await kube.kubectl([
    'apply',
    '--server-side',
    '--field-manager=bed',
    '-f',
    join(import.meta.dirname, '../bed/other-engine-crds.yaml'),
  ])
  await seeEstablished(kube)
  for (const group of [groups['a player'], awayGroup]) {
    const { clusterProviderConfig, providerConfig } = workspaceAPIs[group]
    const { kind } = clusterProviderConfig ?? providerConfig
    await kube.apply({ apiVersion: `${group}/v1beta1`, kind, metadata: { name: 'default' }, spec: {} })
  }
  client = createClient(findAccess({ kubeconfig: bed.kubeconfig, env: {} }))
  player = startPlayer({ client, api: workspaceAPIs[groups['a player']], terraform, buildMs })
}, 300_000)
afterAll(() => {
  player?.stop()
  client?.close()
})

// What the offline templates would make of their variables.
const terraform: Terraform = ({ tags, workload: there, cluster_name: name, kubernetes_version: version }) => {
  const marks = (tags ?? {}) as Readonly<Record<string, string>>
  const fault = there ? 'no-eks' : 'no-vpc'
  if (fault in marks) return { fails: 'apply', summary: `LimitExceeded (tag ${fault})` }
  if (!there) return { outputs: { vpc_id: { value: 'vpc-0123456789abcdef0' }, private_subnets: { value: [] } } }
  const { endpoint, ca, token } = there as Readonly<Record<'endpoint' | 'ca' | 'token', string>>
  const kubeconfig = writeKubeconfig('eks', { server: endpoint, ca, token: seal(token) }).open()
  return {
    outputs: {
      cluster_name: { value: name },
      cluster_version: { value: version },
      cluster_endpoint: { value: endpoint },
      cluster_certificate_authority_data: { value: Buffer.from(ca).toString('base64') },
      kubeconfig: { value: kubeconfig, sensitive: true },
    },
  }
}

// Which run takes a while is said by the name of the namespace.
function buildMs({ metadata: { name, namespace = '' } }: { readonly metadata: KubeObject['metadata'] }): number {
  return namespace.includes(name.endsWith('-vpc') ? 'slow-vpc' : 'slow-eks') ? 4000 : 0
}

interface Stage extends ClusterObjects {
  readonly namespace: string
  readonly group: WorkspaceGroup
  readonly diary: Diary
  serves(): Promise<void>
  removed(): Promise<void>
  gone(): Promise<readonly string[]> // everything: what was destroyed, in order
}

interface Asked {
  readonly network?: object
  readonly controlPlane?: object
  readonly group?: WorkspaceGroup
  readonly there?: Workload
}

async function aStage(engine: Engine, story: string, { group = groups[engine], there, ...asked }: Asked = {}) {
  const namespace = await bed.namespace(story)
  const diary = aDiary(bed.folder, namespace, { group, isReplacing: true })
  await kube.apply(offlineSecret(namespace, leadingTo(there ?? workload())), ...diary.templates)
  const objects = aCaptCluster({ namespace, ...asked })
  const { cluster, controlPlane } = objects
  const stage: Stage = {
    ...objects,
    namespace,
    group,
    diary,
    serves: async () => void (await kube.seeCondition(controlPlane, 'Available', 'True', patience)),
    removed: async () => kube.remove(cluster),
    async gone() {
      await kube.seeGone(cluster, patience)
      await seeNothingLeft(kube, namespace)
      if (engine === 'a player') return destroyedBy(player, namespace)
      return destroyedIn(diary)
    },
  }
  return stage
}

function destroyedBy({ destroyed }: Player, namespace: string): readonly string[] {
  const names = destroyed
    .filter((each) => each.includes(`/${namespace}`))
    .map((each) => each.split(/[/.]/).at(-1) ?? '')
  return names.map((name) => (name.endsWith('-vpc') ? 'vpc' : 'eks'))
}

// What was made is gone, as often as it was made.
async function destroyedIn(diary: Diary): Promise<readonly string[]> {
  const lines = await diary.lines()
  const of = (deed: string) => lines.filter((line) => line.startsWith(deed)).map((line) => line.slice(deed.length + 1))
  expect(of('gone').toSorted()).toEqual(of('made').toSorted())
  return of('gone')
    .map((line) => line.split(' ')[0] ?? '')
    .filter((what) => what !== 'upgrade')
}

const goneIn = async ({ diary }: Stage) => (await diary.lines()).filter((line) => line.startsWith('gone'))
const tellsOf = (seen: KubeObject) => conditionOf(seen, 'Deleting')?.message ?? ''
const applyOf = ({ namespace }: Stage, name: string) => aWorkspaceTemplateApply({ namespace, name: `demo-${name}` })
const both = ['eks', 'vpc']

interface Row {
  readonly when: string
  readonly asked?: Asked
  readonly engines?: readonly Engine[]
  readonly destroyed: readonly string[] | Readonly<Record<Engine, readonly string[]>>
  live(stage: Stage, engine: Engine): Promise<void> // until it is deleted
}

const slow = (what: 'vpc' | 'eks'): Row => ({
  when: `slow-${what}`,
  destroyed: what === 'vpc' ? ['vpc'] : both,
  async live(stage, engine) {
    await stage.diary.shut(what)
    await kube.apply(...stage.all)
    const apply = applyOf(stage, what === 'vpc' ? 'vpc' : 'eks-controlplane')
    if (engine === 'our engine') await stage.diary.sees(`made ${what}`)
    else
      await kube.see(
        workspaceOf(stage.group, apply),
        'is being made',
        ({ metadata }) => 'crossplane.io/external-create-pending' in (metadata.annotations ?? {}),
        patience,
      )
    await stage.removed()
    const owner = what === 'vpc' ? stage.network : stage.controlPlane
    await kube.see(owner, 'goes', ({ metadata }) => metadata.deletionTimestamp !== undefined, patience)
    await stage.diary.open(what)
  },
})

const failed = (what: 'vpc' | 'eks', destroyed: Row['destroyed']): Row => {
  const additionalTags = { [`no-${what}`]: 'x' }
  return {
    when: `failed-${what}`,
    asked: what === 'vpc' ? { network: { additionalTags } } : { controlPlane: { additionalTags } },
    destroyed,
    async live(stage) {
      await kube.apply(...stage.all)
      if (what === 'vpc') await seeSaying(kube, stage.network, 'VPCReady', 'VPCCreationFailed')
      else await seeSaying(kube, stage.controlPlane, 'EKSApplied', 'TerraformFailed')
      await stage.removed()
    },
  }
}

const rows: readonly Row[] = [
  {
    when: 'unowned',
    destroyed: [],
    async live({ network, controlPlane }) {
      await kube.apply(network, controlPlane)
      for (const each of [network, controlPlane]) await seeSaying(kube, each, 'Ready', 'WaitingForCluster')
      for (const each of [network, controlPlane]) await kube.remove(each)
      for (const each of [network, controlPlane]) await kube.seeGone(each, patience)
    },
  },
  slow('vpc'),
  slow('eks'),
  // Crossplane runs a destroy even where nothing could be made; here only what was made counts.
  failed('vpc', { 'our engine': [], 'a player': ['vpc'] }),
  failed('eks', { 'our engine': ['vpc'], 'a player': both }),
  {
    when: 'paused',
    destroyed: both,
    async live(stage) {
      await kube.apply(...stage.all)
      await stage.serves()
      await kube.patch(stage.cluster, { spec: { paused: true } })
      await kube.seeCondition(stage.controlPlane, 'Paused', 'True', patience)
      await stage.removed()
      await kube.remove(stage.controlPlane)
      await kube.see(
        stage.controlPlane,
        'says that it waits',
        (seen) => tellsOf(seen).startsWith('waits while it is paused'),
        patience,
      )
      expect((await kube.read(applyOf(stage, 'eks-controlplane')))?.metadata.deletionTimestamp).toBeUndefined()
      await kube.patch(stage.cluster, { spec: { paused: null } })
    },
  },
  {
    when: 'upgrading',
    asked: { controlPlane: { destructiveChanges: 'Allow' } },
    destroyed: both,
    async live(stage, engine) {
      await kube.apply(...stage.all)
      await stage.serves()
      await stage.diary.shut('upgrade')
      await kube.patch(stage.controlPlane, { spec: { version: 'v1.35.0' } })
      if (engine === 'our engine') await stage.diary.sees('made upgrade 1.35')
      else
        await kube.see(
          workspaceOf(stage.group, applyOf(stage, 'eks-controlplane')),
          'is asked for the step',
          (seen) => JSON.stringify(seen['spec']).includes('"kubernetes_version":"1.35"'),
          patience,
        )
      await stage.removed()
      await kube.see(stage.controlPlane, 'goes', ({ metadata }) => metadata.deletionTimestamp !== undefined, patience)
      await stage.diary.open('upgrade')
    },
  },
  {
    when: 'unapproved',
    engines: ['our engine'], // Crossplane shows nobody its plans
    destroyed: both,
    async live(stage) {
      await kube.apply(...stage.all)
      await stage.serves()
      await kube.patch(stage.controlPlane, { spec: { version: 'v1.35.0' } })
      await seeSaying(kube, stage.controlPlane, 'EKSApplied', 'ApprovalRequired')
      await stage.removed()
    },
  },
]

const table = rows.flatMap(({ engines = ['our engine', 'a player'] as const, ...row }) =>
  engines.map((engine) => ({ engine, ...row })),
)

describe('deleted at any stage, a cluster leaves nothing', () => {
  test.concurrent.each(table)(
    '$when, with $engine',
    async ({ when, engine, asked, destroyed, live }) => {
      const stage = await aStage(engine, when, asked)
      await live(stage, engine)
      expect(await stage.gone()).toEqual('our engine' in destroyed ? destroyed[engine] : destroyed)
    },
    300_000,
  )

  test.concurrent('while its engine is away: it waits for that', async ({ onTestFinished }) => {
    const api = workspaceAPIs[awayGroup]
    const first = startPlayer({ client, api, terraform })
    const stage = await aStage('a player', 'away', { group: awayGroup })
    await kube.apply(...stage.all)
    await stage.serves()
    first.stop()
    await stage.removed()
    const eks = applyOf(stage, 'eks-controlplane')
    await kube.see(eks, 'waits', (seen) => tellsOf(seen).startsWith('waits until Terraform has destroyed'), patience)
    expect((await kube.read(stage.network))?.metadata.deletionTimestamp).toBeUndefined()
    const second = startPlayer({ client, api, terraform })
    onTestFinished(second.stop)
    expect(await stage.gone()).toEqual([])
    expect(destroyedBy(second, stage.namespace)).toEqual(both)
  }, 300_000)

  test.concurrent('after its API server is gone: it waits for a word', async () => {
    const doomed = await startWorkload()
    const stages = await Promise.all(
      (['our engine', 'a player'] as const).map(async (engine) => aStage(engine, 'orphaned', { there: doomed })),
    )
    for (const { all } of stages) await kube.apply(...all)
    for (const stage of stages) await stage.serves()
    await doomed.stop()
    for (const stage of stages) {
      await stage.removed()
      const waits = await seeSaying(kube, stage.controlPlane, 'Deleting', 'WaitingForCleanup')
      expect(tellsOf(waits)).toMatch(/^waits until it is known that no Service .* nobody listens at/)
      const eks = workspaceOf(stage.group, applyOf(stage, 'eks-controlplane'))
      expect((await kube.read(eks))?.metadata.deletionTimestamp).toBeUndefined()
      await kube.patch(stage.controlPlane, { metadata: { annotations: { [annotations.skipCleanup]: 'true' } } })
      expect(await stage.gone()).toEqual(both)
      await seeEvent(kube, stage.controlPlane, 'CleanupSkipped')
    }
  }, 300_000)
})

const aService = (name: string, type: string, finalizers: readonly string[] = []): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'default', name, finalizers },
  spec: { type, ports: [{ port: 80 }] },
})

test.concurrent('load balancers go before EKS does, and a whole namespace takes its cluster down in the right order', async () => {
  const stage = await aStage('our engine', 'whole', {
    there: signed(),
    controlPlane: { eksClusterName: eksName, kubeconfig: { source: 'AWS' }, deletionProtection: true },
  })
  const { namespace, controlPlane } = stage
  const { kube: inside } = signed()
  const [web, quick, plain] = [
    aService('web', 'LoadBalancer', ['example.com/balancer']),
    aService('quick', 'LoadBalancer'),
    aService('plain', 'ClusterIP'),
  ] as const
  await inside.apply(web, quick, plain)
  await kube.apply(...stage.all)
  await stage.serves()

  const whole = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
  await kube.remove(whole)
  const workspaces = ['vpc', 'eks-controlplane'].map((each) => workspaceOf(stage.group, applyOf(stage, each)))
  await kube.see(stage.network, 'goes', ({ metadata }) => metadata.deletionTimestamp !== undefined, patience)
  await expect(kube.remove(controlPlane)).rejects.toThrow('has deletionProtection')
  for (const each of [stage.cluster, controlPlane, applyOf(stage, 'eks-controlplane')])
    expect((await kube.read(each))?.metadata.deletionTimestamp).toBeUndefined()
  for (const each of workspaces) expect(await kube.read(each)).toBeDefined()
  expect(await goneIn(stage)).toEqual([])
  await kube.patch(controlPlane, { spec: { deletionProtection: false } })
  const isTold = (seen: KubeObject) => conditionOf(seen, 'Deleting')?.reason === 'WaitingForCleanup'
  const waits = await kube.see(controlPlane, 'waits for the Service', isTold, patience)
  expect(tellsOf(waits)).toBe('waits until Services of type LoadBalancer are gone from the cluster: default/web')
  expect(await inside.read(quick)).toBeUndefined()
  expect((await inside.read(web))?.metadata.deletionTimestamp).toBeDefined()
  expect(await goneIn(stage)).toEqual([])
  for (const line of ['made balancer', 'gone balancer']) await stage.diary.write(line)
  await inside.patch(web, { metadata: { finalizers: null } })

  await kube.seeGone(whole, patience)
  expect(await destroyedIn(stage.diary)).toEqual(['balancer', ...both])
  expect(await inside.read(plain)).toBeDefined()
  await seeNothingLeft(kube, namespace)
}, 300_000)

test.concurrent('by hand, with protection and finalizers of the predecessor: nothing goes that is protected or needed, and all in order', async () => {
  const stage = await aStage('a player', 'hands', { controlPlane: { deletionProtection: true } })
  const { namespace, cluster, network, controlPlane } = stage
  const old = 'infrastructure.cluster.x-k8s.io/finalizer'
  await kube.apply({ ...network, metadata: { ...network.metadata, finalizers: [old] } }, controlPlane, cluster)
  await stage.serves()
  const eks = applyOf(stage, 'eks-controlplane')
  const first = 'set spec.deletionProtection of that to false first'
  await expect(kube.remove(cluster)).rejects.toThrow(
    'Cluster demo owns CAPTControlPlane demo, which has deletionProtection',
  )
  await expect(kube.remove(controlPlane)).rejects.toThrow('set spec.deletionProtection to false first')
  await expect(kube.remove(eks)).rejects.toThrow(
    `belongs to CAPTControlPlane demo, which has deletionProtection: ${first}`,
  )
  const [template] = stage.diary.templates
  await expect(kube.remove(template ?? cluster)).rejects.toThrow('is used by WorkspaceTemplateApply demo-vpc')

  await kube.remove(network)
  const waits = await kube.see(network, 'waits', (seen) => conditionOf(seen, 'Deleting')?.status === 'True', patience)
  expect(tellsOf(waits)).toBe(
    `waits for CAPTControlPlane ${namespace}/demo, which is in this network and stays: delete the Cluster, or that first`,
  )
  expect((await kube.read(applyOf(stage, 'vpc')))?.metadata.deletionTimestamp).toBeUndefined()
  expect(waits.metadata.finalizers).not.toContain(old)

  await kube.patch(controlPlane, { spec: { deletionProtection: false } })
  await kube.remove(controlPlane)
  for (const each of [controlPlane, network]) await kube.seeGone(each, patience)
  expect(destroyedBy(player, namespace)).toEqual(both)
  await stage.removed()
  expect(await stage.gone()).toEqual(both)
}, 300_000)

test.concurrent('a control plane that is to stay keeps its network, and both are found where the events say', async () => {
  const group: WorkspaceGroup = 'tf.upbound.io'
  const stage = await aStage('our engine', 'retained', { controlPlane: { retainOnDelete: true }, group })
  // Said outright, they outweigh what says in that API whether anything is destroyed.
  const managementPolicies = ['Observe', 'Create', 'Update', 'LateInitialize', 'Delete']
  for (const template of stage.diary.templates)
    await kube.patch(template, { spec: { template: { spec: { managementPolicies } } } })
  const left = ['eks-controlplane', 'vpc'].map((name) => applyOf(stage, name))
  await kube.apply(...stage.all)
  await stage.serves()
  await stage.removed()
  await kube.seeGone(stage.cluster, patience)
  expect(await goneIn(stage)).toEqual([])
  for (const apply of left) {
    const note = await seeEvent(kube, apply, 'Retained')
    const [workspace = '', state = ''] = note.slice(note.indexOf(': see kubectl ') + 14).split(' and kubectl ')
    expect(await kube.kubectl(workspace.split(' '))).toContain(apply.metadata.name)
    expect(await kube.kubectl(state.split(' '))).toContain(`tfstate-${stage.namespace}.${apply.metadata.name}`)
    await kube.remove(workspaceOf(stage.group, apply))
    await kube.seeGone(workspaceOf(stage.group, apply), patience)
  }
  expect(await goneIn(stage)).toEqual([]) // it is nobody's any more, not even who deletes the Workspaces
}, 300_000)

test.concurrent('a control plane is deleted by hand and comes again while its Cluster and its network stay; an apply without its finalizer takes nothing from it', async () => {
  const stage = await aStage('our engine', 'again')
  const { namespace, controlPlane, network } = stage
  await kube.apply(...stage.all)
  await stage.serves()
  await kube.remove(controlPlane)
  await kube.seeGone(controlPlane, patience)
  expect((await goneIn(stage)).filter((line) => line.startsWith('gone vpc'))).toEqual([])
  await kube.seeCondition(network, 'Ready', 'True', patience)
  await kube.apply(controlPlane)
  await stage.serves()

  // Which keeps EKS from being destroyed.
  const eks = applyOf(stage, 'eks-controlplane')
  const uses = { waitForWorkspaces: [{ name: eks.metadata.name }] }
  const user = aWorkspaceTemplateApply({ namespace, name: 'user', ...uses })
  await kube.apply(aWorkspaceTemplate({ namespace, name: 'user', module: '# none' }), user)
  await seeSaying(kube, user, 'Ready', 'Ready')
  await stage.removed()
  await kube.see(eks, 'is in use', (seen) => tellsOf(seen).includes('is still used by user'), patience)
  await kube.patch(eks, { metadata: { finalizers: null } })
  const isTold = (seen: KubeObject) => tellsOf(seen).includes('is not, nor what that built')
  const waits = await kube.see(controlPlane, 'tells what is left', isTold, patience)
  expect((await goneIn(stage)).filter((line) => line.startsWith('gone vpc'))).toEqual([])
  const command = /\((?<command>kubectl patch .*)\)/.exec(tellsOf(waits))?.groups?.['command'] ?? 'no command'
  await runCommand('sh', ['-c', command], {
    env: { PATH: `${bed.bin}:${process.env['PATH']}`, KUBECONFIG: bed.kubeconfig },
  })
  await kube.seeGone(stage.cluster, patience)
  expect(await destroyedIn(stage.diary)).toEqual(['eks', 'eks', 'vpc'])
  await kube.remove(user)
  await kube.seeGone(user, patience)
  await seeNothingLeft(kube, namespace)
}, 300_000)

test.concurrent('force-delete gives up what is there, and tells how to find it', async () => {
  const stage = await aStage('our engine', 'forced')
  const { namespace, cluster, controlPlane, network } = stage
  const left = ['eks-controlplane', 'vpc'].map((name) => applyOf(stage, name))
  await kube.apply(...stage.all)
  await stage.serves()
  for (const each of [controlPlane, network])
    await kube.patch(each, { metadata: { annotations: { [annotations.forceDelete]: 'true' } } })
  await stage.removed()
  await kube.seeGone(cluster, patience)
  expect(await goneIn(stage)).toEqual([])
  for (const owner of [controlPlane, network]) {
    const note = await seeEvent(kube, owner, 'ForceDeleted')
    expect(await kube.kubectl(note.slice(note.indexOf(', see kubectl ') + 14).split(' '))).toContain(
      'are left to themselves',
    )
  }
  for (const apply of left) {
    const note = await seeEvent(kube, apply, 'ForceDeleted')
    const [workspace = '', state = ''] = note.slice(note.indexOf(': see kubectl ') + 14).split(' and kubectl ')
    expect(await kube.kubectl(workspace.split(' '))).toContain(apply.metadata.name)
    expect(await kube.kubectl(state.split(' '))).toContain(`tfstate-${namespace}.${apply.metadata.name}`)
    await kube.remove(workspaceOf(stage.group, apply))
  }
  for (const apply of left) await kube.seeGone(workspaceOf(stage.group, apply), patience)
  expect((await destroyedIn(stage.diary)).toSorted()).toEqual(both)
  await seeNothingLeft(kube, namespace)
}, 300_000)
