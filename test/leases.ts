// An API server that knows one Lease, as far as election asks it: optimistic locking, and an object of its own after each
// deletion.
import type { Lease } from '../src/api/neighbours.ts'
import type { Client } from '../src/kube/client.ts'
import { ApiError } from '../src/kube/errors.ts'

interface Change {
  readonly metadata?: Lease['metadata']
  readonly spec?: Lease['spec']
}

export interface LeaseStore {
  lease(): Lease | undefined
  get(): Lease
  create(lease: Lease): Lease
  patch(change: Change): Lease
  remove(): void
}

export function leaseStore(name: string): LeaseStore {
  let revision = 0
  let stored: Lease | undefined
  const doing = `change Lease ${name}`
  const get = () => {
    if (stored) return stored
    throw new ApiError({ doing, code: 404, reason: 'NotFound', message: 'not found', about: name })
  }
  return {
    lease: () => stored,
    get,
    create(lease) {
      if (stored) throw new ApiError({ doing, code: 409, reason: 'AlreadyExists', message: 'already exists' })
      revision += 1
      stored = {
        ...lease,
        metadata: { ...lease.metadata, uid: `uid-${revision}`, resourceVersion: String(revision) },
      }
      return stored
    },
    patch({ metadata, spec }) {
      const before = get()
      const { uid = before.metadata.uid, resourceVersion = before.metadata.resourceVersion } = metadata ?? {}
      if (uid !== before.metadata.uid || resourceVersion !== before.metadata.resourceVersion)
        throw new ApiError({ doing, code: 409, reason: 'Conflict', message: 'the object has been modified' })
      revision += 1
      stored = {
        ...before,
        metadata: { ...before.metadata, resourceVersion: String(revision) },
        spec: { ...before.spec, ...spec },
      }
      return stored
    },
    remove() {
      stored = undefined
    },
  }
}

export type LeaseClient = Pick<Client, 'get' | 'create' | 'patch'>

export interface LeaseRequest {
  readonly verb: keyof LeaseClient
  apply(): Lease // what the API server does with it; throws what it answers otherwise
}

// A client whose requests are carried to the store, and the answers back, by hand.
export function leaseClient(store: LeaseStore, carry: (request: LeaseRequest) => Promise<Lease>): LeaseClient {
  return {
    get: async () => carry({ verb: 'get', apply: store.get }),
    create: async (_: unknown, lease: Lease) => carry({ verb: 'create', apply: () => store.create(lease) }),
    patch: async (_: unknown, __: unknown, change: Change) =>
      carry({ verb: 'patch', apply: () => store.patch(change) }),
  } as LeaseClient
}
