// Whole lives of clusters under real Cluster API core, with real OpenTofu, each in a namespace with a manager of its own: a process that is
// left alone, is killed (SIGKILL) again and again, or reaches the API server by a wire that breaks. The modules write down
// what they make, so that one can count.
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CAPTCluster } from '../src/api/captcluster.ts'
import { CAPTControlPlane } from '../src/api/captcontrolplane.ts'
import { clusterSecretType } from '../src/api/contract.ts'
import { Cluster, Namespace, Secret } from '../src/api/neighbours.ts'
import { type Key, type KubeObject, type Resource, tellObject } from '../src/api/resource.ts'
import { workspaceAPIs } from '../src/api/workspace.ts'
import type { WorkspaceTemplate } from '../src/api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../src/api/workspacetemplateapply.ts'
import { type Client, createClient } from '../src/kube/client.ts'
import { findAccess } from '../src/kube/find.ts'
import { type StartedBed, startBed } from './bed/bed.ts'
import { type FaultProxy, startFaultProxy } from './bed/faults/proxy.ts'
import { launchManager, type ManagerProcess, managerKubeconfig, managerUser } from './bed/manager.ts'
import { startWorkload, type Workload } from './bed/workload.ts'
import { type Blow, dealBlows, writesOf } from './blows.ts'
import { aCaptCluster, leadingTo, offlineSecret, offlineTemplates } from './clusters.ts'
import { tracesOf } from './lives.ts'
import { type Masked, maskedAll, type Stage, seeQuiet } from './masked.ts'
import { type Goal, isSettled } from './settled.ts'
import { until } from './until.ts'

export interface Lived {
  readonly stages: readonly Stage[]
  readonly ledger: readonly string[] // what was made and what is gone, as the modules wrote it down
  readonly wrong: readonly string[] // what went back and must never
  readonly left: readonly string[] // what is there at the end
}

export interface Ground {
  readonly bed: StartedBed
  readonly workload: Workload
  readonly client: Client
  end(): Promise<void>
}

const name = 'demo'
const tags = { team: 'blue' }
const pace = { everyMs: 200, quietMs: 2000 }
const patience = { withinSeconds: 180, everyMs: 200 }

// A bed on which no manager works but those of the lives.
export async function startGround(): Promise<Ground> {
  const [bed, workload] = await Promise.all([startBed({ capt: ['engine'] }), startWorkload()])
  mkdirSync(join(bed.folder, 'ledgers'))
  const client = createClient(findAccess({ kubeconfig: bed.kubeconfig, env: {} }))
  return {
    bed,
    workload,
    client,
    async end() {
      client.close()
      await Promise.all([bed.stop(), workload.stop()])
    },
  }
}

// How it goes where nobody disturbs: the others wait for it after each step.
interface Pattern {
  after(step: number): Promise<Masked>
  reaches(step: number, objects: Masked): void
  fails(error: unknown): void
}

function aPattern(): Pattern {
  const steps = Array.from({ length: 3 }, () => Promise.withResolvers<Masked>())
  for (const { promise } of steps) promise.catch(() => {}) // who waits is told
  return {
    after: async (step) => steps[step]?.promise ?? {},
    reaches: (step, objects) => steps[step]?.resolve(objects),
    fails: (error) => {
      for (const { reject } of steps) reject(error)
    },
  }
}

export interface Disturbances {
  readonly kills: readonly Blow[]
  readonly seed: number // of the faults
  breaks(proxy: FaultProxy): void
}

export interface Lives {
  readonly undisturbed: Lived
  readonly killed: Lived & { readonly fell: number } // how many kills, while it lived
  readonly behind: Lived // a wire that breaks
}

// All at once.
export async function liveAll(ground: Ground, { kills, seed, breaks }: Disturbances): Promise<Lives> {
  const pattern = aPattern()
  const [undisturbed, killed, behind] = await Promise.all([
    liveUndisturbed(ground, pattern),
    liveUnder(ground, kills, pattern),
    liveBehind(ground, breaks, seed, pattern),
  ])
  return { undisturbed, killed, behind }
}

async function liveUndisturbed(ground: Ground, pattern: Pattern): Promise<Lived> {
  const namespace = 'undisturbed'
  try {
    const { member } = await launch(ground, namespace, namespace)
    const see = async (step: number, look: () => Promise<Masked>) => {
      const objects = await seeQuiet(look, pace)
      pattern.reaches(step, objects)
      return objects
    }
    return await live(ground, namespace, see, member.obituary)
  } catch (error) {
    pattern.fails(error)
    throw error
  }
}

