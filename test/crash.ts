// A whole life of an apply, from its creation until nothing is left of it, with a manager and an engine in this process, an API
// server that is real or in memory, and Terraform that answers at once. One of the two can be struck at any of its acts: whatever it wanted to write
// is never sent, or is sent and never answered; then all it knew is gone, and another takes its place. What must come of it is
// for whoever tells the story.

import { mkdtempSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import type { Condition } from '../src/api/condition.ts'
import { labels, annotations as ours } from '../src/api/keys.ts'
import { CustomResourceDefinition, Namespace, Secret } from '../src/api/neighbours.ts'
import { isRecord, isWithin, type JsonRecord, readJson } from '../src/api/record.ts'
import {
  apiVersionOf,
  type Key,
  type KubeObject,
  type Resource,
  resourceName,
  tellObject,
} from '../src/api/resource.ts'
import { type ProviderConfig, workspaceAPIs } from '../src/api/workspace.ts'
import { WorkspaceTemplate } from '../src/api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../src/api/workspacetemplateapply.ts'
import { nowhere } from '../src/controllers/controlplane/outside.ts'
import { controllersOf } from '../src/controllers/index.ts'
import { createClaims } from '../src/engine/claims.ts'
import { createConnections } from '../src/engine/connection.ts'
import { createCustody } from '../src/engine/custody.ts'
import { createEngine } from '../src/engine/engine.ts'
import { gather, type Inputs, isVarFile } from '../src/engine/inputs.ts'
import { createPass } from '../src/engine/pass.ts'
import { createRecords } from '../src/engine/records.ts'
import { stateNamespace as states } from '../src/engine/stateaccess.ts'
import { createUsages } from '../src/engine/usages.ts'
import { type Client, createClient, type Scope } from '../src/kube/client.ts'
import { findAccess } from '../src/kube/find.ts'
import { type Cache, createCache } from '../src/runtime/cache.ts'
import { type Clock, systemClock } from '../src/runtime/clock.ts'
import type { Log } from '../src/runtime/log.ts'
import { createManager } from '../src/runtime/manager.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { settingsOf } from '../src/runtime/settings.ts'
import { seeEstablished } from './bed/core.ts'
import { startOwnApi } from './bed/own.ts'
import { type Backend, type Instant, instantTerraform, type Module } from './instant.ts'
import { type Blow, type Body, startMortal, type Working } from './mortal.ts'
import { objectsInMemory } from './objects.ts'
import { until } from './until.ts'
import { aUser } from './user.ts'

export interface Strike extends Blow {
  readonly who: 'manager' | 'engine'
  readonly isMoved?: true // who takes its place is on another machine, without its work folders
}

export interface Life {
  readonly acts: Readonly<Record<Strike['who'], readonly string[]>>
  readonly struck: string | undefined // which act; undefined: it never came to it
  readonly stages: readonly Stage[]
  readonly asked: readonly string[] // what the user was asked to approve, in order
  readonly left: readonly string[] // what is there at the end and nobody will collect, in the cloud too
  readonly cloud: readonly string[] // calls to it, in order
  readonly twice: readonly string[] // what was there twice at the same time
}

// What there is after a step of the life, with everything masked that differs from life to life.
export interface Stage {
  readonly after: string
  readonly objects: Readonly<Record<string, unknown>>
}

const api = workspaceAPIs['tf.m.upbound.io']
const engineCrds = resolve(import.meta.dirname, '../manifests/engine/crds.yaml')
const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, with: () => silent, setLevel() {} }

const template = `
variable "cidr" {}
variable "size" {}
variable "password" { sensitive = true }
resource "terraform_data" "network" { input = var.cidr }
resource "terraform_data" "cluster" {
  input            = var.password
  triggers_replace = var.size
}
output "id" { value = terraform_data.network.output }
output "token" {
  value     = var.password
  sensitive = true
}
`

// What that module says, as the instant Terraform reads it.
function moduleOf({ files }: Inputs): Module {
  const given = Object.entries(files).filter(([name]) => isVarFile(name))
  const values = given.flatMap(([, text]) => Object.entries(JSON.parse(text) as JsonRecord))
  const { cidr, size, password } = Object.fromEntries(values)
  return {
    resources: { 'terraform_data.network': cidr, 'terraform_data.cluster': { password, size } },
    outputs: { id: `id-${String(cidr)}`, token: password },
    sensitive: ['token'],
    replaces: size !== 'small',
  }
}

