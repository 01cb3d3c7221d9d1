// Collects garbage on an API server in memory, as kube-controller-manager does on a real one: what has owners, none of which is
// there any more, is deleted, a moment later. Owners that block their deletion are not known here.
import { type Key, keyOf, type OwnerReference, type Resource } from '../src/api/resource.ts'
import type { Objects } from './objects.ts'

export function collectGarbage(objects: Objects): void {
  const there = new Map<string, { readonly resource: Resource; readonly key: Key; readonly owners: Owners }>()

  function sweep(): void {
    for (const { resource, key, owners } of there.values()) {
      const isGarbage = owners.length > 0 && !owners.some(({ uid }) => there.has(uid))
      const object = isGarbage ? objects.get(resource, key) : undefined
      if (object && object.metadata.deletionTimestamp === undefined) objects.remove(resource, key)
    }
  }

  objects.watch(({ type, resource, object }) => {
    const { uid = '', ownerReferences: owners = [] } = object.metadata
    if (type === 'DELETED') there.delete(uid)
    else there.set(uid, { resource, key: keyOf(object), owners })
    if (type !== 'MODIFIED') setImmediate(sweep)
  })
}

type Owners = readonly OwnerReference[]