async function liveUnder(ground: Ground, kills: readonly Blow[], pattern: Pattern): Promise<Lives['killed']> {
  const namespace = 'killed'
  let fell = 0
  const dealt = dealBlows(kills, {
    name: namespace,
    writes: writesOf(ground.bed.auditLog, managerUser, namespace),
    launch: async (each) => launch(ground, namespace, each),
    falls: () => void fell++,
  })
  const lived = live(ground, namespace, alike(pattern)).then((life) => ({ ...life, fell }))
  const [life] = await Promise.all([lived, dealt])
  return life
}

async function liveBehind(
  ground: Ground,
  breaks: Disturbances['breaks'],
  seed: number,
  pattern: Pattern,
): Promise<Lived> {
  const namespace = 'behind'
  const proxy = await startFaultProxy({ ...ground.bed, seed })
  try {
    const { member } = await launch(ground, namespace, namespace, proxy)
    breaks(proxy)
    return await live(ground, namespace, alike(pattern), member.obituary)
  } finally {
    await proxy.stop()
  }
}

const alike = (pattern: Pattern) => async (step: number, look: () => Promise<Masked>) =>
  seeQuiet(look, pace, await pattern.after(step))

// Who is killed leaves a Lease behind that others wait for: that is another story.
async function launch(
  { bed }: Ground,
  namespace: string,
  process: string,
  way: Parameters<typeof managerKubeconfig>[1] = bed,
) {
  const flags = ['--leader-elect=false', '--workspace-api=tf.m.upbound.io', `--namespace=${namespace}`]
  return launchManager(bed, { name: process, kubeconfig: await managerKubeconfig(bed, way), flags })
}

