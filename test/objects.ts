// An API server in memory, as far as a manager or an engine needs one: it keeps objects, tells who watches them, refuses stale
// and foreign writes, knows what was applied by whom, lets go what is deleted and held by nobody, and can be struck at any write.
// Of who owns which fields it keeps book for `data` and annotations alone. It knows no schemas, so it fills in no defaults, and collects no garbage. What a real one does is for stories.
import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../src/api/record.ts'
import { type Key, type KubeObject, keyOf, type Resource, tellKey, tellRef } from '../src/api/resource.ts'
import type { Client, Removal, Scope, WatchEvent, WatchFrom, Written } from '../src/kube/client.ts'
import { ApiError } from '../src/kube/errors.ts'
import { ownersAfter, type Writer } from './fieldowners.ts'

type Doc = Record<string, unknown>

// One write, as a watch sees it.
export interface Happened {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly resource: Resource
  readonly object: KubeObject
}

export interface Objects {
  readonly client: Client
  readonly writes: readonly string[] // "patch Workspace demo"
  strike(atWrite: number, how: 'before' | 'after'): void // that write, counted from now, throws, before or after it happens
  get<T extends KubeObject>(resource: Resource<T>, key: Key): T | undefined
  list<T extends KubeObject>(resource: Resource<T>): readonly T[]
  put(resource: Resource, object: KubeObject): void // as a user does: a changed spec is a new generation
  change(resource: Resource, key: Key, change: object): void
  remove(resource: Resource, key: Key): void
  watch(hear: (happened: Happened) => void): void // everything, at once
}

export class Struck extends Error {}

const somebody: Writer = { manager: 'somebody', operation: 'Update' }
const updater = (manager = somebody.manager): Writer => ({ manager, operation: 'Update' })