export interface Site {
  connect(): Client // of a life of its own: there are only so many watches on a connection
  end(): Promise<void>
  readonly folder: string // an empty one
  readonly pace: Pace
}

interface Pace {
  readonly everyMs: number // one looks
  readonly quietMs: number // after which nothing more will come
  readonly atATime: number // lives
  readonly clock: Clock
}

// Waits are shorter, in proportion: nothing here is about how long one waits.
const hurried = (times: number): Clock => ({
  now: () => systemClock.now() * times,
  wakeAt: (time, call) => systemClock.wakeAt(time / times, call),
})

// An API server in memory for each life.
export function siteInMemory(): Site {
  const folder = mkdtempSync(join(tmpdir(), 'capt-crash-'))
  return {
    folder,
    pace: { everyMs: 5, quietMs: 200, atATime: 8, clock: hurried(100) },
    end: async () => rm(folder, { recursive: true }),
    connect() {
      const { client, put } = objectsInMemory()
      const { group, kind, plural } = api.workspace
      const definition: CustomResourceDefinition = {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: resourceName(api.workspace) },
        spec: { group, names: { kind, plural }, versions: [] },
        status: { conditions: [{ type: 'Established', status: 'True' }] },
      }
      put(CustomResourceDefinition, definition)
      put(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: states } })
      return client
    },
  }
}

// A real API server with all the kinds there are.
export async function startSite(): Promise<Site> {
  const { home, kube, adminKubeconfig: kubeconfig } = await startOwnApi('crash')
  await kube.kubectl(['apply', '--server-side', '--field-manager=bed', '-f', engineCrds])
  await seeEstablished(kube)
  await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: states } })
  // Which the first engine would make.
  for (const resource of [workspaceAPIs['tf.upbound.io'].providerConfig, api.clusterProviderConfig]) {
    if (!resource) continue
    const { kind } = resource
    await kube.apply({ apiVersion: apiVersionOf(resource), kind, metadata: { name: 'default' }, spec: {} })
  }
  const folder = join(home.folder, 'work')
  await mkdir(folder)
  const limits = { perSecond: 10_000, burst: 10_000 }
  return {
    folder,
    pace: { everyMs: 50, quietMs: 1500, atATime: 4, clock: hurried(10) },
    connect: () => createClient(findAccess({ kubeconfig, env: {} }), limits),
    end: home.end,
  }
}

export interface Fate {
  readonly strike: Strike
  readonly like: Life // how it went undisturbed
}

// One life in a namespace of its own. After each step it is waited until everything is as it should be, or for a while.
export async function live({ folder, connect, pace }: Site, namespace: string, fate?: Fate): Promise<Life> {
  const { strike, like } = fate ?? {}
  const client = connect()
  const at = (name: string): Key => ({ namespace, name })
  const root = join(folder, namespace)
  await mkdir(root)
  const instant = instantTerraform({ moduleOf, backend: aBackend(client, root) })
  const twice = new Set<string>()
  const blowFor = (who: Strike['who']) => (strike?.who === who ? strike : undefined)
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const manager = startMortal(client, blowFor('manager'), (body) => aManager(body, namespace, pace))
  const engine = startMortal(client, blowFor('engine'), (body) => {
    if (strike?.isMoved) instant.loseFolders()
    return anEngine(body, { namespace, root, instant, twice, pace })
  })
  const owner = anOwner(client, at, instant, pace)
  const stages: Stage[] = []
  const see = async (after: string, id: string) => {
    await owner.seesReady(id)
    stages.push({ after, objects: await owner.seesQuiet(like?.stages[stages.length]?.objects) })
  }
  try {
    await owner.begins()
    await see('it was made', 'id-one')
    await owner.changes({ variables: { cidr: 'two', size: 'small' } })
    await see('it was changed', 'id-two')
    await owner.changes({ variables: { cidr: 'two', size: 'large' } })
    await see('a part of it was replaced', 'id-two')
    await owner.ends()
    return {
      acts: { manager: manager.acts, engine: engine.acts },
      struck: manager.struck() ?? engine.struck(),
      stages,
      asked: owner.asked,
      left: [...(await owner.finds()), ...instant.cloud.there.values()],
      cloud: instant.cloud.calls,
      twice: [...twice],
    }
  } catch (error) {
    const seen = await owner.looks()
    throw new Error(
      `${String(error)}\nstruck: ${manager.struck() ?? engine.struck()}\n${JSON.stringify(seen, null, 1)}`,
      {
        cause: error,
      },
    )
  } finally {
    await Promise.all([manager.end(), engine.end()])
    client.close()
  }
}