async function live(
  ground: Ground,
  namespace: string,
  seeStep: (step: number, look: () => Promise<Masked>) => Promise<Masked>,
  giveUp?: ManagerProcess['member']['obituary'],
): Promise<Lived> {
  const { bed, client, workload } = ground
  const key: Key = { namespace, name }
  const ledger = join(bed.folder, 'ledgers', namespace)
  const watching = new AbortController()
  const wrong = new Set<string>()
  const stages: Stage[] = []
  let left: readonly string[] = []
  const waits = { ...patience, ...(giveUp && { giveUp }) }

  const look = async () => {
    const [cluster, network, controlPlane] = await Promise.all([
      client.get(Cluster, key),
      client.get(CAPTCluster, key),
      client.get(CAPTControlPlane, key),
    ])
    const { items: applies } = await client.list(WorkspaceTemplateApply, { namespace })
    return { cluster, network, controlPlane, applies }
  }
  const see = async (after: string, goal: Goal) => {
    await until(
      `${namespace}: the Cluster is as it should be after ${after}`,
      async () => isSettled(await look(), goal) || undefined,
      waits,
    )
    const objects = await seeStep(stages.length, async () => looks(client, namespace))
    stages.push({ after, objects })
  }
  const change = async (resource: Resource, spec: object) => client.patch(resource, key, { spec })

  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const witnesses = Promise.all([
    witness(client, CAPTCluster, namespace, watching.signal, wrong, latchesOfNetwork),
    witness(client, CAPTControlPlane, namespace, watching.signal, wrong, latchesOfControlPlane),
  ])
  try {
    const templates = offlineTemplates(namespace).map((each) => written(each, ledger))
    await bed.kube.apply(offlineSecret(namespace, leadingTo(workload)), ...templates)
    await bed.kube.apply(
      ...aCaptCluster({ namespace, controlPlane: { version: 'v1.33.0', eksClusterName: 'demo' } }).all,
    )
    await see('it was made', { version: 'v1.33.0', tags: {} })
    await change(CAPTCluster, { additionalTags: tags })
    await change(CAPTControlPlane, { additionalTags: tags })
    await see('it was changed', { version: 'v1.33.0', tags })
    await change(CAPTControlPlane, { version: 'v1.35.0' })
    await see('it was upgraded', { version: 'v1.35.0', tags })
    await client.remove(Cluster, key)
    await bed.kube.seeGone({ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', metadata: key }, waits)
    const isEmpty = async () => ((left = await leftOf(ground, namespace)).length === 0 ? true : undefined)
    await until('nothing is left', isEmpty, { ...waits, withinSeconds: 60 }).catch(() => {}) // who judges shows what
  } finally {
    watching.abort()
    await witnesses
  }
  const lines = existsSync(ledger) ? readFileSync(ledger, 'utf8').trimEnd().split('\n') : []
  return { stages, ledger: lines, wrong: [...wrong], left }
}

// The same template, whose resources write down when they come and when they go.
function written(template: KubeObject, ledger: string): KubeObject & Readonly<Record<string, unknown>> {
  const { spec, ...rest } = template as WorkspaceTemplate
  const { forProvider } = spec.template.spec
  const tell = (verb: string, what: string) => `command = "echo ${verb} ${what} \${self.id} >> ${ledger}"`
  const module = (forProvider.module ?? '').replaceAll(
    /^resource "terraform_data" "(\w+)" \{$/gm,
    (head, what: string) => `${head}
  provisioner "local-exec" {
    ${tell('made', what)}
  }
  provisioner "local-exec" {
    when = destroy
    ${tell('gone', what)}
  }`,
  )
  const whole = { ...spec.template.spec, forProvider: { ...forProvider, module } }
  return { ...rest, spec: { ...spec, template: { ...spec.template, spec: whole } } }
}

const { workspace } = workspaceAPIs['tf.m.upbound.io']
const kinds: readonly Resource[] = [CAPTCluster, CAPTControlPlane, WorkspaceTemplateApply, workspace, Secret]

async function allIn(client: Client, namespace: string): Promise<readonly KubeObject[]> {
  const lists = await Promise.all(kinds.map(async (kind) => client.list(kind, { namespace })))
  return lists.flatMap(({ items }, index) => items.map((item) => ({ ...item, kind: kinds[index]?.kind ?? '' })))
}

// Core's own times and counts on the Cluster are its own; bytes of Secrets that are not ours hold ids that differ.
async function looks(client: Client, namespace: string): Promise<Masked> {
  const { spec, status } = await client.get(Cluster, { namespace, name })
  const objects = (await allIn(client, namespace)).map((object: Secret) =>
    object.kind === 'Secret' && object.type !== clusterSecretType
      ? { ...object, data: Object.keys(object.data ?? {}) }
      : object,
  )
  const told = status?.conditions?.map(({ type, status: is, reason }) => `${type}=${is}(${reason})`).toSorted()
  return { ...maskedAll(objects, namespace), Cluster: { endpoint: spec?.controlPlaneEndpoint, told } }
}

// But for what the user brought.
async function leftOf({ bed, client }: Ground, namespace: string): Promise<readonly string[]> {
  const there = (await allIn(client, namespace)).filter(({ metadata }) => metadata.name !== 'offline-workload')
  return [...there.map(tellObject), ...(await tracesOf(bed.kube, namespace))]
}

type Latches = Readonly<Record<string, string | boolean | undefined>>
const latchesOfNetwork = ({ status }: CAPTCluster): Latches => ({
  provisioned: status?.initialization?.provisioned,
  vpcId: status?.vpcId,
})
const latchesOfControlPlane = ({ spec, status }: CAPTControlPlane): Latches => ({
  controlPlaneInitialized: status?.initialization?.controlPlaneInitialized,
  eksClusterName: spec.eksClusterName,
  endpoint: spec.controlPlaneEndpoint?.host,
})

// Sees every change, and what of it goes back.
async function witness<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  namespace: string,
  signal: AbortSignal,
  wrong: Set<string>,
  latchesOf: (object: T) => Latches,
): Promise<void> {
  let before: Latches = {}
  try {
    for await (const event of client.watch(resource, { namespace, initialEvents: true }, signal)) {
      if (event.type === 'BOOKMARK') continue
      const now = latchesOf(event.object)
      for (const [what, was] of Object.entries(before)) {
        if (was !== undefined && now[what] !== was) wrong.add(`${what} went from ${was} to ${now[what]}`)
      }
      before = now
    }
    if (!signal.aborted) wrong.add(`nobody watched ${resource.kind} until the end`)
  } catch (error) {
    if (!signal.aborted) wrong.add(`nobody watched ${resource.kind} until the end: ${String(error)}`)
  }
  if (Object.keys(before).length === 0) wrong.add(`nobody saw a ${resource.kind}`)
}
