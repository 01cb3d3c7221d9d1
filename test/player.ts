// Moves Workspaces as Crossplane's provider-terraform was recorded to, write by write: it looks in which situation a Workspace is,
// and plays what recorded/takes.yaml says of it. A recording: what Terraform would say is given by the test, its states and locks are
// not played, and there is no garbage collector, so it takes away itself what belonged to a Workspace that is gone.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { gzipSync } from 'node:zlib'
import { parseAllDocuments } from 'yaml'
import { Secret } from '../src/api/neighbours.ts'
import { isRecord, isWithin, type JsonRecord, readJson } from '../src/api/record.ts'
import { apiVersionOf, type Key, keyOf, type OwnerReference, readKey, tellKey } from '../src/api/resource.ts'
import {
  crossplane,
  type ProviderConfig,
  type ProviderConfigUsage,
  type Workspace,
  type WorkspaceAPI,
  type WorkspaceCondition,
} from '../src/api/workspace.ts'

import type { Client } from '../src/kube/client.ts'
import { isConflict, isNotFound } from '../src/kube/errors.ts'
import { createCache } from '../src/runtime/cache.ts'
import { systemClock } from '../src/runtime/clock.ts'
import { isAllowed } from '../src/terraform/policies.ts'
import { configRefOf } from '../src/terraform/providerconfig.ts'

export type Inputs = Readonly<Record<string, unknown>>

export interface Output {
  readonly value: unknown
  readonly sensitive?: true
}

// What comes of a run. Without outputs and resources nothing is there, as far as the provider can see.
export type Outcome =
  | { readonly outputs: Readonly<Record<string, Output>>; readonly resources?: 0 }
  | { readonly fails: 'plan' | 'apply'; readonly summary: string }

// What Terraform would make of the variables.
export type Terraform = (inputs: Inputs, workspace: Workspace) => Outcome

export interface Player {
  readonly destroyed: readonly string[] // as group/name, in their order
  // How the next runs go; none: as the player was started with. Everything is looked at again, as at a poll.
  plays(terraform?: Terraform): void
  whenQuiet(): Promise<void>
  stop(): void // throws when it has stumbled
}

export interface PlayerOptions {
  readonly client: Client
  readonly api: WorkspaceAPI
  readonly terraform: Terraform
  readonly buildMs?: (workspace: Workspace) => number // how long the first run takes; none: no time
  readonly date?: () => Date
}

// One write: exactly one of them, `atProvider` beside `conditions`.
interface Write {
  readonly annotate?: Readonly<Record<string, string>>
  readonly use?: string
  readonly connect?: 'nothing' | 'outputs'
  readonly finalizer?: string
  readonly release?: string
  readonly conditions?: readonly Omit<WorkspaceCondition, 'lastTransitionTime'>[]
  readonly atProvider?: JsonRecord
  readonly again?: true // at every poll
}

const recorded = readFileSync(resolve(import.meta.dirname, 'recorded/takes.yaml'), 'utf8')
const takes = new Map(
  parseAllDocuments(recorded).map((document) => {
    const { take, writes } = document.toJS() as { take: string; writes: readonly Write[] }
    return [take, writes] as const
  }),
)

const checksum = '7299412baa043bfbe7fa9251efd9464b'
const retryMs = 250 // which the provider does every 5 s

// What is there before the next write.
interface Scene {
  readonly workspace: Workspace
  readonly config: ProviderConfig | undefined
  readonly outcome: Outcome
  readonly connection: Secret | undefined
  readonly isUsed: boolean
}