// Every act of a life, struck in every way.
export function strikesOf({ acts }: Life): readonly Strike[] {
  return [...waysOf(acts.manager, 'manager'), ...waysOf(acts.engine, 'engine')]
}

function waysOf(acts: readonly string[], who: Strike['who']): readonly Strike[] {
  return acts.flatMap((_, index): readonly Strike[] => {
    const at = index + 1
    const strikes: readonly Strike[] = [
      { who, at, how: 'before' },
      { who, at, how: 'after' },
    ]
    return who === 'engine' ? [...strikes, { who, at, how: 'after', isMoved: true }] : strikes
  })
}

// Lives a life for each strike, some at a time, and sees each end as the undisturbed one. On a real API server not every life has
// as many acts: a blow that was waited for in vain falls an act earlier in the next life. Tells how many lives there were.
export async function liveThrough(site: Site, like: Life, strikes: readonly Strike[]): Promise<number> {
  let lives = 0
  const left = [...strikes]
  const one = async () => {
    for (let strike = left.pop(); strike; strike = left.pop()) {
      const { who, at, how, isMoved } = strike
      const told = `the ${who} was struck ${how} its act ${at}${isMoved ? ' and came back elsewhere' : ''}`
      try {
        const life = await live(site, `life-${++lives}`, { strike, like })
        if (life.struck === undefined && at > 1) left.push({ ...strike, at: at - 1 })
        judge(`${told}: ${life.struck}`, strike, life, like)
      } catch (error) {
        expect.soft(error, told).toBeUndefined()
      }
    }
  }
  await Promise.all(Array.from({ length: site.pace.atATime }, one))
  return lives
}

// The same is there after each step, and nothing in the end; nothing is made twice unless the user, who was asked, has approved
// it; and asked is only where a run was noted and not yet ended.
function judge(told: string, { who, at, how }: Strike, life: Life, like: Life): void {
  for (const [index, stage] of life.stages.entries()) expect.soft(stage, told).toEqual(like.stages[index])
  expect.soft([...life.left, ...life.twice], told).toEqual([])
  const isAsked = life.asked.includes('ApplyInterrupted')
  const done = life.acts.engine.slice(0, how === 'after' ? at : at - 1)
  const mayBeAsked = who === 'engine' && isInARun(done)
  expect.soft(isAsked && !mayBeAsked, `${told}, and the user was asked`).toBe(false)
  if (!isAsked) expect.soft(changesOf(life), told).toEqual(changesOf(like))
}

// Whether after these acts of an engine a run is noted, and not that it has ended.
function isInARun(acts: readonly string[]): boolean {
  const kept = acts.findLastIndex((act) => act.startsWith('keep '))
  // Before there is something to patch it is made.
  const made = acts.findIndex((act) => act.startsWith('create Secret') && act.includes('/memory-'))
  const notes = acts.filter(
    (act, index) => index > kept && index >= made && act.includes(' Secret ') && act.includes('/memory-'),
  )
  if (made < 0) return false
  return kept < 0 || notes.length !== 1
}

function changesOf({ cloud }: Life): readonly string[] {
  return cloud.filter((call) => !call.startsWith('update')).map((call) => call.replace(/ \S+\.demo/, ''))
}

function aManager({ client }: Body, namespace: string, { clock }: Pace): Working {
  const cache = createCache({ client, clock: systemClock, random: Math.random, trouble() {} })
  const { settings } = settingsOf([`--workspace-api=${api.group}`])
  const manager = createManager({
    controllers: controllersOf(settings, nowhere),
    client,
    cache,
    clock,
    log: silent,
    metrics: createMetrics(clock),
    record() {},
    concurrency: 2,
    namespace,
  })
  return working(cache, async () => manager.work(), manager.stop)
}

interface Workshop {
  readonly namespace: string
  readonly root: string
  readonly instant: Instant
  readonly twice: Set<string>
  readonly pace: Pace
}

