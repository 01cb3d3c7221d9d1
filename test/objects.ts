// An API server in memory, as far as a pass over one object needs one: it keeps objects, refuses stale and foreign writes, lets
// go what is deleted and held by nobody, and can be struck at any write. What a real one does is for stories.
import { type Key, type KubeObject, keyOf, type Resource, tellKey, tellRef } from '../src/api/resource.ts'
import type { Client } from '../src/kube/client.ts'
import { ApiError } from '../src/kube/errors.ts'

type Doc = Record<string, unknown>

export interface Objects {
  readonly client: Client
  readonly writes: readonly string[] // "patch Workspace demo"
  strike(atWrite: number, how: 'before' | 'after'): void // that write, counted from now, throws, before or after it happens
  get<T extends KubeObject>(resource: Resource<T>, key: Key): T | undefined
  list<T extends KubeObject>(resource: Resource<T>): readonly T[]
  put(resource: Resource, object: KubeObject): void // as a user does: a changed spec is a new generation
  change(resource: Resource, key: Key, change: object): void
  remove(resource: Resource, key: Key): void
}

export class Struck extends Error {}

export function objectsInMemory(date: () => Date = () => new Date()): Objects {
  const all = new Map<string, KubeObject>()
  const writes: string[] = []
  let version = 0
  let strikeAt = { write: 0, how: 'before' }

  const idOf = (resource: Resource, key: Key) => `${resource.group}/${resource.kind} ${tellKey(key)}`
  const trouble = (doing: string, code: number, reason: string, about?: string) =>
    new ApiError({ doing, code, reason, message: reason, ...(about !== undefined && { about }) })

  function found(resource: Resource, key: Key): KubeObject {
    const object = all.get(idOf(resource, key))
    if (!object) throw trouble(`read ${tellRef(resource, key)}`, 404, 'NotFound', key.name)
    return structuredClone(object)
  }

  function store(resource: Resource, object: KubeObject): KubeObject {
    const id = idOf(resource, keyOf(object))
    const before: (KubeObject & { readonly spec?: unknown }) | undefined = all.get(id)
    const { metadata, ...rest } = object
    const isNewSpec = before && JSON.stringify(before.spec) !== JSON.stringify((rest as Doc)['spec'])
    const now = `${date().toISOString().slice(0, 19)}Z`
    const stored = {
      ...rest,
      metadata: {
        ...metadata,
        uid: before?.metadata.uid ?? uidOf(++version),
        creationTimestamp: before?.metadata.creationTimestamp ?? now,
        generation: (before?.metadata.generation ?? 1) + (isNewSpec ? 1 : 0),
        resourceVersion: String(++version),
      },
    }
    if (stored.metadata.deletionTimestamp && !stored.metadata.finalizers?.length) all.delete(id)
    else all.set(id, JSON.parse(JSON.stringify(stored)) as KubeObject)
    return structuredClone(stored)
  }

  // What is refused is no write.
  async function write<T>(what: string, act: () => unknown): Promise<T> {
    const before = new Map(all)
    const result = act()
    const how = --strikeAt.write === 0 ? strikeAt.how : undefined
    if (how === 'before') {
      all.clear()
      for (const [id, object] of before) all.set(id, object)
      throw new Struck(`before ${what}`)
    }
    writes.push(what)
    if (how === 'after') throw new Struck(`after ${what}`)
    return result as T
  }

  function fenced(doing: string, object: KubeObject, change: Doc): void {
    const { uid, resourceVersion } = (change['metadata'] ?? {}) as { uid?: string; resourceVersion?: string }
    const { name } = object.metadata
    if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion)
      throw trouble(doing, 409, 'Conflict', name)
    if (uid !== undefined && uid !== object.metadata.uid) throw trouble(doing, 422, 'Invalid', name)
  }

  function patched(resource: Resource, key: Key, change: object): KubeObject {
    const object = found(resource, key)
    fenced(`patch ${tellRef(resource, key)}`, object, change as Doc)
    return store(resource, merged(object, change) as KubeObject)
  }

  function markDeleted(resource: Resource, key: Key): void {
    const object = found(resource, key)
    const { generation = 1 } = object.metadata
    const deletionTimestamp = object.metadata.deletionTimestamp ?? `${date().toISOString().slice(0, 19)}Z`
    store(resource, { ...object, metadata: { ...object.metadata, deletionTimestamp, generation } })
    const left = all.get(idOf(resource, key))
    if (left) Object.assign(left.metadata, { generation: generation + 1 })
  }

  const client = {
    get: async (resource: Resource, key: Key) => found(resource, key),
    async list(resource: Resource, { namespace, labels = '' }: { namespace?: string; labels?: string } = {}) {
      const wanted = labels.split(',').filter(Boolean)
      const items = [...all.entries()]
        .filter(([id]) => id.startsWith(`${resource.group}/${resource.kind} `))
        .map(([, object]) => structuredClone(object))
        .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
        .filter(({ metadata }) =>
          wanted.every((each) => metadata.labels?.[each.split('=')[0] ?? ''] === each.split('=')[1]),
        )
      return { items, resourceVersion: String(version) }
    },
    create: async (resource: Resource, object: KubeObject) =>
      write(`create ${tellRef(resource, keyOf(object))}`, () => {
        const doing = `create ${tellRef(resource, keyOf(object))}`
        if (all.has(idOf(resource, keyOf(object)))) throw trouble(doing, 409, 'AlreadyExists', object.metadata.name)
        return store(resource, object)
      }),
    apply: async (resource: Resource, object: KubeObject) =>
      write(`apply ${tellRef(resource, keyOf(object))}`, () =>
        store(resource, merged(all.get(idOf(resource, keyOf(object))) ?? {}, object) as KubeObject),
      ),
    patch: async (resource: Resource, key: Key, change: object) =>
      write(`patch ${tellRef(resource, key)}`, () => patched(resource, key, change)),
    replaceStatus: async (resource: Resource, object: KubeObject, status: object) =>
      write(`status ${tellRef(resource, keyOf(object))}`, () => {
        const there = found(resource, keyOf(object))
        fenced('replace a status', there, { metadata: { uid: object.metadata.uid } })
        return store(resource, { ...there, status } as KubeObject)
      }),
    remove: async (resource: Resource, key: Key) =>
      write(`delete ${tellRef(resource, key)}`, () => markDeleted(resource, key)),
  }

  return {
    client: client as unknown as Client,
    writes,
    strike(atWrite, how) {
      strikeAt = { write: atWrite, how }
    },
    get: <T extends KubeObject>(resource: Resource<T>, key: Key) => all.get(idOf(resource, key)) as T | undefined,
    list: <T extends KubeObject>(resource: Resource<T>) =>
      [...all.entries()]
        .filter(([id]) => id.startsWith(`${resource.group}/${resource.kind} `))
        .map(([, object]) => object as T),
    put: (resource, object) => void store(resource, object),
    change: (resource, key, change) => void patched(resource, key, change),
    remove: markDeleted,
  }
}

function uidOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}

// A merge patch.
function merged(before: unknown, change: unknown): unknown {
  if (typeof change !== 'object' || change === null || Array.isArray(change)) return change
  const result: Doc = typeof before === 'object' && before !== null && !Array.isArray(before) ? { ...before } : {}
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) continue
    if (value === null) delete result[name]
    else result[name] = merged(result[name], value)
  }
  return result
}
