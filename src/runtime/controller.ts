// A controller, as it is written: its name, what wakes it, what it writes, how it looks and how it decides. Nothing runs here.
import type { Kind } from '../api/kind.ts'
import type { Provider } from '../api/provider.ts'
import { beside, groupOf, type Key, type KubeObject, keyOf, type Resource } from '../api/resource.ts'
import type { Client, Scope } from '../kube/client.ts'
import type { Read } from './cache.ts'
import type { Plan } from './plan.ts'
import type { Subject } from './reconcile.ts'
import type { Indexes } from './store.ts'

export type Watched = Pick<Scope, 'labels' | 'fields' | 'metadataOnly'>

// A watch that wakes a controller: which objects it sees, and whom each of them wakes.
export interface Source {
  readonly resource: Resource
  readonly scope?: Watched
  readonly indexes?: Indexes<KubeObject>
  wakes(object: KubeObject, kind: Kind, read: Read): readonly Key[]
  isNews?(object: KubeObject, before: KubeObject): boolean // a change; every one, unless said otherwise
}

// What is asked of the world itself, where the cache will not do: bytes of Secrets, and the hour.
export interface Live extends Pick<Client, 'get'> {
  readonly now: () => Date
}

export interface Controller {
  readonly name: string
  readonly kind: Kind
  readonly group: Provider
  readonly wokenBy: readonly Source[]
  readonly rights: readonly Right[]
  plan(subject: Subject, read: Read, live: Live): Promise<Plan>
}

// Something a controller does to objects of another kind, or to its own beyond status.
export interface Right {
  readonly resource: Resource
  readonly subresource?: 'status' | 'finalizers'
  readonly verbs: readonly ('get' | 'list' | 'watch' | 'create' | 'patch' | 'delete')[]
}

interface Written<T extends Subject, Seen> {
  readonly name: string
  readonly kind: Kind & Resource<T>
  readonly group?: 'control-plane'
  readonly wokenBy: readonly Source[]
  readonly writes?: readonly Right[]
  observe(read: Read, subject: T, live: Live): Seen | Promise<Seen>
  decide(seen: Seen): Plan
}

export function controller<T extends Subject, Seen>(written: Written<T, Seen>): Controller {
  const { name, kind, group = 'infrastructure', wokenBy, writes = [], observe, decide } = written
  return {
    name,
    kind,
    group,
    wokenBy,
    rights: [
      ...wokenBy.map(({ resource }): Right => ({ resource, verbs: ['list', 'watch'] })),
      { resource: kind, subresource: 'status', verbs: ['patch'] },
      ...writes,
    ],
    plan: async (subject: T, read, live) => decide(await observe(read, subject, live)),
  }
}

export function itself(kind: Kind): Source {
  return { resource: kind, wakes: (object) => [keyOf(object)] }
}

// Wakes the owner, when it is of the controller's kind. Its version may be another one: kinds have no version here.
export function ownerOf(resource: Resource): Source {
  return {
    resource,
    wakes: (object, kind) =>
      (object.metadata.ownerReferences ?? [])
        .filter((owner) => owner.kind === kind.kind && groupOf(owner.apiVersion) === kind.group)
        .map((owner) => beside(object, owner.name)),
  }
}

export function mapped<T extends KubeObject>(
  resource: Resource<T>,
  wakes: (object: T, kind: Kind, read: Read) => readonly Key[],
  how: { readonly scope?: Watched; readonly indexes?: Indexes<T>; isNews?(object: T, before: T): boolean } = {},
): Source {
  return { resource, wakes, ...how }
}

// To those who read its spec alone.
export function isAskedForMore({ metadata: now }: KubeObject, { metadata: before }: KubeObject): boolean {
  return now.generation !== before.generation || now.uid !== before.uid
}

// An apply that makes the object is asked for `create`, too, although it is a patch.
export const applies = (resource: Resource): Right => ({ resource, verbs: ['create', 'patch'] })
export const deletes = (resource: Resource): Right => ({ resource, verbs: ['delete'] })
export const gets = (resource: Resource): Right => ({ resource, verbs: ['get'] })
