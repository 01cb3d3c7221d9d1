// A manager and an engine in this process, an API server that is real or in memory, and Terraform that answers at once. One of the two can be
// struck at any of its acts: whatever it wanted to write is never sent, or is sent and never answered; then all it knew is gone, and
// another takes its place. What they live through is for others: test/crash.ts a life of an apply, test/clustercrash.ts one of a cluster.
import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect } from 'vitest'
import { CustomResourceDefinition, Namespace, Secret } from '../src/api/neighbours.ts'
import { apiVersionOf, type Resource, resourceName } from '../src/api/resource.ts'
import { workspaceAPIs } from '../src/api/workspace.ts'
import { nowhere, type Outside } from '../src/controllers/controlplane/outside.ts'
import { controllersOf } from '../src/controllers/index.ts'
import { fetchState } from '../src/engine/backend.ts'
import { createClaims } from '../src/engine/claims.ts'
import { createConnections } from '../src/engine/connection.ts'
import { createCustody } from '../src/engine/custody.ts'
import { createEngine } from '../src/engine/engine.ts'
import { gather, type Inputs } from '../src/engine/inputs.ts'
import { createPass } from '../src/engine/pass.ts'
import { createRecords } from '../src/engine/records.ts'
import { createUsages } from '../src/engine/usages.ts'
import { type Client, createClient, type Scope } from '../src/kube/client.ts'
import { findAccess } from '../src/kube/find.ts'
import { type Cache, createCache } from '../src/runtime/cache.ts'
import { type Clock, systemClock } from '../src/runtime/clock.ts'
import type { Log } from '../src/runtime/log.ts'
import { createManager } from '../src/runtime/manager.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { settingsOf } from '../src/runtime/settings.ts'
import { stateKey, stateNamespace as states } from '../src/terraform/statesecret.ts'
import { seeEstablished } from './bed/core.ts'
import { startOwnApi } from './bed/own.ts'
import { type Backend, type Cloud, type Instant, instantTerraform, type Module } from './instant.ts'
import { type Blow, type Body, startMortal, type Working } from './mortal.ts'
import { type Objects, objectsInMemory } from './objects.ts'

export interface Strike extends Blow {
  readonly who: 'manager' | 'engine'
  readonly isMoved?: true // who takes its place is on another machine, without its work folders
}

export type Acts = Readonly<Record<Strike['who'], readonly string[]>>

// Its engine's.
export const api = workspaceAPIs['tf.m.upbound.io']
const engineCrds = resolve(import.meta.dirname, '../manifests/engine/crds.yaml')
const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, with: () => silent, setLevel() {} }

export interface Site {
  connect(): Client // of a life of its own: there are only so many watches on a connection
  end(): Promise<void>
  readonly folder: string // an empty one
  readonly pace: Pace
}

export interface Pace {
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
    connect: () => apiInMemory().client,
  }
}

// One that has our engine's kind.
export function apiInMemory(): Objects {
  const objects = objectsInMemory()
  const { group, kind, plural } = api.workspace
  const definition: CustomResourceDefinition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: resourceName(api.workspace) },
    spec: { group, names: { kind, plural }, versions: [] },
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  }
  objects.put(CustomResourceDefinition, definition)
  objects.put(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: states } })
  return objects
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

export interface Pair {
  readonly acts: Acts
  readonly instant: Instant
  readonly twice: ReadonlySet<string> // what was in the cloud twice at the same time
  struck(): string | undefined // which act; undefined: it never came to it
  end(): Promise<void>
}

export interface Living {
  readonly namespace: string
  readonly strike: Strike | undefined
  readonly outside?: Outside // none: nothing is there
  readonly cloud?: Cloud // none: one of their own
  moduleOf(inputs: Inputs): Module
}

// In a namespace of their own, which they make.
export async function startPair(
  { folder, pace }: Pick<Site, 'folder' | 'pace'>,
  client: Client,
  { namespace, strike, outside = nowhere, cloud, moduleOf }: Living,
): Promise<Pair> {
  const root = join(folder, namespace)
  await mkdir(root, { recursive: true })
  const instant = instantTerraform({ moduleOf, backend: aBackend(client, root), ...(cloud && { cloud }) })
  const twice = new Set<string>()
  const blowFor = (who: Strike['who']) => (strike?.who === who ? strike : undefined)
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const manager = startMortal(client, blowFor('manager'), (body) => aManager(body, namespace, outside, pace))
  const engine = startMortal(client, blowFor('engine'), (body) => {
    if (strike?.isMoved) instant.loseFolders()
    return anEngine(body, { namespace, root, instant, twice, pace })
  })
  return {
    acts: { manager: manager.acts, engine: engine.acts },
    instant,
    twice,
    struck: () => manager.struck() ?? engine.struck(),
    end: async () => void (await Promise.all([manager.end(), engine.end()])),
  }
}

