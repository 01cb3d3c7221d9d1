// What one watch knows: the objects by key, found by indexes too, and who is told when they change. It asks nobody.
//
// Guarantees. Handlers are told of each real change once, after it can be read; an event that brings the resource
// version already known is none. While everything is learnt anew, readers see what was known before; then all of it
// is replaced at once and handlers are told exactly the differences. An object that went and came back under its name
// is a removal and an addition. Assumption. The handler does not throw.
import { type KubeObject, keyOf, tellKey } from '../api/resource.ts'

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
  get(key: string): T | undefined
  entries(): Iterable<[string, T]>
  keysAt(index: string, value: string): Iterable<string>
  size(): number
  startReplacing(): Replacing<T>
}

export interface StoreOptions<T> {
  readonly keep: (object: T) => T // what of an object stays
  readonly indexes: Indexes<T>
  readonly onChange: Handler<T>
}

export function createStore<T extends KubeObject>({ keep, indexes, onChange }: StoreOptions<T>): Store<T> {
  let objects = new Map<string, T>()
  const found = new Map(Object.keys(indexes).map((index) => [index, new Map<string, Set<string>>()]))

  // What is known already is not kept twice, however often it is learnt.
  function learn(key: string, object: T): T {
    const known = objects.get(key)
    return known && isSame(known, object) ? known : keep(object)
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
      for (const value of indexes[index]?.(object) ?? []) {
        const keys = places.get(value)
        if (keys) keys.add(key)
        else places.set(value, new Set([key]))
      }
    }
  }

  function takeOut(key: string, object: T): void {
    for (const [index, places] of found) {
      for (const value of indexes[index]?.(object) ?? []) {
        const keys = places.get(value)
        if (keys?.delete(key) && keys.size === 0) places.delete(value)
      }
    }
  }

  return {
    get: (key) => objects.get(key),
    entries: () => objects,
    keysAt(index, value) {
      const places = found.get(index)
      if (!places) throw new Error(`there is no index ${index}: declare it with the watch`)
      return places.get(value) ?? []
    },
    size: () => objects.size,
    put(object) {
      const key = keyIn(object)
      const before = objects.get(key)
      const now = learn(key, object)
      objects.set(key, now)
      carryOut(changesOf(key, before, now))
    },
    remove(object) {
      const key = keyIn(object)
      const before = objects.get(key)
      objects.delete(key)
      carryOut(changesOf(key, before, undefined))
    },
    startReplacing() {
      const next = new Map<string, T>()
      return {
        put(object) {
          const key = keyIn(object)
          next.set(key, learn(key, object))
        },
        remove: (object) => void next.delete(keyIn(object)),
        finish() {
          const last = objects
          objects = next
          const changes: Change<T>[] = []
          for (const [key, before] of last) if (!next.has(key)) changes.push(...changesOf(key, before, undefined))
          for (const [key, now] of next) changes.push(...changesOf(key, last.get(key), now))
          carryOut(changes)
        },
      }
    },
  }
}

function keyIn(object: KubeObject): string {
  return tellKey(keyOf(object))
}

function isSame({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean {
  return a.uid === b.uid && a.resourceVersion === b.resourceVersion
}

export function changesOf<T extends KubeObject>(key: string, before: T | undefined, now: T | undefined): Change<T>[] {
  const change = (what: Change<T>['what'], object: T) => ({ what, key, object, before: undefined })
  if (!before) return now ? [change('added', now)] : []
  if (!now) return [change('removed', before)]
  if (isSame(before, now)) return []
  if (before.metadata.uid !== now.metadata.uid) return [change('removed', before), change('added', now)]
  return [{ what: 'changed', key, object: now, before }]
}