export function startPlayer(options: PlayerOptions): Player {
  const { client, api, terraform: usual, buildMs = () => 0, date = () => new Date() } = options
  const now = () => `${date().toISOString().slice(0, 19)}Z`
  const { workspace: resource } = api
  const destroyed: string[] = []
  const stumbles: unknown[] = []
  const turns = new Map<string, Promise<void>>()
  const states = new Set<string>() // by external name: something is there
  const retries = new Set<NodeJS.Timeout>()
  const builds = new Map<string, Promise<void>>() // by uid: runs that were begun
  let terraform = usual
  let isStopped = false
  const cache = createCache({ client, clock: systemClock, random: Math.random, trouble: () => {} })
  cache.watch(resource, {
    onChange({ what, key, object }) {
      if (what === 'removed') enqueue(key, async () => collect(object))
      else enqueue(key, async () => move(readKey(key)))
    },
  })

  // One write at a time on each Workspace.
  function enqueue(key: string, work: () => Promise<void>): void {
    const done = (turns.get(key) ?? Promise.resolve()).then(async () => (isStopped ? undefined : work()))
    turns.set(
      key,
      done.catch((error: unknown) => {
        if (isConflict(error)) enqueue(key, work)
        else if (!isStopped && !isNotFound(error, readKey(key).name)) stumbles.push(error)
      }),
    )
  }

  // The next write of its take, if there is one left.
  async function move(key: Key, isPoll = false): Promise<void> {
    const scene = await look(await client.get(resource, key))
    const take = takeFor(scene)
    if (take === undefined) return
    const writes = (takes.get(take) ?? []).map((each) => filled(each, scene))
    // What a later status says replaces what an earlier one said.
    const isPast = (at: number) => writes.slice(at + 1).some((later) => later.conditions && isSo(later, scene))
    const next = writes.find(
      (each, at) => isToBe(each, scene) && !isSo(each, scene) && !(each.conditions && isPast(at)),
    )
    if (next) await write(next, scene)
    else if (isPoll) {
      for (const each of writes.filter(({ again }) => again))
        await write(each, await look(await client.get(resource, key)))
    }
    if (take === 'connect failed') retry(key)
  }

  function retry(key: Key): void {
    const timer = setTimeout(() => {
      retries.delete(timer)
      enqueue(tellKey(key), async () => move(key))
    }, retryMs)
    retries.add(timer)
  }

  async function look(workspace: Workspace): Promise<Scene> {
    const connection = connectionOf(workspace)
    return {
      workspace,
      config: await configOf(workspace),
      outcome: await run(workspace),
      connection: connection && (await there(client.get(Secret, connection), connection.name)),
      isUsed: (await there(client.get(api.usage, usageKey(workspace)), usageKey(workspace).name)) !== undefined,
    }
  }

  function takeFor({ workspace, config, outcome }: Scene): string | undefined {
    const { metadata, spec, status } = workspace
    const { annotations: notes = {}, finalizers = [] } = metadata
    const policies = spec.managementPolicies
    if (notes[crossplane.paused] === 'true') return 'paused'
    const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')
    if (metadata.deletionTimestamp !== undefined) {
      const isOrphan = spec.deletionPolicy === 'Orphan' || !isAllowed(policies, 'Delete')
      const isHeld = finalizers.some((each) => each !== crossplane.finalizer)
      if (!finalizers.includes(crossplane.finalizer) || (isHeld && !isOrphan)) return undefined
      return isOrphan || ('outputs' in outcome && outcome.resources === 0) ? 'released' : 'destroyed'
    }
    if (!config) return 'connect failed'
    const isFailing = 'fails' in outcome
    if (isFailing && outcome.fails === 'plan') return 'observe failed'
    const isThere = states.has(notes[crossplane.externalName] ?? '')
    const isTold = status?.conditions?.some(({ type }) => type === 'Ready')
    if (notes[crossplane.createFailed] !== undefined && !isTold) return 'create failed'
    if (!isReady && notes[crossplane.createFailed] === undefined) {
      const isMade = notes[crossplane.createSucceeded] !== undefined
      if (isThere && !isMade && !isFailing) return 'found again'
      if (isFailing) return isMade ? 'update failed' : 'create failed'
      return outcome.resources === 0 && Object.keys(outcome.outputs).length === 0 ? 'created in vain' : 'created'
    }
    if (isFailing) return 'update failed'
    return isAllowed(policies, 'Update') ? 'updated' : 'not updated'
  }

  // With the variables that a Secret holds, as an engine would read them.
  async function run(workspace: Workspace): Promise<Outcome> {
    const { spec, metadata } = workspace
    const { vars = [], varmap = {}, varFiles = [] } = spec.forProvider
    const inputs: Record<string, unknown> = Object.fromEntries(vars.map(({ key, value }) => [key, value]))
    for (const { secretKeyRef } of varFiles) {
      if (!secretKeyRef) continue
      const { name, key, namespace = metadata.namespace ?? '' } = secretKeyRef
      const secret = await there(client.get(Secret, { name, namespace }), name)
      const values = readJson(Buffer.from(secret?.data?.[key] ?? '', 'base64').toString())
      if (!isRecord(values)) return { fails: 'plan', summary: `cannot read key ${key} of Secret ${name}` }
      Object.assign(inputs, values)
    }
    return terraform({ ...inputs, ...varmap }, workspace)
  }

  async function configOf(workspace: Workspace): Promise<ProviderConfig | undefined> {
    const { kind, name } = configRefOf(api, workspace)
    const { namespace } = workspace.metadata
    if (kind === 'ClusterProviderConfig' && api.clusterProviderConfig)
      return there(client.get(api.clusterProviderConfig, { name }), name)
    return there(client.get(api.providerConfig, namespace === undefined ? { name } : { name, namespace }), name)
  }

  function connectionOf({ spec, metadata }: Workspace): Key | undefined {
    const { name, namespace = metadata.namespace ?? '' } = spec.writeConnectionSecretToRef ?? {}
    return name === undefined ? undefined : { name, namespace }
  }

  function usageKey({ metadata: { uid = '', namespace } }: Workspace): Key {
    return namespace === undefined ? { name: uid } : { name: uid, namespace }
  }

  function ownerOf({ metadata: { name, uid = '' } }: Workspace): OwnerReference {
    const apiVersion = apiVersionOf(resource)
    return { apiVersion, kind: resource.kind, name, uid, controller: true, blockOwnerDeletion: true }
  }

  function filled(one: Write, { workspace, outcome }: Scene): Write {
    const { name: config } = configRefOf(api, workspace)
    const { kind, group } = api.isNamespaced ? (api.clusterProviderConfig ?? api.providerConfig) : api.providerConfig
    const summary = 'summary' in outcome ? outcome.summary : ''
    const texts: Readonly<Record<string, string>> = {
      '<name>': workspace.metadata.name,
      '<time>': now(),
      '<checksum>': checksum,
      '<providerConfig>': `${kind}.${group} "${config}"`,
      '<summary>': summary,
      '<blob>': gzipSync(`\nError: ${summary}\n`, { level: 9 }).toString('base64'),
    }
    const values: Readonly<Record<string, unknown>> = {
      '<generation>': workspace.metadata.generation,
      '<outputs>': plainOf(outcome),
    }
    return JSON.parse(JSON.stringify(one), (_, value: unknown) => {
      if (typeof value !== 'string') return value
      return value in values ? values[value] : value.replaceAll(/<\w+>/g, (each) => texts[each] ?? each)
    }) as Write
  }

  // Whether the world says it already.
  function isSo({ annotate, use, connect, finalizer, release, conditions, atProvider }: Write, scene: Scene): boolean {
    const { metadata, status } = scene.workspace
    if (annotate) return Object.keys(annotate).every((name) => metadata.annotations?.[name] !== undefined)
    if (use !== undefined) return scene.isUsed
    if (connect === 'nothing') return scene.connection !== undefined
    if (connect)
      return scene.connection !== undefined && isDeepStrictEqual(scene.connection.data ?? {}, dataOf(scene.outcome))
    if (finalizer !== undefined) return metadata.finalizers?.includes(finalizer) ?? false
    if (release !== undefined) return !metadata.finalizers?.includes(release)
    const told = status?.conditions ?? []
    const isTold = conditions?.every((each) => told.some((other) => isSame(each, other)))
    const { outputs, ...rest } = atProvider ?? {}
    return Boolean(isTold) && isWithin(rest, status?.atProvider ?? {}) && isToldOf(outputs, status)
  }

  // Who asks for no Secret gets none.
  function isToBe({ connect }: Write, { workspace }: Scene): boolean {
    return connect === undefined || connectionOf(workspace) !== undefined
  }

  async function write(next: Write, scene: Scene): Promise<void> {
    const { workspace } = scene
    const { metadata } = workspace
    const { finalizers = [], uid = '', resourceVersion } = metadata
    const { annotate, use, connect, finalizer, release, conditions = [], atProvider } = next
    const patch = async (change: { metadata?: object; status?: object }, subresource?: 'status') => {
      const isCritical = annotate !== undefined // which the provider writes whatever else was changed meanwhile
      const fence = { uid, ...(!isCritical && { resourceVersion }) }
      const fenced = { ...change, metadata: { ...change.metadata, ...fence } }
      await client.patch(resource, keyOf(workspace), fenced, {
        fieldManager: 'provider',
        ...(subresource && { subresource }),
      })
    }
    if (annotate) {
      if (crossplane.createPending in annotate) builds.set(uid, sleep(buildMs(workspace)))
      if (crossplane.createSucceeded in annotate || crossplane.createFailed in annotate) {
        await builds.get(uid)
        if ('fails' in scene.outcome || scene.outcome.resources !== 0)
          states.add(metadata.annotations?.[crossplane.externalName] ?? '')
      }
      return patch({ metadata: { annotations: annotate } })
    }
    if (use !== undefined) return track(scene)
    if (connect) return fill(scene, connect === 'nothing' ? {} : dataOf(scene.outcome))
    if (finalizer !== undefined) return patch({ metadata: { finalizers: [...finalizers, finalizer] } })
    if (release !== undefined) {
      if (takeFor(scene) === 'destroyed') {
        destroyed.push(`${api.group}/${tellKey(keyOf(workspace))}`)
        states.delete(metadata.annotations?.[crossplane.externalName] ?? '')
      }
      return patch({ metadata: { finalizers: finalizers.filter((each) => each !== release) } })
    }
    const before = workspace.status?.conditions ?? []
    const told = conditions.map((each) => {
      const old = before.find((other) => isSame(each, other))
      return old ?? { ...each, lastTransitionTime: now() }
    })
    const others = before.filter(({ type }) => conditions.every((each) => each.type !== type))
    const all = [...others, ...told].toSorted((a, b) => (a.type < b.type ? -1 : 1))
    return patch(
      { status: { conditions: all, ...(atProvider && { atProvider: replacing(workspace, atProvider) }) } },
      'status',
    )
  }

  // Which the provider's other loop counts, where the ProviderConfig is for the whole cluster.
  async function track({ workspace, config }: Scene): Promise<void> {
    const ref = configRefOf(api, workspace)
    const usage: ProviderConfigUsage = {
      apiVersion: apiVersionOf(api.usage),
      kind: api.usage.kind,
      metadata: {
        ...usageKey(workspace),
        labels: {
          [crossplane.providerConfigLabel]: ref.name,
          ...(ref.kind !== undefined && { [crossplane.providerConfigKindLabel]: ref.kind }),
        },
        ownerReferences: [ownerOf(workspace)],
      },
      providerConfigRef: ref,
      resourceRef: { apiVersion: apiVersionOf(resource), kind: resource.kind, name: workspace.metadata.name },
    }
    await client.create(api.usage, usage)
    if (config && !api.isNamespaced) await count(config)
    enqueue(tellKey(keyOf(workspace)), async () => move(keyOf(workspace)))
  }

  async function count(config: ProviderConfig): Promise<void> {
    const key = keyOf(config)
    const isOf = ({ providerConfigRef }: ProviderConfigUsage) => providerConfigRef.name === key.name
    const users = (await client.list(api.usage)).items.filter(isOf).length
    const finalizers = [...new Set([...(config.metadata.finalizers ?? []), crossplane.inUseFinalizer])]
    await client.patch(api.providerConfig, key, { metadata: { finalizers: users > 0 ? finalizers : [] } })
    await client.patch(api.providerConfig, key, { status: { users } }, { subresource: 'status' })
  }

  async function fill({ workspace, connection }: Scene, data: Readonly<Record<string, string>>): Promise<void> {
    const key = connectionOf(workspace)
    if (!key) return
    const owners = { ownerReferences: [ownerOf(workspace)] }
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...key, ...owners },
      type: crossplane.connectionSecretType,
      ...(Object.keys(data).length > 0 && { data }),
    }
    const gone = Object.keys(connection?.data ?? {}).filter((name) => !(name in data))
    const change = { metadata: owners, data: { ...Object.fromEntries(gone.map((name) => [name, null])), ...data } }
    if (connection) await client.patch(Secret, key, change, { fieldManager: 'provider' })
    else await client.create(Secret, secret, { fieldManager: 'provider' })
    enqueue(tellKey(keyOf(workspace)), async () => move(keyOf(workspace))) // no watch tells of it
  }

  async function collect(workspace: Workspace): Promise<void> {
    const usage = usageKey(workspace)
    await there(client.remove(api.usage, usage), usage.name)
    const config = await configOf(workspace)
    if (config && !api.isNamespaced) await count(config)
    const key = connectionOf(workspace)
    const secret = key && (await there(client.get(Secret, key), key.name))
    const isOurs = secret?.metadata.ownerReferences?.some(({ uid }) => uid === workspace.metadata.uid)
    if (secret && isOurs) await there(client.remove(Secret, key), key.name)
  }

  cache.start()
  return {
    destroyed,
    plays(other = usual) {
      terraform = other
      for (const workspace of cache.list(resource))
        enqueue(tellKey(keyOf(workspace)), async () => move(keyOf(workspace), true))
    },
    async whenQuiet() {
      // What a turn has written is heard in a later one.
      for (let idle = 0; idle < 3; idle++) {
        const before = [...turns.values()]
        await Promise.all(before)
        await new Promise((wake) => setImmediate(wake))
        if ([...turns.values()].some((turn) => !before.includes(turn))) idle = -1
      }
    },
    stop() {
      isStopped = true
      for (const timer of retries) clearTimeout(timer)
      cache.stop()
      if (stumbles.length > 0) throw new AggregateError(stumbles, `the player stumbled: ${String(stumbles[0])}`)
    },
  }
}

