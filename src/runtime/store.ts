// What one watch knows: the objects by key, found by indexes too, and who is told when they change. It asks nobody.
//
// Guarantees. Handlers are told of each real change once, after it can be read; an event that brings the resource
// version already known is none. The first time, what is learnt is told as it comes. When everything is learnt anew,
// readers see what was known before; then all of it is replaced at once and handlers are told exactly the differences.
// An object that went and came back under its name is a removal and an addition. Assumption. The handler does not throw.
import { type KubeObject, keyOf, type ObjectMeta, tellKey } from '../api/resource.ts'
import { createPacker } from './packer.ts'

export interface Change<T> {
  readonly what: 'added' | 'changed' | 'removed' | 'resync'
  readonly key: string // as `tellKey` writes it
  readonly object: T // of a removal: as it was known last
  readonly before: T | undefined // of a change
}

export type Handler<T> = (change: Change<T>) => void

// The values under which an object is found.
// As a method, so that indexes of one kind pass where those of any kind are taken.
export type Indexes<T> = Readonly<Record<string, { of(object: T): readonly string[] }['of']>>

export interface Learning<T> {
  put(object: T): void
  remove(object: T): void
}

export interface Replacing<T> extends Learning<T> {
  finish(): void // without it, nothing has happened
}

export interface Store<T> extends Learning<T> {
  get(key: string): T | undefined // nobody may change it
  versionOf(key: string): string | undefined // its resource version
  keys(): Iterable<string>
  keysAt(index: string, value: string): Iterable<string>
  size(): number
  startReplacing(): Replacing<T>
}

export interface StoreOptions<T> {
  readonly keep: (object: T) => T // what of an object stays
  readonly indexes: Indexes<T>
  readonly onChange: Handler<T>
}

// An object, put away.
interface Kept extends Version {
  readonly packed: string
}

const mostAtHand = 64

export function createStore<T extends KubeObject>({ keep, indexes, onChange }: StoreOptions<T>): Store<T> {
  const { pack, unpack } = createPacker<T>()
  let objects = new Map<string, Kept>()
  const atHand = new Map<Kept, T>() // the last few, as they were before they were put away: they are asked for again and again
  const found = new Map(Object.keys(indexes).map((index) => [index, createPlaces()]))

  function putAway(object: T): Kept {
    const { uid, resourceVersion } = object.metadata
    return {
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      packed: pack(object),
    }
  }

  function get(key: string): T | undefined {
    const kept = objects.get(key)
    return kept && (atHand.get(kept) ?? keepAtHand(kept, unpack(kept.packed)))
  }

  function keepAtHand(kept: Kept, object: T): T {
    atHand.set(kept, object)
    const [oldest] = atHand.keys()
    if (oldest && atHand.size > mostAtHand) atHand.delete(oldest)
    return object
  }

  function carryOut(changes: readonly Change<T>[]): void {
    for (const { what, key, object, before } of changes) {
      const gone = what === 'removed' ? object : before
      if (gone) takeOut(key, gone)
      if (what !== 'removed') putIn(key, object)
    }
    for (const change of changes) onChange(change)
  }

  function putIn(key: string, object: T): void {
    for (const [index, places] of found) {
      for (const value of indexes[index]?.(object) ?? []) places.add(value, key)
    }
  }

  function takeOut(key: string, object: T): void {
    for (const [index, places] of found) {
      for (const value of indexes[index]?.(object) ?? []) places.remove(value, key)
    }
  }

  function put(object: T): void {
    const key = keyIn(object)
    const known = objects.get(key)
    if (known && isSame(known, object.metadata)) return
    const before = get(key)
    const now = keep(object)
    const kept = putAway(now)
    objects.set(key, kept)
    keepAtHand(kept, now)
    carryOut(changesOf(key, before, now))
  }

  function remove(object: T): void {
    const key = keyIn(object)
    const before = get(key)
    objects.delete(key)
    carryOut(changesOf(key, before, undefined))
  }

  return {
    get,
    versionOf: (key) => objects.get(key)?.resourceVersion,
    keys: () => objects.keys(),
    keysAt(index, value) {
      const places = found.get(index)
      if (!places) throw new Error(`there is no index ${index}: declare it with the watch`)
      return places.at(value)
    },
    size: () => objects.size,
    put,
    remove,
    startReplacing() {
      if (objects.size === 0) return { put, remove, finish() {} }
      const next = new Map<string, Kept>()
      return {
        put(object) {
          const key = keyIn(object)
          const known = objects.get(key)
          next.set(key, known && isSame(known, object.metadata) ? known : putAway(keep(object)))
        },
        remove: (object) => void next.delete(keyIn(object)),
        finish() {
          const last = objects
          objects = next
          const changes: Change<T>[] = []
          const tell = (key: string, before: Kept | undefined, now: Kept | undefined) =>
            changes.push(...changesOf(key, before && unpack(before.packed), now && unpack(now.packed)))
          for (const [key, before] of last) if (!next.has(key)) tell(key, before, undefined)
          for (const [key, now] of next) if (last.get(key) !== now) tell(key, last.get(key), now)
          carryOut(changes)
        },
      }
    },
  }
}

interface Places {
  add(value: string, key: string): void
  remove(value: string, key: string): void
  at(value: string): Iterable<string>
}

// Which keys are found at a value. Most values have one: it stands there by itself, for a set of one takes 200 bytes.
function createPlaces(): Places {
  const places = new Map<string, string | Set<string>>()
  return {
    add(value, key) {
      const known = places.get(value)
      if (known === undefined || known === key) places.set(value, key)
      else if (typeof known === 'string') places.set(value, new Set([known, key]))
      else known.add(key)
    },
    remove(value, key) {
      const known = places.get(value)
      if (known === key) places.delete(value)
      else if (typeof known === 'object' && known.delete(key) && known.size === 0) places.delete(value)
    },
    at(value) {
      const known = places.get(value)
      return known === undefined ? [] : typeof known === 'string' ? [known] : known
    },
  }
}

function keyIn(object: KubeObject): string {
  return tellKey(keyOf(object))
}

type Version = Pick<ObjectMeta, 'uid' | 'resourceVersion'>

function isSame(a: Version, b: Version): boolean {
  return a.uid === b.uid && a.resourceVersion === b.resourceVersion
}

export function changesOf<T extends KubeObject>(key: string, before: T | undefined, now: T | undefined): Change<T>[] {
  const change = (what: Change<T>['what'], object: T) => ({ what, key, object, before: undefined })
  if (!before) return now ? [change('added', now)] : []
  if (!now) return [change('removed', before)]
  if (isSame(before.metadata, now.metadata)) return []
  if (before.metadata.uid !== now.metadata.uid) return [change('removed', before), change('added', now)]
  return [{ what: 'changed', key, object: now, before }]
}
