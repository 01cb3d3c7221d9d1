// An engine in memory: an API server in memory, Terraform that answers at once, and everything of the engine between them but
// its process. A test lets it pass over a Workspace as often as it likes, and strikes it where it likes.
import { gzipSync } from 'node:zlib'
import { Secret } from '../src/api/neighbours.ts'
import type { Key, KubeObject } from '../src/api/resource.ts'
import {
  crossplane,
  type ProviderConfig,
  type Workspace,
  type WorkspaceSpec,
  workspaceAPIs,
} from '../src/api/workspace.ts'
import { createClaims, stateNameOf } from '../src/engine/claims.ts'
import { createConnections } from '../src/engine/connection.ts'
import { createCustody } from '../src/engine/custody.ts'
import type { Happening } from '../src/engine/decide.ts'
import { gather } from '../src/engine/inputs.ts'
import { createPass, type Passed } from '../src/engine/pass.ts'
import { createRecords } from '../src/engine/records.ts'
import { createUsages } from '../src/engine/usages.ts'
import type { Read } from '../src/runtime/cache.ts'
import type { Log } from '../src/runtime/log.ts'
import { type VirtualClock, virtualClock } from './clock.ts'
import { aFolder } from './folder.ts'
import { type Backend, type Instant, instantTerraform, type Module } from './instant.ts'
import { type Objects, objectsInMemory } from './objects.ts'

export const clusterWide = workspaceAPIs['tf.upbound.io']
export const key = { name: 'demo' }
export const stateKey = { namespace: 'states', name: 'tfstate-demo-capt' } // where states are kept here

export interface SmallEngine {
  readonly objects: Objects
  readonly instant: Instant
  readonly events: string[] // "Normal CreatedExternalResource"
  readonly notes: string[] // what the events say
  readonly logged: string[] // 'Terraform says {"command":"plan"}'
  readonly clock: VirtualClock
  blocked: string | undefined
  isEnding: boolean
  is(): Workspace | undefined
  apply(module: Module, more?: Partial<WorkspaceSpec>, metadata?: object): void
  pass(of?: Key): Promise<Passed> // none: demo
  restart(): void // forgets what is only in memory
  tick(): void // a minute passes
}

const silent: Log = {
  error() {},
  warn() {},
  info() {},
  debug() {},
  with: () => silent,
  setLevel() {},
}

export interface SmallEngineOptions {
  readonly keepsStatesHere?: boolean // none: in the work folders, as Terraform does with no backend
  readonly elsewhere?: Pick<Backend, 'type' | 'config'> // where states are kept instead
  readonly family?: 'tofu' | 'terraform'
}

export function aSmallEngine(options: SmallEngineOptions = {}): SmallEngine {
  const { keepsStatesHere = false, elsewhere, family = 'tofu' } = options
  let minutes = 0
  const date = () => new Date(Date.UTC(2026, 10, 15, 23, minutes))
  const objects = objectsInMemory(date)
  const backend = elsewhere ? { root: aFolder(), ...elsewhere, keep: async () => {} } : aBackend(objects)
  const instant = instantTerraform(keepsStatesHere || elsewhere ? { backend } : {})
  const terraform = Object.assign(instant.terraform, { family })
  const events: string[] = []
  const notes: string[] = []
  const logged: string[] = []
  const log: Log = { ...silent, info: (msg, about) => void logged.push(`${msg} ${JSON.stringify(about)}`) }
  const clock = virtualClock()
  const { client } = objects
  const config: ProviderConfig = {
    apiVersion: 'tf.upbound.io/v1beta1',
    kind: 'ProviderConfig',
    metadata: { name: 'default' },
    spec: { configuration: '# none' },
  }
  objects.put(clusterWide.providerConfig, config)

  const byIndex: Read['byIndex'] = (resource, _, name) =>
    objects.list(resource).filter((each) => stateNameOf(each) === name)
  const make = () =>
    createPass({
      client,
      terraform,
      folders: instant.folders,
      custody: createCustody({
        client,
        namespace: 'states',
        records: createRecords({ client, namespace: 'states', date }),
        terraform,
        machine: { host: 'here', bootId: 'boot' },
        ownEnv: {},
        date,
        log: silent,
      }),
      connections: createConnections(client),
      usages: createUsages(client, { get: objects.get }),
      claims: createClaims({ get: objects.get, byIndex }, [clusterWide]),
      blocked: () => engine.blocked,
      isEnding: () => engine.isEnding,
      now: () => `${date().toISOString().slice(0, 19)}Z`,
      clock,
      log,
      gather: async (asked) => gather(asked, client, {}),
      record(_: KubeObject, { type, reason, note }: Happening) {
        events.push(`${type} ${reason}`)
        notes.push(note)
      },
    })
  let pass = make()

  const engine: SmallEngine = {
    objects,
    instant,
    events,
    notes,
    logged,
    clock,
    blocked: undefined,
    isEnding: false,
    is: () => objects.get(clusterWide.workspace, key),
    apply(module, more = {}, metadata = {}) {
      const there = engine.is()
      const spec: WorkspaceSpec = {
        ...there?.spec,
        providerConfigRef: { name: 'default' },
        writeConnectionSecretToRef: { name: 'demo-conn', namespace: 'default' },
        ...more,
        forProvider: { source: 'Inline', module: JSON.stringify(module) },
      }
      const wished: Workspace = there
        ? { ...there, spec, metadata: { ...there.metadata, ...metadata } }
        : { apiVersion: 'tf.upbound.io/v1beta1', kind: 'Workspace', metadata: { ...key, ...metadata }, spec }
      objects.put(clusterWide.workspace, wished)
    },
    pass: async (of = key) => pass(clusterWide, of),
    restart() {
      pass = make()
    },
    tick() {
      minutes++
    },
  }
  return engine
}

function aBackend(objects: Objects): Backend {
  let serial = 0
  let lineage = 0
  return {
    root: aFolder(),
    type: 'kubernetes',
    config: { secret_suffix: 'capt', namespace: stateKey.namespace },
    async keep(workspace, state) {
      const metadata = { ...stateKey, name: `tfstate-${workspace}-capt` }
      if (!state) return objects.remove(Secret, metadata)
      if (!objects.get(Secret, metadata)) lineage++
      const resources = [...state.keys()].map((address) => {
        const [type, name] = address.split('.')
        return { mode: 'managed', type, name, instances: [{}] }
      })
      const text = JSON.stringify({ version: 4, lineage: `${lineage}`, serial: ++serial, resources })
      const secret: Secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata,
        data: { tfstate: gzipSync(text).toString('base64') },
      }
      objects.put(Secret, secret)
    },
  }
}

// Conditions as one line: "Ready=True/Available Synced=True/ReconcileSuccess@1"
export function tell(workspace: Workspace | undefined): string {
  return (workspace?.status?.conditions ?? [])
    .map(
      ({ type, status, reason, observedGeneration: at }) =>
        `${type}=${status}/${reason}${at === undefined ? '' : `@${at}`}`,
    )
    .join(' ')
}

export function messageOf(workspace: Workspace | undefined, type = 'Synced'): string {
  return workspace?.status?.conditions?.find((each) => each.type === type)?.message ?? ''
}

export const ownFinalizer = crossplane.finalizer
