// Moves Workspaces as Crossplane's provider-terraform was recorded to, write by write: two passes, an empty connection Secret
// first, no observedGeneration on Ready=True, nothing destroyed under a foreign finalizer. A recording: what Terraform would say
// is given by the test, and there is no garbage collector, so it takes the connection Secret away itself.
import { gzipSync } from 'node:zlib'
import { Secret } from '../src/api/neighbours.ts'
import { isRecord, readJson } from '../src/api/record.ts'
import { apiVersionOf, type Key, keyOf, readKey, tellKey } from '../src/api/resource.ts'
import { crossplane, type Workspace, type WorkspaceAPI, type WorkspaceCondition } from '../src/api/workspace.ts'
import type { Client } from '../src/kube/client.ts'
import { isConflict, isNotFound } from '../src/kube/errors.ts'
import { createCache } from '../src/runtime/cache.ts'
import { systemClock } from '../src/runtime/clock.ts'
import { isAllowed } from '../src/terraform/policies.ts'

export type Inputs = Readonly<Record<string, unknown>>

export interface Output {
  readonly value: unknown
  readonly sensitive?: true
}

// What Terraform would make of the variables: outputs, or an error.
export type Terraform = (inputs: Inputs) => Readonly<Record<string, Output>> | string

export interface Player {
  readonly destroyed: readonly string[] // as group/name, in their order
  // How the next runs go; none: as the player was started with.
  plays(terraform?: Terraform): void
  stop(): void
}

export interface PlayerOptions {
  readonly client: Client
  readonly api: WorkspaceAPI
  readonly terraform: Terraform
}

const now = () => `${new Date().toISOString().slice(0, 19)}Z`

