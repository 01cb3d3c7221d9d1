// Asks an API server: reads, writes, watches. It knows paths and forms, `wire.ts` knows connections; nothing is retried
// here except what was provably not begun.
import type { Key, KubeObject, Resource } from '../api/resource.ts'
import type { Sealed } from '../api/sealed.ts'

// Which objects of a kind.
export interface Scope {
  readonly namespace?: string // none: all
  readonly labels?: string // a label selector
  readonly fields?: string // a field selector
  readonly metadataOnly?: true // as PartialObjectMetadata
}

export interface Page {
  readonly limit?: number
  readonly from?: string // the continue token of the page before
  readonly resourceVersion?: string
}

export interface Listed<T> {
  readonly items: readonly T[]
  readonly resourceVersion: string
  readonly next?: string // there is more: the continue token
}

export interface WatchFrom {
  readonly resourceVersion?: string
  readonly initialEvents?: true // WatchList: everything first, then a bookmark that says so
  readonly timeoutSeconds?: number // the API server ends it then
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly isInitialEnd: boolean }

export interface Written {
  readonly subresource?: 'status'
  readonly fieldManager?: string
  readonly force?: boolean // of an apply: take fields from other managers
}

export interface Removal {
  readonly uid?: string
  readonly resourceVersion?: string
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan'
}

export interface Token {
  readonly token: Sealed
  readonly expiresAt: string
}

// A kind as the API server serves it in a group and version.
export interface Served {
  readonly kind: string
  readonly plural: string
  readonly isNamespaced: boolean
}

// Every method but `close` throws an ApiError, or the reason of the signal when it was called off.
export interface Client {
  get<T extends KubeObject>(resource: Resource<T>, key: Key): Promise<T>
  // One page.
  list<T extends KubeObject>(resource: Resource<T>, scope?: Scope & Page): Promise<Listed<T>>
  // Ends when the API server ends it; throws when it broke.
  watch<T extends KubeObject>(
    resource: Resource<T>,
    scope: Scope & WatchFrom,
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent<T>>
  create<T extends KubeObject>(resource: Resource<T>, object: T, how?: Written): Promise<T>
  // Server-side apply.
  apply<T extends KubeObject>(resource: Resource<T>, object: T, how: Written & { fieldManager: string }): Promise<T>
  // Merge patch; with `metadata.uid` or `metadata.resourceVersion` in it, only if they still hold.
  patch<T extends KubeObject>(resource: Resource<T>, key: Key, change: object, how?: Written): Promise<T>
  remove(resource: Resource, key: Key, how?: Removal): Promise<void>
  requestToken(
    serviceAccount: Key,
    how: { readonly audiences?: readonly string[]; readonly seconds: number },
  ): Promise<Token>
  // What is served in a group and version; empty while it is not there.
  served(group: string, version: string): Promise<readonly Served[]>
  // Whether the API server calls itself ready.
  ready(): Promise<boolean>
  close(): void
}
