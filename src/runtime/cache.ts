// What controllers read instead of asking the API server: one watch for each kind and scope they declare, shared by all of
// them. It may be a moment late, and it never holds the bytes of a Secret.

import { CustomResourceDefinition } from '../api/neighbours.ts'
import {
  apiVersionOf,
  type Key,
  type KubeObject,
  type Resource,
  readKey,
  resourceName,
  tellKey,
} from '../api/resource.ts'
import type { Client, Scope } from '../kube/client.ts'
import type { Clock } from './clock.ts'
import { type Reflector, startReflector } from './reflector.ts'
import type { Handler, Indexes } from './store.ts'
import { createView, type View } from './view.ts'

// What controllers see of it.
export interface Read {
  get<T extends KubeObject>(resource: Resource<T>, key: Key): T | undefined
  list<T extends KubeObject>(resource: Resource<T>, namespace?: string): readonly T[]
  byIndex<T extends KubeObject>(resource: Resource<T>, index: string, value: string): readonly T[]
  keysAt<T extends KubeObject>(resource: Resource<T>, index: string, value: string): readonly Key[] // costs less
}

export interface Wish<T> {
  readonly scope?: Scope
  readonly indexes?: Indexes<T>
  readonly onChange?: Handler<T> // of every object of the kind that somebody watches
}

export interface Cache extends Read {
  versionOf(resource: Resource, key: Key): string | undefined // costs less than the object
  // Before `start`.
  watch<T extends KubeObject>(resource: Resource<T>, wish?: Wish<T>): void
  start(): void
  isSynced(): boolean
  whenSynced(): Promise<boolean> // false: it was stopped before
  // Hands each object to its handlers once a period, some at a time.
  resync(periodMs: number): void
  // For metrics.
  watches(): readonly Reflecting[]
  stop(): void
}

export interface Reflecting extends Reflector {
  readonly resource: string
  size(): number
}

export interface CacheOptions {
  readonly client: Pick<Client, 'list' | 'watch' | 'ready' | 'served'>
  readonly clock: Clock
  readonly random: () => number // from 0 up to 1
  readonly trouble: (resource: Resource, error: unknown, againAfterMs?: number) => void
}

const momentsInAPeriod = 64

export function createCache({ clock, ...options }: CacheOptions): Cache {
  const watched = new Map<string, Watched<KubeObject>>()
  const started = Promise.withResolvers<void>()
  let reflectors: readonly Reflecting[] | undefined
  let callOffResync = () => {}

  function watchedOf<T extends KubeObject>(resource: Resource<T>): Watched<T> {
    const kind = watched.get(idOf(resource))
    if (!kind || !isOf(kind, resource)) throw new Error(`nobody watches ${idOf(resource)}: declare it before the start`)
    return kind
  }

  const isSynced = () => reflectors?.every((each) => each.isSynced()) ?? false

  return {
    watch(resource, wish = {}) {
      if (reflectors) throw new Error(`${idOf(resource)} cannot be watched any more: declare it before the start`)
      if (!watched.has(idOf(resource))) watched.set(idOf(resource), createWatched(resource, { clock, ...options }))
      watchedOf(resource).add(wish)
    },
    start() {
      // Who watches definitions learns at once that a kind is served.
      watched.get(idOf(CustomResourceDefinition))?.hear(({ object }) => {
        for (const each of reflectors ?? []) if (each.resource === object.metadata.name) each.lookAgain()
      })
      reflectors = [...watched.values()].flatMap((kind) => kind.start())
      started.resolve()
    },
    get: (resource, key) => watchedOf(resource).view.get(tellKey(key)),
    versionOf: (resource, key) => watchedOf(resource).view.versionOf(tellKey(key)),
    list: (resource, namespace) => watchedOf(resource).view.list(namespace),
    byIndex: (resource, index, value) => watchedOf(resource).view.byIndex(index, value),
    keysAt: (resource, index, value) => watchedOf(resource).view.keysAt(index, value).map(readKey),
    isSynced,
    async whenSynced() {
      await started.promise
      await Promise.all((reflectors ?? []).map(async (each) => each.whenSynced()))
      return isSynced()
    },
    resync(periodMs) {
      let moment = 0
      const next = () => {
        callOffResync = clock.wakeAt(clock.now() + periodMs / momentsInAPeriod, () => {
          next()
          for (const { view } of watched.values()) view.resync((key) => scatter(key) % momentsInAPeriod === moment)
          moment = (moment + 1) % momentsInAPeriod
        })
      }
      next()
    },
    watches: () => reflectors ?? [],
    stop() {
      callOffResync()
      for (const each of reflectors ?? []) each.stop()
      started.resolve()
    },
  }
}

interface Watched<T extends KubeObject> {
  readonly id: string
  readonly view: View<T>
  add(wish: Wish<T>): void
  hear(handler: Handler<T>): void
  start(): readonly Reflecting[]
}

function createWatched<T extends KubeObject>(resource: Resource<T>, { trouble, ...others }: CacheOptions): Watched<T> {
  const indexes: Record<string, (object: T) => readonly string[]> = {}
  const handlers: Handler<T>[] = []
  const scopes = new Map<string, Scope>()
  const view = createView<T>({
    keep: (object) => resource.keep(object),
    indexes,
    onChange(change) {
      for (const handle of handlers) {
        try {
          handle(change)
        } catch (error) {
          trouble(resource, error) // which keeps no other from being told
        }
      }
    },
  })
  return {
    id: idOf(resource),
    view,
    add({ scope = {}, indexes: more = {}, onChange }) {
      for (const [name, index] of Object.entries(more)) {
        if ((indexes[name] ??= index) !== index) throw new Error(`${idOf(resource)} has another index ${name} already`)
      }
      if (onChange) handlers.push(onChange)
      const { namespace, labels, fields, metadataOnly = resource.isSecret } = scope
      for (const other of scopes.values()) {
        if (other.metadataOnly !== metadataOnly) throw new Error(`${idOf(resource)} is watched whole and in part`)
      }
      const all = metadataOnly ? { ...scope, metadataOnly } : scope
      scopes.set(JSON.stringify([namespace, labels, fields]), all)
    },
    hear: (handler) => void handlers.push(handler),
    start: () =>
      [...scopes.values()].map((scope) => {
        const store = view.addStore()
        const tell = (error: unknown, againAfterMs: number) => trouble(resource, error, againAfterMs)
        const reflector = startReflector({ ...others, resource, scope, store, trouble: tell })
        return { ...reflector, resource: resourceName(resource), size: store.size }
      }),
  }
}

function isOf<T extends KubeObject>(kind: Watched<KubeObject>, resource: Resource<T>): kind is Watched<T> {
  return kind.id === idOf(resource)
}

function idOf(resource: Resource): string {
  return `${resourceName(resource)} ${apiVersionOf(resource)}`
}

// FNV-1a, its upper half folded into its lower.
export function scatter(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 16)) >>> 0
}
