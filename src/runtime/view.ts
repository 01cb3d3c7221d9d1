// A kind as readers see it: what the stores of its watches know, merged. An object that two watches know counts once, and
// is gone when none knows it any more.
import type { KubeObject } from '../api/resource.ts'
import { type Change, changesOf, createStore, type Store, type StoreOptions } from './store.ts'

export interface View<T> {
  get(key: string): T | undefined
  list(namespace?: string): readonly T[]
  byIndex(index: string, value: string): readonly T[]
  // Tells handlers of those keys, though nothing changed.
  resync(isMeant: (key: string) => boolean): void
  addStore(): Store<T>
}

export function createView<T extends KubeObject>({ keep, indexes, onChange }: StoreOptions<T>): View<T> {
  const stores: Store<T>[] = []
  const get = (key: string) => newest(stores.map((store) => store.get(key)))

  // Watches tell of the same change one after the other: only the first makes a difference to what all of them know.
  function merge(change: Change<T>, told: Store<T>): void {
    const { what, key, object, before } = change
    const others = stores.filter((store) => store !== told).map((store) => store.get(key))
    const last = newest([what === 'removed' ? object : before, ...others])
    const now = newest([what === 'removed' ? undefined : object, ...others])
    for (const merged of changesOf(key, last, now)) onChange(merged)
  }

  function eachMeant(isMeant: (key: string, object: T) => boolean, visit: (key: string, object: T) => void): void {
    for (const store of stores) {
      for (const [key, object] of store.entries()) if (isMeant(key, object) && get(key) === object) visit(key, object)
    }
  }

  return {
    get,
    list(namespace) {
      const found: T[] = []
      const isThere = (_: string, { metadata }: T) => namespace === undefined || metadata.namespace === namespace
      eachMeant(isThere, (_, object) => found.push(object))
      return found
    },
    byIndex(index, value) {
      const found: T[] = []
      for (const store of stores) {
        for (const key of store.keysAt(index, value)) {
          const object = store.get(key)
          if (object && get(key) === object) found.push(object)
        }
      }
      return found
    },
    resync(isMeant) {
      eachMeant(isMeant, (key, object) => onChange({ what: 'resync', key, object, before: undefined }))
    },
    addStore() {
      const store: Store<T> = createStore({ keep, indexes, onChange: (change) => merge(change, store) })
      stores.push(store)
      return store
    },
  }
}

// One watch may be ahead of another. Resource versions are numbers without leading zeros, and the API server lets
// clients compare those of one kind.
function newest<T extends KubeObject>(known: readonly (T | undefined)[]): T | undefined {
  return known.reduce((best, each) => (best && !(each && isNewer(each, best)) ? best : each), undefined)
}

function isNewer({ metadata: { resourceVersion: a = '' } }: KubeObject, { metadata }: KubeObject): boolean {
  const { resourceVersion: b = '' } = metadata
  return a.length === b.length ? a > b : a.length > b.length
}