export function objectsInMemory(date: () => Date = () => new Date()): Objects {
  const all = new Map<string, KubeObject>()
  const applied = new Map<string, Doc>() // by whom to what, last
  const news: (Happened & { readonly before?: KubeObject })[] = []
  const hearing = new Set<(happened: Happened & { readonly before?: KubeObject }) => void>()
  const writes: string[] = []
  let version = 0
  let strikeAt = { write: 0, how: 'before' }

  const idOf = (resource: Resource, key: Key) => `${resource.group}/${resource.kind} ${tellKey(key)}`
  const trouble = (doing: string, code: number, reason: string, about?: string) =>
    new ApiError({ doing, code, reason, message: reason, ...(about !== undefined && { about }) })

  function found(resource: Resource, key: Key): KubeObject {
    const object = all.get(idOf(resource, key))
    if (!object) throw trouble(`read ${tellRef(resource, key)}`, 404, 'NotFound', key.name)
    return object
  }

  function store(resource: Resource, object: KubeObject, by: Writer = somebody): KubeObject {
    const id = idOf(resource, keyOf(object))
    const before: (KubeObject & { readonly spec?: unknown }) | undefined = all.get(id)
    const { metadata, ...rest } = object
    const managedFields = ownersAfter(before, object, by)
    const { deletionTimestamp } = metadata
    const isNewSpec = before && JSON.stringify(before.spec) !== JSON.stringify((rest as Doc)['spec'])
    const isNewlyDeleted = before && deletionTimestamp !== undefined && !before.metadata.deletionTimestamp
    const now = `${date().toISOString().slice(0, 19)}Z`
    const stored = plain({
      ...rest,
      metadata: {
        ...metadata,
        uid: before?.metadata.uid ?? uidOf(++version),
        creationTimestamp: before?.metadata.creationTimestamp ?? now,
        generation: (before?.metadata.generation ?? 1) + (isNewSpec || isNewlyDeleted ? 1 : 0),
        resourceVersion: before?.metadata.resourceVersion,
        managedFields: managedFields.length > 0 ? managedFields : undefined,
      },
    }) as KubeObject
    if (before && isDeepStrictEqual(stored, before)) return before
    Object.assign(stored.metadata, { resourceVersion: String(++version) })
    frozen(stored)
    const isGone = deletionTimestamp !== undefined && !metadata.finalizers?.length
    if (isGone) all.delete(id)
    else all.set(id, stored)
    const type = isGone ? 'DELETED' : before ? 'MODIFIED' : 'ADDED'
    // Who hears that it is gone sees it as it was.
    const { resourceVersion } = stored.metadata
    const seen = isGone && before ? { ...before, metadata: { ...before.metadata, resourceVersion } } : stored
    news.push({ type, resource, object: seen as KubeObject, ...(before && { before }) })
    return stored
  }

  function tellAll(): void {
    for (const each of news.splice(0)) for (const hear of hearing) hear(each)
  }

  // What is refused is no write.
  async function write<T>(what: string, act: () => unknown): Promise<T> {
    const how = strikeAt.write === 1 ? strikeAt.how : undefined
    const before = how === 'before' ? { all: new Map(all), applied: new Map(applied) } : undefined
    const result = act()
    strikeAt.write--
    if (before) {
      news.length = 0
      restore(all, before.all)
      restore(applied, before.applied)
      throw new Struck(`before ${what}`)
    }
    writes.push(what)
    tellAll()
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

  function patched(
    resource: Resource,
    key: Key,
    change: object,
    { subresource, fieldManager }: Written = {},
  ): KubeObject {
    const object = found(resource, key)
    fenced(`patch ${tellRef(resource, key)}`, object, change as Doc)
    const { status, ...rest } = change as Doc
    return store(
      resource,
      merged(object, subresource === 'status' ? { status } : rest) as KubeObject,
      updater(fieldManager),
    )
  }

  // What its manager applied before and applies no more is gone. What two managers apply alike is not known here.
  function appliedTo(resource: Resource, object: KubeObject, { fieldManager = '', force }: Written): KubeObject {
    const key = keyOf(object)
    const doing = `apply ${tellRef(resource, key)}`
    const there = all.get(idOf(resource, key))
    const { uid, resourceVersion, ...metadata } = object.metadata
    const wish = plain({ ...object, metadata }) as Doc
    if (uid !== undefined && there?.metadata.uid !== uid) throw trouble(doing, 409, 'Conflict', key.name)
    if (there) fenced(doing, there, { metadata: { resourceVersion } })
    const before = applied.get(`${there?.metadata.uid} ${fieldManager}`) ?? {}
    const left = without(there ?? {}, before, wish) as Doc
    if (there && !force && isInTheWay(left, wish, before)) throw trouble(doing, 409, 'Conflict', key.name)
    const by: Writer = { manager: fieldManager, operation: 'Apply', wished: wish }
    const stored = store(resource, appliedOn(left, wish) as unknown as KubeObject, by)
    applied.set(`${stored.metadata.uid} ${fieldManager}`, wish)
    return stored
  }

  function markDeleted(resource: Resource, key: Key, { uid, resourceVersion }: Removal = {}): void {
    const object = found(resource, key)
    const isOther = uid !== undefined && uid !== object.metadata.uid
    if (isOther || (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion))
      throw trouble(`delete ${tellRef(resource, key)}`, 409, 'Conflict', key.name)
    const deletionTimestamp = object.metadata.deletionTimestamp ?? `${date().toISOString().slice(0, 19)}Z`
    store(resource, { ...object, metadata: { ...object.metadata, deletionTimestamp } })
  }

  const isOf = (scope: Scope) => {
    const wanted = (scope.labels ?? '').split(',').filter(Boolean)
    const [field = '', wish] = (scope.fields ?? '').split('=')
    const fieldOf = ({ metadata, ...rest }: KubeObject): unknown =>
      field === 'metadata.name' ? metadata.name : (rest as Doc)[field]
    return (object: KubeObject | undefined) =>
      object !== undefined &&
      (scope.namespace === undefined || object.metadata.namespace === scope.namespace) &&
      (scope.fields === undefined || fieldOf(object) === wish) &&
      wanted.every((each) => {
        const [name = '', value] = each.split('=')
        const is = object.metadata.labels?.[name]
        return value === undefined ? is !== undefined : is === value
      })
  }

  function listed(resource: Resource, scope: Scope): KubeObject[] {
    return [...all.entries()]
      .filter(([id]) => id.startsWith(`${resource.group}/${resource.kind} `))
      .map(([, object]) => object)
      .filter(isOf(scope))
      .map(seenAs(scope))
  }

  // For ever: who is told everything from the beginning has no resource versions to come back with.
  async function* watch(resource: Resource, scope: Scope & WatchFrom, signal: AbortSignal) {
    const isSeen = isOf(scope)
    let events: WatchEvent<KubeObject>[] = listed(resource, scope).map((object) => ({ type: 'ADDED', object }))
    events.push({ type: 'BOOKMARK', resourceVersion: String(version), isInitialEnd: true })
    let wake = () => {}
    const hear = ({ type, resource: of, object, before }: Happened & { readonly before?: KubeObject }) => {
      if (of.group !== resource.group || of.kind !== resource.kind) return
      const [was, is] = [isSeen(before), type !== 'DELETED' && isSeen(object)]
      if (!was && !is) return
      events.push({ type: is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED', object: seenAs(scope)(object) })
      wake()
    }
    const leave = () => wake()
    hearing.add(hear)
    signal.addEventListener('abort', leave)
    try {
      for (;;) {
        const ready = events
        events = []
        yield* ready
        if (signal.aborted) throw signal.reason
        if (events.length > 0) continue
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      hearing.delete(hear)
      signal.removeEventListener('abort', leave)
    }
  }

  const client = {
    get: async (resource: Resource, key: Key) => found(resource, key),
    list: async (resource: Resource, scope: Scope = {}) => ({
      items: listed(resource, scope),
      resourceVersion: String(version),
    }),
    watch,
    ready: async () => true,
    served: async () => [],
    versions: async () => [],
    close() {},
    create: async (resource: Resource, object: KubeObject, how: Written = {}) =>
      write(`create ${tellRef(resource, keyOf(object))}`, () => {
        const doing = `create ${tellRef(resource, keyOf(object))}`
        if (all.has(idOf(resource, keyOf(object)))) throw trouble(doing, 409, 'AlreadyExists', object.metadata.name)
        return store(resource, object, updater(how.fieldManager))
      }),
    apply: async (resource: Resource, object: KubeObject, how: Written) =>
      write(`apply ${tellRef(resource, keyOf(object))}`, () => appliedTo(resource, object, how)),
    patch: async (resource: Resource, key: Key, change: object, how?: Written) =>
      write(`patch ${tellRef(resource, key)}`, () => patched(resource, key, change, how)),
    replaceStatus: async (resource: Resource, object: KubeObject, status: object) =>
      write(`status ${tellRef(resource, keyOf(object))}`, () => {
        const there = found(resource, keyOf(object))
        fenced('replace a status', there, { metadata: { uid: object.metadata.uid } })
        return store(resource, { ...there, status } as KubeObject)
      }),
    remove: async (resource: Resource, key: Key, how?: Removal) =>
      write(`delete ${tellRef(resource, key)}`, () => markDeleted(resource, key, how)),
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
    put(resource, object) {
      store(resource, object)
      tellAll()
    },
    change(resource, key, change) {
      store(resource, merged(found(resource, key), change) as KubeObject)
      tellAll()
    },
    remove(resource, key) {
      markDeleted(resource, key)
      tellAll()
    },
    watch: (hear) => void hearing.add(hear),
  }
}

function restore<T>(map: Map<string, T>, before: ReadonlyMap<string, T>): void {
  map.clear()
  for (const [id, each] of before) map.set(id, each)
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

// Everybody is given the same one: who changes it finds out at once.
function frozen(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  Object.freeze(value)
  for (const each of Object.values(value)) frozen(each)
}

function seenAs({ metadataOnly }: Scope): (object: KubeObject) => KubeObject {
  return (object) => {
    const { apiVersion, kind, metadata } = object
    return metadataOnly ? { apiVersion, kind, metadata } : object
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

// Without what was wished and is no more. Finalizers are a set.
function without(base: unknown, before: unknown, wish: unknown): unknown {
  if (!isRecord(base) || !isRecord(before)) return base
  const result: Doc = { ...base }
  for (const [name, value] of Object.entries(before)) {
    const now = isRecord(wish) ? wish[name] : undefined
    if (name === 'finalizers') {
      const left = listOf(base[name]).filter((each) => listOf(now).includes(each) || !listOf(value).includes(each))
      result[name] = left
    } else if (isRecord(value)) result[name] = without(base[name], value, now)
    else if (now === undefined) delete result[name]
  }
  return result
}

function appliedOn(base: Doc, wish: Doc): Doc {
  const { finalizers = [] } = (base['metadata'] ?? {}) as { finalizers?: readonly string[] }
  const result = merged(base, wish) as Doc
  const { finalizers: wished = [], ...metadata } = result['metadata'] as { finalizers?: readonly string[] }
  const both = [...new Set([...finalizers, ...wished])]
  return { ...result, metadata: { ...metadata, ...(both.length > 0 && { finalizers: both }) } }
}

// Something else is there that this manager has not applied itself.
function isInTheWay(base: unknown, wish: unknown, before: unknown, name = ''): boolean {
  if (base === undefined || name === 'finalizers') return false
  if (!isRecord(wish) || !isRecord(base)) return before === undefined && !isDeepStrictEqual(base, wish)
  return Object.entries(wish).some(([each, value]) =>
    isInTheWay(base[each], value, isRecord(before) ? before[each] : undefined, each),
  )
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
