// Asks an API server: reads, writes, watches. It knows paths and forms, `wire.ts` knows connections. Nothing is tried again
// here but a question that was refused for its credentials (401), once, with new ones.
import { type Key, type KubeObject, keyOf, type Resource, tellRef } from '../api/resource.ts'
import { type Sealed, seal } from '../api/sealed.ts'
import type { Access, Credentials } from './access.ts'
import { createBucket } from './bucket.ts'
import { ApiError, isNotServed, NotLeading } from './errors.ts'
import { pathOf, type Query, selectorsOf } from './path.ts'
import { refusal } from './status.ts'
import { followed, named, trusted } from './watch.ts'
import { createWire, type Head, type Question, Unreachable, type WireOptions } from './wire.ts'

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
  // The whole status, whatever it was before; only while the object is the one with that uid.
  replaceStatus<T extends KubeObject>(
    resource: Resource<T>,
    object: KubeObject,
    status: object,
    how?: Written,
  ): Promise<T>
  remove(resource: Resource, key: Key, how?: Removal): Promise<void>
  requestToken(
    serviceAccount: Key,
    how: { readonly audiences?: readonly string[]; readonly seconds: number },
  ): Promise<Token>
  // What is served in a group and version; empty while it is not there.
  served(group: string, version: string): Promise<readonly Served[]>
  // The versions in which a group is served, the one that the API server prefers first; none while it is not there.
  versions(group: string): Promise<readonly string[]>
  // Whether the API server calls itself ready.
  ready(): Promise<boolean>
  // Whether it answers us, asked just as Cluster API core asks: throws when it does not.
  greet(): Promise<void>
  close(): void
}

export interface ClientOptions extends WireOptions {
  readonly userAgent?: string
  readonly perSecond?: number // questions; watches are not counted
  readonly burst?: number
  readonly signal?: AbortSignal // calls off whatever is asked; a watch has its own
  readonly mayWrite?: () => boolean // asked before each write is sent, when no wait is left
  readonly told?: (answered: Answered) => void // when an answer begins, or when there is none
}

export interface Answered {
  readonly method: string
  readonly code: number | undefined // none: there was no answer
}

interface Asked {
  readonly doing: string
  readonly method: Question['method']
  readonly path: string
  readonly resource?: Resource
  readonly metadataOnly?: 'one' | 'list'
  readonly body?: unknown
  readonly contentType?: string
}

interface How {
  readonly signal?: AbortSignal
  readonly take?: (chunk: Buffer) => void // of a good answer; none: it is collected
}

const answerWithinMs = 30_000
const endWithinMs = 60_000
const partial = { one: 'PartialObjectMetadata', list: 'PartialObjectMetadataList' } as const