// Every act, struck in every way.
export function strikesOf({ acts }: { readonly acts: Acts }): readonly Strike[] {
  return [...waysOf(acts.manager, 'manager'), ...waysOf(acts.engine, 'engine')]
}

// Every write of the manager, answered with a failure; with `who`, every write of that one to the API server.
export function failuresOf({ acts }: { readonly acts: Acts }, who: Strike['who'] = 'manager'): readonly Strike[] {
  const ways = ['refused', 'denied'] as const
  return acts[who].flatMap((act, index) =>
    isWrite(act) ? ways.map((how): Strike => ({ who, at: index + 1, how })) : [],
  )
}

// Not what Terraform does to the world.
function isWrite(act: string): boolean {
  return /^(?:create|apply|patch|delete) [A-Z]/.test(act)
}

// So many of them, by the seed; none given: all.
export function draw<S>(strikes: readonly S[], count = strikes.length): readonly S[] {
  const length = Math.min(count, strikes.length)
  return fc.sample(fc.shuffledSubarray([...strikes], { minLength: length, maxLength: length }), 1).flat()
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

// Has a life lived and judged for each strike, some at a time. Not every life has as many acts: a blow that was waited for in vain
// falls an act earlier in the next life. Tells how many have fallen.
export async function liveEach<
  L extends { readonly struck: string | undefined },
  S extends Blow & { readonly who: string; readonly isMoved?: true },
>(
  atATime: number,
  strikes: readonly S[],
  live: (namespace: string, strike: S) => Promise<L>,
  judge: (told: string, strike: S, life: L) => void,
): Promise<number> {
  let lives = 0
  let fallen = 0
  const left = [...strikes]
  const one = async () => {
    for (let strike = left.pop(); strike; strike = left.pop()) {
      const { who, at, how, isMoved } = strike
      const told = `the ${who} was struck ${how} its act ${at}${isMoved ? ' and came back elsewhere' : ''}`
      try {
        const life = await live(`life-${++lives}`, strike)
        if (life.struck !== undefined) fallen++
        else if (at > 1) left.push({ ...strike, at: at - 1 })
        judge(`${told}: ${life.struck}`, strike, life)
      } catch (error) {
        expect.soft(error, told).toBeUndefined()
      }
    }
  }
  await Promise.all(Array.from({ length: atATime }, one))
  return fallen
}

function aManager({ client }: Body, namespace: string, outside: Outside, { clock }: Pace): Working {
  const cache = createCache({ client, clock: systemClock, random: Math.random, trouble() {} })
  const { settings } = settingsOf([`--workspace-api=${api.group}`])
  const manager = createManager({
    controllers: controllersOf(settings, outside),
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
  const keyOfState = (workspace: string) => stateKey({ namespace: states, suffix: 'capt' }, workspace)
  const read = async (workspace: string): Promise<StateText | undefined> => {
    const { text } = await fetchState(client, keyOfState(workspace))
    return text === '' ? undefined : (JSON.parse(text) as StateText)
  }
  return {
    root,
    type: 'kubernetes',
    config: { secret_suffix: 'capt', namespace: states },
    async keep(workspace, state, outputs) {
      const metadata = keyOfState(workspace)
      if (!state) return client.remove(Secret, metadata)
      const { lineage, serial } = (await read(workspace)) ?? { lineage: randomUUID(), serial: 0 }
      const text: StateText = { version: 4, lineage, serial: serial + 1, resources: [...state], outputs }
      const data = { tfstate: gzipSync(JSON.stringify(text)).toString('base64') }
      const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata, data }
      await client.apply(Secret, secret, { fieldManager: 'terraform', force: true })
    },
    async fetch(workspace) {
      const state = await read(workspace)
      return state && { resources: new Map(state.resources), outputs: state.outputs }
    },
  }
}

interface StateText {
  readonly version: 4
  readonly lineage: string
  readonly serial: number
  readonly resources: readonly (readonly [address: string, value: unknown])[]
  readonly outputs: Module
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
