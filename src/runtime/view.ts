// A kind as readers see it: what the stores of its watches know, merged. An object that two watches know counts once, and
// is gone when none knows it any more.
import { type KubeObject, readKey } from '../api/resource.ts'
import { type Change, changesOf, createStore, type Store, type StoreOptions } from './store.ts'

export interface View<T> {
  get(key: string): T | undefined
  versionOf(key: string): string | undefined // its resource version
  list(namespace?: string): readonly T[]
  byIndex(index: string, value: string): readonly T[]
  keysAt(index: string, value: string): readonly string[]
  // Tells handlers of those keys, though nothing changed.
  resync(isMeant: (key: string) => boolean): void
  addStore(): Store<T>
}

export function createView<T extends KubeObject>({ keep, indexes, onChange }: StoreOptions<T>): View<T> {
  const stores: Store<T>[] = []
  // The one that knows it best.
  const storeOf = (key: string) =>
    stores.reduce((best, each) => (isNewer(each.versionOf(key), best.versionOf(key)) ? each : best))
  const get = (key: string) => (stores.length === 0 ? undefined : storeOf(key).get(key))

  // Watches tell of the same change one after the other: only the first makes a difference to what all of them know.
  function merge(change: Change<T>, told: Store<T>): void {
    const { what, key, object, before } = change
    const others = stores.filter((store) => store !== told).map((store) => store.get(key))
    const last = newest([what === 'removed' ? object : before, ...others])
    const now = newest([what === 'removed' ? undefined : object, ...others])
    for (const merged of changesOf(key, last, now)) onChange(merged)
  }

  // Each once, of those that a store has and that are meant.
  function* keysIn(
    of: (store: Store<T>) => Iterable<string>,
    isMeant: (key: string) => boolean = () => true,
  ): Generator<string> {
    for (const store of stores) for (const key of of(store)) if (isMeant(key) && storeOf(key) === store) yield key
  }

  function objectsOf(keys: Iterable<string>): readonly T[] {
    return Array.from(keys, get).filter((object) => object !== undefined)
  }

  const all = (store: Store<T>) => store.keys()
  return {
    get,
    versionOf: (key) => (stores.length === 0 ? undefined : storeOf(key).versionOf(key)),
    list: (namespace) =>
      objectsOf(keysIn(all, (key) => namespace === undefined || readKey(key).namespace === namespace)),
    byIndex: (index, value) => objectsOf(keysIn((store) => store.keysAt(index, value))),
    keysAt: (index, value) => [...keysIn((store) => store.keysAt(index, value))],
    resync(isMeant) {
      for (const key of keysIn(all, isMeant)) {
        const object = get(key)
        if (object) onChange({ what: 'resync', key, object, before: undefined })
      }
    },
    addStore() {
      const store: Store<T> = createStore({ keep, indexes, onChange: (change) => merge(change, store) })
      stores.push(store)
      return store
    },
  }
}

// One watch may be ahead of another.
function newest<T extends KubeObject>(known: readonly (T | undefined)[]): T | undefined {
  const versionOf = (object: T | undefined) => object?.metadata.resourceVersion
  return known.reduce((best, each) => (best && !isNewer(versionOf(each), versionOf(best)) ? best : each), undefined)
}

// Resource versions are numbers without leading zeros, and the API server lets clients compare those of one kind.
export function isNewer(a = '', b = ''): boolean {
  return a.length === b.length ? a > b : a.length > b.length
}