export function startPlayer({ client, api, terraform: usual }: PlayerOptions): Player {
  const { workspace: resource } = api
  const destroyed: string[] = []
  const turns = new Map<string, Promise<void>>()
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
        else if (!isStopped && !isNotFound(error, readKey(key).name)) console.error('the player stumbled', error)
      }),
    )
  }

  async function move(key: Key): Promise<void> {
    const workspace = await client.get(resource, key)
    await next(workspace)
  }

  const patch = async (workspace: Workspace, change: object) => {
    const { uid, resourceVersion } = workspace.metadata
    const { metadata = {} } = change as { metadata?: object }
    const fenced = { ...change, metadata: { ...metadata, uid, resourceVersion } }
    await client.patch(resource, keyOf(workspace), fenced, { fieldManager: 'provider' })
  }
  const annotate = async (workspace: Workspace, name: string, value: string) =>
    patch(workspace, { metadata: { annotations: { [name]: value } } })

  async function tell(
    workspace: Workspace,
    conditions: readonly Omit<WorkspaceCondition, 'lastTransitionTime'>[],
    atProvider?: object,
  ): Promise<void> {
    const before = workspace.status?.conditions ?? []
    const told = conditions.map((each) => {
      const old = before.find(({ type }) => type === each.type)
      return { ...each, lastTransitionTime: old?.status === each.status ? old.lastTransitionTime : now() }
    })
    const others = before.filter(({ type }) => conditions.every((each) => each.type !== type))
    const all = [...others, ...told].toSorted((a, b) => (a.type < b.type ? -1 : 1))
    const status = { conditions: all, ...(atProvider && { atProvider }) }
    const { uid, resourceVersion } = workspace.metadata
    await client.patch(
      resource,
      keyOf(workspace),
      { metadata: { uid, resourceVersion }, status },
      { subresource: 'status' },
    )
  }

  // The next write of the recording, if there is one.
  async function next(workspace: Workspace): Promise<void> {
    const { metadata, spec, status } = workspace
    const { annotations: notes = {}, finalizers = [], generation = 0 } = metadata
    const policies = spec.managementPolicies
    const conditionOf = (type: string) => status?.conditions?.find((each) => each.type === type)
    const synced = conditionOf('Synced')
    const ready = conditionOf('Ready')
    const success = {
      type: 'Synced',
      status: 'True',
      reason: 'ReconcileSuccess',
      observedGeneration: generation,
    } as const

    if (notes[crossplane.paused] === 'true') {
      if (synced?.reason === 'ReconcilePaused') return
      return tell(workspace, [
        { type: 'Synced', status: 'False', reason: 'ReconcilePaused', observedGeneration: generation },
      ])
    }
    if (metadata.deletionTimestamp !== undefined) {
      const isOrphan = spec.deletionPolicy === 'Orphan' || !isAllowed(policies, 'Delete')
      const isHeld = finalizers.some((each) => each !== crossplane.finalizer)
      if (!finalizers.includes(crossplane.finalizer) || (isHeld && !isOrphan)) return undefined
      if (!isOrphan) destroyed.push(`${api.group}/${tellKey(keyOf(workspace))}`)
      return patch(workspace, { metadata: { finalizers: finalizers.filter((each) => each !== crossplane.finalizer) } })
    }
    if (notes[crossplane.externalName] === undefined) return annotate(workspace, crossplane.externalName, metadata.name)

    const ran = await run(workspace)
    const isKnown = ready !== undefined && synced?.observedGeneration === generation
    if (typeof ran === 'string') {
      const step = ready?.status === 'True' ? 'update' : 'create'
      const message = failure(step, ran)
      if (isKnown && synced.message === message) return undefined
      if (!finalizers.includes(crossplane.finalizer))
        return patch(workspace, { metadata: { finalizers: [...finalizers, crossplane.finalizer] } })
      if (step === 'create' && notes[crossplane.createFailed] === undefined)
        return patch(workspace, {
          metadata: { annotations: { [crossplane.createPending]: now(), [crossplane.createFailed]: now() } },
        })
      const error = {
        type: 'Synced',
        status: 'False',
        reason: 'ReconcileError',
        observedGeneration: generation,
        message,
      } as const
      const creating = { type: 'Ready', status: 'False', reason: 'Creating', observedGeneration: generation } as const
      return tell(workspace, step === 'create' ? [creating, error] : [error])
    }
    if (ready?.status === 'True') {
      if (isKnown && synced.status === 'True' && isAsTold(workspace, ran)) return undefined
      if (!isAllowed(policies, 'Update'))
        return isKnown && synced.status === 'True' ? undefined : tell(workspace, [success])
      await connect(workspace, ran)
      return tell(workspace, [success], atProviderOf(ran))
    }
    if (!(await isConnected(workspace))) await connect(workspace)
    if (!finalizers.includes(crossplane.finalizer))
      return patch(workspace, { metadata: { finalizers: [...finalizers, crossplane.finalizer] } })
    if (notes[crossplane.createPending] === undefined) return annotate(workspace, crossplane.createPending, now())
    if (notes[crossplane.createSucceeded] === undefined) return annotate(workspace, crossplane.createSucceeded, now())
    if (ready?.observedGeneration !== generation || synced?.status !== 'True') {
      await connect(workspace, ran)
      const creating = { type: 'Ready', status: 'False', reason: 'Creating', observedGeneration: generation } as const
      return tell(workspace, [creating, success], {})
    }
    return tell(workspace, [{ type: 'Ready', status: 'True', reason: 'Available' }, success], atProviderOf(ran))
  }

  // With the variables that a Secret holds, as an engine would read them.
  async function run({ spec, metadata }: Workspace): Promise<ReturnType<Terraform>> {
    const { varmap = {}, varFiles = [] } = spec.forProvider
    const inputs: Record<string, unknown> = {}
    for (const { secretKeyRef } of varFiles) {
      if (!secretKeyRef) continue
      const { name, key, namespace = metadata.namespace ?? '' } = secretKeyRef
      const { data = {} } = await client.get(Secret, { name, namespace })
      const values = readJson(Buffer.from(data[key] ?? '', 'base64').toString())
      if (!isRecord(values)) return `cannot read key ${key} of Secret ${name}`
      Object.assign(inputs, values)
    }
    return terraform({ ...inputs, ...varmap })
  }

  function connectionOf({ spec, metadata }: Workspace): Key {
    const { name = '', namespace = metadata.namespace ?? '' } = spec.writeConnectionSecretToRef ?? {}
    return { name, namespace }
  }

  async function isConnected(workspace: Workspace): Promise<boolean> {
    const key = connectionOf(workspace)
    return client.get(Secret, key).then(
      () => true,
      (error: unknown) => {
        if (isNotFound(error, key.name)) return false
        throw error
      },
    )
  }

  // Without outputs it is empty.
  async function connect(workspace: Workspace, ran: Readonly<Record<string, Output>> = {}): Promise<void> {
    const key = connectionOf(workspace)
    const { name, uid = '' } = workspace.metadata
    const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
    const data = Object.entries(ran).map(([output, { value }]) => [output, Buffer.from(text(value)).toString('base64')])
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        ...key,
        ownerReferences: [{ apiVersion: apiVersionOf(resource), kind: 'Workspace', name, uid, controller: true }],
      },
      type: crossplane.connectionSecretType,
      data: Object.fromEntries(data) as Record<string, string>,
    }
    await client.apply(Secret, secret, { fieldManager: 'provider', force: true })
  }

  async function collect(workspace: Workspace): Promise<void> {
    const key = connectionOf(workspace)
    await client.remove(Secret, key).catch(() => {})
  }

  cache.start()
  return {
    destroyed,
    plays(other = usual) {
      terraform = other
      for (const workspace of cache.list(resource))
        enqueue(tellKey(keyOf(workspace)), async () => move(keyOf(workspace)))
    },
    stop() {
      isStopped = true
      cache.stop()
    },
  }
}

function atProviderOf(ran: Readonly<Record<string, Output>>): { readonly checksum: string; readonly outputs: object } {
  const plain = Object.entries(ran).filter(([, { sensitive }]) => !sensitive)
  const outputs = Object.fromEntries(plain.map(([name, { value }]) => [name, value]))
  return { checksum: '7299412baa043bfbe7fa9251efd9464b', outputs }
}

function isAsTold({ status }: Workspace, ran: Readonly<Record<string, Output>>): boolean {
  return JSON.stringify(status?.atProvider?.outputs) === JSON.stringify(atProviderOf(ran).outputs)
}

function failure(step: string, text: string): string {
  const full = gzipSync(`\nError: ${text}\n`, { level: 9 }).toString('base64')
  return `${step} failed: cannot apply Terraform configuration: Terraform encountered an error. Summary: ${text}. To see the full error run: echo "${full}" | base64 -d | gunzip`
}
