// The engine at work: what changes in the cluster becomes passes over Workspaces and ProviderConfigs. Who leads, and what a pass
// does, is not its business.
import { CustomResourceDefinition } from '../api/neighbours.ts'
import { apiVersionOf, type Key, keyOf, readKey, resourceName, tellKey } from '../api/resource.ts'
import { type ProviderConfig, packageOf, type Workspace, type WorkspaceAPI, workspaceAPIs } from '../api/workspace.ts'
import type { Client } from '../kube/client.ts'
import type { Cache } from '../runtime/cache.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { createWorkers, type Passed as Turn } from '../runtime/workers.ts'
import { configKeyOf } from '../terraform/providerconfig.ts'
import { ownBackend } from '../terraform/statesecret.ts'
import { stateIndex, stateNameOf } from './claims.ts'
import { createSweep } from './folders.ts'
import type { Passed } from './pass.ts'
import { keepProviderConfig, usedBy, usedIndex } from './providerconfigs.ts'
import { createIfAbsent } from './stateaccess.ts'
import { isNews, isSettled, type Poll, pollAfterSeconds } from './waking.ts'

export interface Engine {
  // Why a group is not served here, as sentences; empty: all is ours.
  surrendered(): readonly string[]
  // Once the cache knows everything.
  work(): Promise<void>
  stop(): Promise<void>
}

export interface EngineOptions {
  readonly client: Client
  readonly cache: Cache
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly poll: Poll
  readonly concurrency: number
  readonly root: string // of the work folders
  pass(api: WorkspaceAPI, key: Key): Promise<Passed>
}

// What we serve.
export const engineAPIs: readonly WorkspaceAPI[] = [workspaceAPIs['tf.upbound.io'], workspaceAPIs['tf.m.upbound.io']]

const configIndex = 'config'
const sweepEveryMs = 3_600_000