function anEngine(body: Body, { namespace, root, instant, twice, pace: { clock } }: Workshop): Working {
  const client = within(namespace, body.client)
  const cache = createCache({ client, clock: systemClock, random: Math.random, trouble() {} })
  const date = () => new Date()
  const terraform = instant.through(async (what, act) => {
    await body.act(what, act)
    for (const [place, ids] of Map.groupBy(instant.cloud.there.values(), (each) => each)) {
      if (ids.length > 1) twice.add(place)
    }
  })
  const pass = createPass({
    client,
    terraform,
    folders: instant.folders,
    custody: createCustody({
      client,
      namespace: states,
      records: createRecords({ client, namespace: states, date }),
      terraform,
      machine: { host: 'here', bootId: 'boot' },
      ownEnv: {},
      date,
      log: silent,
    }),
    connections: createConnections(client),
    usages: createUsages(client, cache),
    claims: createClaims(cache, [api]),
    blocked: () => undefined,
    isEnding: () => false,
    now: () => `${date().toISOString().slice(0, 19)}Z`,
    clock: systemClock,
    log: silent,
    gather: async (asked) => gather(asked, client, {}),
    record() {},
  })
  const engine = createEngine({
    client,
    cache,
    clock,
    log: silent,
    metrics: createMetrics(clock),
    poll: { pollMs: 86_400_000, jitterMs: 0, random: Math.random },
    concurrency: 2,
    root,
    pass,
  })
  return working(cache, engine.work, engine.stop)
}

// As Terraform's own, which keeps states in Secrets.
function aBackend(client: Client, root: string): Backend {
  let serial = 0
  return {
    root,
    type: 'kubernetes',
    config: { secret_suffix: 'capt', namespace: states },
    async keep(workspace, state) {
      const metadata = { namespace: states, name: `tfstate-${workspace}-capt` }
      if (!state) return client.remove(Secret, metadata)
      const text = { version: 4, lineage: workspace, serial: ++serial, resources: [...state] }
      const data = { tfstate: gzipSync(JSON.stringify(text)).toString('base64') }
      const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata, data }
      await client.apply(Secret, secret, { fieldManager: 'terraform', force: true })
    },
  }
}

function working(cache: Cache, work: () => Promise<void>, stop: () => Promise<void>): Working {
  cache.start()
  const begun = (async () => {
    if (await cache.whenSynced()) await work().catch(() => {}) // it may be struck at once
  })()
  return {
    async stop() {
      cache.stop()
      await begun
      await stop()
    },
  }
}

// What others have there is none of its business.
function within(namespace: string, client: Client): Client {
  const narrowed = <S extends Scope>(resource: Resource, scope: S): S =>
    resource.isClusterScoped ? scope : { namespace, ...scope }
  return {
    ...client,
    list: async (resource, scope = {}) => client.list(resource, narrowed(resource, scope)),
    watch: (resource, scope, signal) => client.watch(resource, narrowed(resource, scope), signal),
  }
}