export function createClient(access: Access, options: ClientOptions = {}): Client {
  const { userAgent = 'capt', perSecond = 500, burst = 1000, mayWrite = () => true, told } = options
  const wire = createWire(access, options)
  const bucket = createBucket({ perSecond, burst })
  const usual: How = options.signal ? { signal: options.signal } : {}
  const base = access.server.pathname.replace(/\/$/, '')

  function questionOf(asked: Asked, who: Credentials, { signal, take }: How): Question {
    const { method, path, metadataOnly, body, contentType = 'application/json', doing, resource } = asked
    const isWrite = method !== 'GET' && !(resource && isReview(resource))
    return {
      method,
      path: base + path,
      headers: {
        accept: metadataOnly ? `application/json;as=${partial[metadataOnly]};g=meta.k8s.io;v=v1` : 'application/json',
        'user-agent': userAgent,
        ...authorization(who),
        ...(body !== undefined && { 'content-type': contentType }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(isWrite && {
        mayBeSent() {
          if (!mayWrite()) throw new NotLeading(`cannot ${doing}: we do not lead`)
        },
      }),
      ...(signal && { signal }),
      ...(!take && { endWithinMs }),
      answerWithinMs,
    }
  }

  async function ask(asked: Asked, how = usual): Promise<string> {
    if (!how.take) await bucket.take(how.signal)
    for (let attempt = 1; ; attempt++) {
      const chunks: Buffer[] = []
      const answer: { head?: Head } = {}
      try {
        await wire.ask(questionOf(asked, await access.credentials(), how), (head) => {
          answer.head = head
          told?.({ method: asked.method, code: head.status })
          return how.take && head.status < 300 ? how.take : (chunk) => chunks.push(chunk)
        })
      } catch (error) {
        if (how.signal?.aborted || error instanceof ApiError || error instanceof NotLeading) throw error
        if (!answer.head) told?.({ method: asked.method, code: undefined })
        const isUnreachable = error instanceof Unreachable
        throw new ApiError({ doing: asked.doing, message: tellCause(error), isUnreachable }, { cause: error })
      }
      const { status = 0, headers = {} } = answer.head ?? {}
      const text = Buffer.concat(chunks).toString()
      if (status < 300) return text
      if (status !== 401 || attempt === 2) {
        throw refusal({ ...asked, code: status, body: parsed(text), retryAfter: headers['retry-after'] })
      }
      access.forget()
      wire.renew()
    }
  }

  async function askFor<T>(asked: Asked): Promise<T> {
    const text = await ask(asked)
    try {
      return trusted<T>(text)
    } catch (error) {
      throw new ApiError({ doing: asked.doing, message: 'the answer is not JSON' }, { cause: error })
    }
  }

  return {
    get: async (resource, key) =>
      askFor({ doing: `read ${tellRef(resource, key)}`, method: 'GET', path: pathOf(resource, key), resource }),

    async list<T extends KubeObject>(
      resource: Resource<T>,
      { limit, from, resourceVersion, ...scope }: Scope & Page = {},
    ) {
      const query = { ...selectorsOf(scope), limit, continue: from, resourceVersion }
      const { items, metadata } = await askFor<List<T>>({
        doing: `list ${resource.kind}s`,
        method: 'GET',
        path: pathOf(resource, scope, query),
        resource,
        ...(scope.metadataOnly && { metadataOnly: 'list' }),
      })
      const { continue: next, resourceVersion: at = '' } = metadata ?? {}
      // An empty list of metadata only is written as null; items of a list of a built-in kind do not name it.
      return { items: (items ?? []).map(named(resource)), resourceVersion: at, ...(next && { next }) }
    },

    async *watch<T extends KubeObject>(resource: Resource<T>, scope: Scope & WatchFrom, signal: AbortSignal) {
      signal.throwIfAborted()
      const { initialEvents, resourceVersion, timeoutSeconds, metadataOnly } = scope
      const query = {
        ...selectorsOf(scope),
        watch: true,
        allowWatchBookmarks: true,
        timeoutSeconds,
        resourceVersion,
        ...(initialEvents && { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }),
      }
      const asked: Asked = {
        doing: `watch ${resource.kind}s`,
        method: 'GET',
        path: pathOf(resource, scope, query),
        resource,
        ...(metadataOnly && { metadataOnly: 'one' }),
      }
      yield* followed(resource, asked.doing, signal, async (how) => ask(asked, how))
    },

    create: async (resource, object, how = {}) =>
      askFor({
        doing: `create ${tellRef(resource, keyOf(object))}`,
        method: 'POST',
        path: pathOf(
          resource,
          { ...(object.metadata?.namespace && { namespace: object.metadata.namespace }) },
          manager(how),
        ),
        resource,
        body: object,
      }),

    apply: async (resource, object, how) =>
      askFor({
        doing: `apply ${tellRef(resource, keyOf(object))}`,
        method: 'PATCH',
        path: pathOf(
          resource,
          { ...keyOf(object), subresource: how.subresource },
          { ...manager(how), force: how.force },
        ),
        resource,
        contentType: 'application/apply-patch+yaml',
        body: object,
      }),

    patch: async (resource, key, change, how = {}) =>
      askFor({
        doing: `patch ${tellRef(resource, key)}${how.subresource ? ` (${how.subresource})` : ''}`,
        method: 'PATCH',
        path: pathOf(resource, { ...key, subresource: how.subresource }, manager(how)),
        resource,
        contentType: 'application/merge-patch+json',
        body: change,
      }),

    // A merge patch can neither drop what is deep in it nor set null.
    replaceStatus: async (resource, object, status, how = {}) =>
      askFor({
        doing: `patch ${tellRef(resource, keyOf(object))} (status)`,
        method: 'PATCH',
        path: pathOf(resource, { ...keyOf(object), subresource: 'status' }, manager(how)),
        resource,
        contentType: 'application/json-patch+json',
        body: [
          { op: 'test', path: '/metadata/uid', value: object.metadata.uid },
          { op: 'add', path: '/status', value: status },
        ],
      }),

    async remove(resource, key, { uid, resourceVersion, propagation } = {}) {
      const hasConditions = uid !== undefined || resourceVersion !== undefined
      await ask({
        doing: `delete ${tellRef(resource, key)}`,
        method: 'DELETE',
        path: pathOf(resource, key),
        resource,
        body: {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          ...(propagation && { propagationPolicy: propagation }),
          ...(hasConditions && { preconditions: { uid, resourceVersion } }),
        },
      })
    },

    async requestToken({ name, namespace = '' }, { audiences, seconds }) {
      const { status } = await askFor<TokenRequest>({
        doing: `request a token of ServiceAccount ${namespace}/${name}`,
        method: 'POST',
        path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
        body: {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: { expirationSeconds: seconds, ...(audiences && { audiences }) },
        },
      })
      return { token: seal(status.token), expiresAt: status.expirationTimestamp }
    },

    async served(group, version) {
      const path = group ? `/apis/${group}/${version}` : `/api/${version}`
      const doing = `ask what ${group || 'the core group'}/${version} serves`
      try {
        const { resources } = await askFor<Discovery>({ doing, method: 'GET', path })
        return resources
          .filter(({ name }) => !name.includes('/'))
          .map(({ name, kind, namespaced }) => ({ kind, plural: name, isNamespaced: namespaced }))
      } catch (error) {
        if (isNotServed(error)) return []
        throw error
      }
    },

    async versions(group) {
      try {
        const { versions, preferredVersion } = await askFor<DiscoveredGroup>({
          doing: `ask in which versions ${group} is served`,
          method: 'GET',
          path: `/apis/${group}`,
        })
        const all = versions.map(({ version }) => version)
        return preferredVersion ? [...new Set([preferredVersion.version, ...all])] : all
      } catch (error) {
        if (isNotServed(error)) return []
        throw error
      }
    },

    async ready() {
      try {
        await ask({ doing: 'ask whether the API server is ready', method: 'GET', path: '/readyz' })
        return true
      } catch {
        return false
      }
    },

    async greet() {
      await ask({ doing: 'reach the API server', method: 'GET', path: '/' })
    },

    close: wire.close,
  }
}

interface List<T> {
  readonly items: readonly T[] | null
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
}

interface TokenRequest {
  readonly status: { readonly token: string; readonly expirationTimestamp: string }
}

interface Discovery {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[]
}

interface DiscoveredGroup {
  readonly versions: readonly { readonly version: string }[]
  readonly preferredVersion?: { readonly version: string }
}

function manager({ fieldManager }: Written): Query {
  return { fieldManager }
}

// A POST that asks something and changes nothing: who does not lead may send it too.
function isReview({ group }: Resource): boolean {
  return group === 'authentication.k8s.io' || group === 'authorization.k8s.io'
}

function authorization({ token, basic }: Credentials): { readonly authorization?: string } {
  if (token) return { authorization: `Bearer ${token.open()}` }
  return basic ? { authorization: `Basic ${Buffer.from(basic.open()).toString('base64')}` } : {}
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

// The last word of a chain of causes is the one that says what broke.
function tellCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code } = error as NodeJS.ErrnoException
  return error.message || code || error.name
}