// Declares what it watches to the cache.
export function createEngine(options: EngineOptions): Engine {
  const { client, cache, clock, log, metrics, poll, concurrency, root, pass } = options
  const common = { clock, log, metrics, firstDelayMs: 1000, longestDelayMs: 60_000 }
  const workspaces = createWorkers({ ...common, name: 'workspace', count: concurrency, pass: passOver })
  const configs = createWorkers({ ...common, name: 'providerconfig', count: 1, pass: passOverConfig })
  const defaults = createWorkers({ ...common, name: 'default', count: 1, pass: makeDefault })

  for (const api of engineAPIs) {
    const nameOf = (key: Key) => `${api.group} ${tellKey(key)}`
    cache.watch(api.workspace, {
      indexes: {
        [configIndex]: (workspace: Workspace) => [configOf(api, workspace)],
        [stateIndex]: (workspace: Workspace) => [stateNameOf(workspace)],
      },
      onChange({ what, object, before }) {
        if (what === 'removed' || !isNews(before, object)) return
        workspaces.queue.add(nameOf(keyOf(object)), before === undefined && isSettled(object) ? 'resync' : 'change')
      },
    })
    for (const resource of [api.providerConfig, api.clusterProviderConfig]) {
      if (!resource) continue
      cache.watch(resource, {
        onChange({ what, object, before }) {
          if (resource === api.providerConfig) configs.queue.add(nameOf(keyOf(object)))
          // Whoever waits for it, or was made with what it said before.
          if (what === 'removed' || object.metadata.generation === before?.metadata.generation) return
          const users = cache.keysAt(api.workspace, configIndex, idOf(resource.kind, object))
          for (const key of users) workspaces.queue.add(nameOf(key))
        },
      })
    }
    cache.watch(api.usage, {
      indexes: { [usedIndex]: usedBy },
      onChange({ object }) {
        for (const key of usedBy(object)) configs.queue.add(nameOf(readKey(key)))
      },
    })
    cache.watch(CustomResourceDefinition, {
      scope: { fields: `metadata.name=${resourceName(api.workspace)}`, metadataOnly: true },
      onChange() {
        defaults.queue.add(api.group)
        for (const workspace of cache.list(api.workspace)) workspaces.queue.add(nameOf(keyOf(workspace)))
      },
    })
  }

  async function passOver(name: string): Promise<Turn> {
    const { api, key } = readName(name)
    if (ownerOf(api) !== undefined) return 'onChange'
    const { wake, workspace, did, says } = await pass(api, key)
    if (says !== '' || did.some((each) => !looks.has(each))) log.info('passed', { object: name, did, says })
    if (!workspace || wake === 'onChange') return 'onChange'
    return wake === 'retry' ? 'retry' : { afterSeconds: pollAfterSeconds(workspace, poll) }
  }

  async function passOverConfig(name: string): Promise<Turn> {
    const { api, key } = readName(name)
    if (ownerOf(api) === undefined) await keepProviderConfig(api, key, { client, read: cache })
    return 'onChange'
  }

  // Two engines would fight.
  function ownerOf(api: WorkspaceAPI): string | undefined {
    const crd = cache.get(CustomResourceDefinition, { name: resourceName(api.workspace) })
    const owner = crd && packageOf(crd)
    return owner && `${owner.kind} ${owner.name}`
  }

  // One without which nobody can begin.
  async function makeDefault(group: string): Promise<Turn> {
    const { api } = readName(group)
    const resource = api.clusterProviderConfig ?? api.providerConfig
    const isThere = cache.get(CustomResourceDefinition, { name: resourceName(api.workspace) }) !== undefined
    if (!isThere || ownerOf(api) !== undefined || cache.get(resource, { name: 'default' })) return 'onChange'
    const config: ProviderConfig = {
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      metadata: { name: 'default' },
      spec: { configuration: defaultConfiguration },
    }
    const isMade = await createIfAbsent(client, resource, config)
    if (isMade) log.info('made the default', { resource: resourceName(resource) })
    return 'onChange'
  }

  // An API that is not served shows no Workspaces, and there may be some.
  const uids = () => {
    const isServed = ({ workspace }: WorkspaceAPI) =>
      cache.get(CustomResourceDefinition, { name: resourceName(workspace) }) !== undefined
    if (!engineAPIs.every(isServed)) return undefined
    const all = engineAPIs.flatMap((api) => cache.list(api.workspace))
    return new Set(all.map(({ metadata }) => metadata.uid ?? ''))
  }
  const sweep = createSweep(root, uids)
  const notSwept = (error: unknown) => log.warn('old work folders cannot be taken away', { error })
  let callOffSweep = () => {}
  const sweepAgain = () => {
    callOffSweep = clock.wakeAt(clock.now() + sweepEveryMs, () => {
      sweep(false).catch(notSwept)
      sweepAgain()
    })
  }

  return {
    surrendered: () =>
      engineAPIs.flatMap((api) => {
        const owner = ownerOf(api)
        return owner === undefined ? [] : [`the Workspaces of ${api.group} belong to Crossplane's ${owner}`]
      }),
    async work() {
      // Before anybody misses them; what goes wrong is told, and tried again.
      for (const { group } of engineAPIs) await makeDefault(group).catch(() => defaults.queue.add(group))
      defaults.work()
      await sweep(true).catch(notSwept)
      sweepAgain()
      workspaces.work()
      configs.work()
    },
    async stop() {
      callOffSweep()
      await Promise.all([workspaces, configs, defaults].map(async (each) => each.stop()))
    },
  }
}

// Steps that change nothing.
const looks: ReadonlySet<string> = new Set(['connect', 'plan', 'publish'])

const defaultConfiguration = `terraform {
  backend "kubernetes" {
    secret_suffix = "${ownBackend.suffix}"
    namespace     = "${ownBackend.namespace}"
  }
}
`

function readName(name: string): { readonly api: WorkspaceAPI; readonly key: Key } {
  const [group = '', key = ''] = name.split(' ')
  const api = engineAPIs.find((each) => each.group === group)
  if (!api) throw new Error(`${name} is not of a group that is served here`)
  return { api, key: readKey(key) }
}

function configOf(api: WorkspaceAPI, workspace: Workspace): string {
  const { kind, key } = configKeyOf(api, workspace)
  return idOf(kind, { metadata: key })
}

function idOf(kind: string, object: Pick<ProviderConfig, 'metadata'>): string {
  return `${kind} ${tellKey(keyOf(object))}`
}