function anOwner(client: Client, at: (name: string) => Key, { cloud }: Instant, { everyMs, quietMs }: Pace) {
  const patience = { withinSeconds: 60, everyMs }
  const user = aUser(client, patience, (reason) => {
    // What a killed run has left behind is taken away before it is made again.
    for (const stray of reason === 'ApplyInterrupted' ? cloud.strays() : []) cloud.there.delete(stray)
  })
  const { namespace = '' } = at('')
  const header = { apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1' }
  const config = { apiVersion: `${api.group}/v1beta1`, kind: 'ProviderConfig', metadata: at('config') }
  const password = { apiVersion: 'v1', kind: 'Secret', metadata: at('password'), data: { value: 'czNjcjN0' } }

  async function all(): Promise<readonly KubeObject[]> {
    const kinds: readonly Resource[] = [
      WorkspaceTemplate,
      WorkspaceTemplateApply,
      api.workspace,
      api.providerConfig,
      api.usage,
      Secret,
    ]
    const found = await Promise.all(kinds.map(async (kind) => client.list(kind, { namespace })))
    const { items } = await client.list(Secret, { namespace: states })
    const isOurs = ({ metadata }: Secret) =>
      metadata.labels?.[labels.apply] === `${namespace}.demo` || metadata.name === `tfstate-${namespace}.demo-capt`
    return [...found.flatMap((each) => each.items), ...items.filter(isOurs)]
  }

  async function looks(): Promise<Stage['objects']> {
    return Object.fromEntries((await all()).map((object) => masked(object, namespace)))
  }

  return {
    asked: user.asked,
    looks,
    async begins() {
      await client.create(Secret, password)
      await client.create<ProviderConfig>(api.providerConfig, { ...config, spec: { configuration: '# none' } })
      await client.create(WorkspaceTemplate, {
        ...header,
        kind: 'WorkspaceTemplate',
        metadata: at('network'),
        spec: {
          workspaceAPI: api.group,
          template: {
            spec: {
              forProvider: { source: 'Inline', module: template },
              providerConfigRef: { kind: 'ProviderConfig', name: 'config' },
            },
          },
        },
      })
      await client.create(WorkspaceTemplateApply, {
        ...header,
        kind: 'WorkspaceTemplateApply',
        metadata: at('demo'),
        spec: {
          templateRef: { name: 'network' },
          variables: { cidr: 'one', size: 'small' },
          variablesFrom: [
            { name: 'password', secret: { name: 'password', key: 'value', format: 'Text' }, optional: false },
          ],
          destructiveChanges: 'Hold',
          deletionProtection: false,
          retainOnDelete: false,
        },
      })
    },
    changes: async (spec: JsonRecord) => client.patch(WorkspaceTemplateApply, at('demo'), { spec }),
    seesReady: async (id: string) => user.seesReady(at('demo'), ({ status }) => status?.outputs?.['id'] === id),
    async seesQuiet(like?: Stage['objects']): Promise<Stage['objects']> {
      let seen: Stage['objects'] = {}
      let since = Number.POSITIVE_INFINITY // nothing was new
      const look = async () => {
        const before = seen
        seen = await looks()
        since = isSame(seen, before) ? Math.min(since, Date.now()) : Number.POSITIVE_INFINITY
        return (like ? isSame(seen, like) : Date.now() - since > quietMs) || undefined
      }
      await until('all is quiet', look, { ...patience, withinSeconds: 20 }).catch(() => {}) // who compares shows how it differs
      return seen
    },
    async ends() {
      await client.remove(WorkspaceTemplateApply, at('demo'))
      await user.seesGone(WorkspaceTemplateApply, at('demo'))
      await client.remove(WorkspaceTemplate, at('network'))
      await client.remove(Secret, at('password'))
      await client.remove(api.providerConfig, at('config'))
      await user.seesGone(api.providerConfig, at('config'))
    },
    // Without what belongs to something that is no more: nobody collects that here.
    async finds(): Promise<readonly string[]> {
      const objects = await all()
      const uids = new Set(objects.map(({ metadata }) => metadata.uid))
      const isGarbage = ({ metadata: { ownerReferences: owners = [] } }: KubeObject) =>
        owners.length > 0 && owners.every(({ uid }) => !uids.has(uid))
      return objects.filter((object) => !isGarbage(object)).map(tellObject)
    },
  }
}

function isSame(a: Stage['objects'], b: Stage['objects']): boolean {
  return isWithin(a, b) && isWithin(b, a)
}

// Its name, and the object without what differs from life to life: times, uids, hashes, and what was planned when.
function masked(object: KubeObject, namespace: string): readonly [string, unknown] {
  const { managedFields: _, resourceVersion: __, annotations = {}, ...metadata } = object.metadata
  const { [ours.plan]: ___, [ours.approve]: ____, [ours.state]: _____, ...notes } = annotations
  const text = JSON.stringify({ ...object, metadata: { ...metadata, annotations: notes } }, (key, value: unknown) => {
    if (key === 'conditions') return (value as readonly Condition[]).toSorted(byType)
    if (key === 'run' && isOver(value)) return undefined
    return ['salt', 'plan.gz', 'inputs', 'state', 'tfstate'].includes(key) ? '<bytes>' : value
  })
  const plain = text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/[0-9a-f]{12,64}/g, '<hash>')
    .replaceAll(namespace, '<namespace>')
  const { kind, metadata: meta } = JSON.parse(plain) as KubeObject
  return [`${kind} ${meta.name}`, JSON.parse(plain)]
}

// A run that was cut off and is over may stay in the engine's memory, so that it knows the lock it has left.
function isOver(run: unknown): boolean {
  const noted = typeof run === 'string' ? readJson(Buffer.from(run, 'base64').toString()) : undefined
  return isRecord(noted) && noted['isOver'] === true
}

function byType(a: Condition, b: Condition): number {
  return a.type.localeCompare(b.type)
}