async function there<T>(asked: Promise<T>, name: string): Promise<T | undefined> {
  return asked.catch((error: unknown) => {
    if (isNotFound(error, name)) return undefined
    throw error
  })
}

function plainOf(outcome: Outcome): JsonRecord {
  const all = 'outputs' in outcome ? Object.entries(outcome.outputs) : []
  return Object.fromEntries(all.filter(([, { sensitive }]) => !sensitive).map(([name, { value }]) => [name, value]))
}

// As the connection Secret has them.
function dataOf(outcome: Outcome): Readonly<Record<string, string>> {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  const all = 'outputs' in outcome ? Object.entries(outcome.outputs) : []
  return Object.fromEntries(all.map(([name, { value }]) => [name, Buffer.from(text(value)).toString('base64')]))
}

// But for when it came to be so.
function isSame(wanted: Omit<WorkspaceCondition, 'lastTransitionTime'>, is: WorkspaceCondition): boolean {
  return isDeepStrictEqual({ ...wanted, lastTransitionTime: '' }, { ...is, lastTransitionTime: '' })
}

function isToldOf(outputs: unknown, status: Workspace['status']): boolean {
  return outputs === undefined || isDeepStrictEqual(outputs, status?.atProvider?.outputs)
}

// Outputs as a whole: what is no output any more goes.
function replacing({ status }: Workspace, { outputs, ...rest }: JsonRecord): JsonRecord {
  if (!isRecord(outputs)) return rest
  const gone = Object.keys(status?.atProvider?.outputs ?? {}).filter((name) => !(name in outputs))
  return { ...rest, outputs: { ...Object.fromEntries(gone.map((name) => [name, null])), ...outputs } }
}
