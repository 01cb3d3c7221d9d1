// An API server of one kind, in memory, with a history it forgets and faults at any point: for a watch under the virtual
// clock. What real ones do is for stories; this one does it at a chosen moment.
import type { KubeObject } from '../src/api/resource.ts'
import type { Client, Listed, WatchEvent } from '../src/kube/client.ts'
import { ApiError } from '../src/kube/errors.ts'
import type { VirtualClock } from './clock.ts'

export interface Note extends KubeObject {
  readonly text: string
}

// Befalls the next question; a list takes them before its answer, whatever `after` says.
export type Mishap =
  | { readonly do: 'refuse'; readonly code: number; readonly retryAfterSeconds?: number }
  | { readonly do: 'refuse'; readonly isUnreachable: true }
  | { readonly do: 'end' | 'break' | 'expire' | 'silence'; readonly after: number } // so many lines

export interface ModelServer {
  readonly client: Pick<Client, 'list' | 'watch' | 'ready' | 'served'>
  readonly objects: ReadonlyMap<string, Note>
  readonly asked: { list: number; watch: number }
  readonly mishaps: Mishap[]
  put(name: string, text?: string): void
  remove(name: string): void
  pass(): void // something happens to another kind
  forget(): void // history up to now
  cut(): void // breaks every watch there is
  is: {
    watchList: 'known' | 'refused' | 'ignored'
    served: boolean
    ready: boolean | 'every other time'
    laggingMs: number
  }
}

const bookmarkEveryMs = 60_000
const pageSize = 2

interface Happened {
  readonly version: number
  readonly event: Extract<WatchEvent<Note>, { object: Note }>
}

export function modelServer(clock: VirtualClock): ModelServer {
  const objects = new Map<string, Note>()
  const history: Happened[] = []
  const snapshots = new Map<string, { readonly items: readonly Note[]; readonly version: number }>()
  const asked = { list: 0, watch: 0 }
  const mishaps: Mishap[] = []
  const is: ModelServer['is'] = { watchList: 'known', served: true, ready: true, laggingMs: 0 }
  let version = 0
  let forgotten = 0
  let wasReady = false
  let cuts = 0
  const wakers: (() => void)[] = []

  function happen(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Note): void {
    history.push({ version, event: { type, object } })
    wakeAll()
  }

  function wakeAll(): void {
    for (const wake of wakers.splice(0)) wake()
  }

  async function answer(): Promise<Mishap | undefined> {
    if (is.laggingMs > 0) await clock.sleep(is.laggingMs)
    const mishap: Mishap | undefined = is.served ? mishaps.shift() : { do: 'refuse', code: 404 }
    if (mishap?.do === 'refuse') throw new ApiError({ doing: 'ask', message: 'no', reason: 'Because', ...mishap })
    return mishap
  }

  async function list(from: string | undefined): Promise<Listed<Note>> {
    asked.list++
    const mishap = await answer()
    if (mishap?.do === 'expire') throw expired()
    if (mishap) throw new ApiError({ doing: 'list', message: 'it broke' })
    const [id = String(version), offset = '0'] = from?.split(' ') ?? []
    if (from === undefined) snapshots.set(id, { items: [...objects.values()], version })
    const snapshot = snapshots.get(id)
    if (!snapshot) throw expired()
    const end = Number(offset) + pageSize
    const next = end < snapshot.items.length ? { next: `${id} ${end}` } : {}
    return { items: snapshot.items.slice(Number(offset), end), resourceVersion: String(snapshot.version), ...next }
  }

  async function* follow(scope: Parameters<Client['watch']>[1], signal: AbortSignal): AsyncGenerator<WatchEvent<Note>> {
    asked.watch++
    const { initialEvents, resourceVersion, timeoutSeconds = 300 } = scope
    const mishap = await answer()
    const ends = clock.now() + timeoutSeconds * 1000
    const cutsBefore = cuts
    let lines = 0
    async function* told(events: readonly WatchEvent<Note>[]): AsyncGenerator<WatchEvent<Note>, boolean> {
      for (const event of events) {
        if (mishap && 'after' in mishap && lines >= mishap.after) return true
        lines++
        yield event
      }
      return Boolean(mishap && 'after' in mishap && lines >= mishap.after)
    }
    async function strike(): Promise<void> {
      if (mishap?.do === 'break') throw new ApiError({ doing: 'watch', message: 'it broke' })
      if (mishap?.do === 'expire') throw expired()
      if (mishap?.do === 'silence') await woken(Number.POSITIVE_INFINITY, signal)
    }
    let at = Number(resourceVersion ?? version)
    if (initialEvents) {
      if (is.watchList === 'refused')
        throw new ApiError({ doing: 'watch', code: 422, reason: 'Invalid', message: 'no' })
      at = version
      const end: WatchEvent<Note> = { type: 'BOOKMARK', resourceVersion: String(at), isInitialEnd: true }
      const all = [...objects.values()].map((object) => ({ type: 'ADDED' as const, object }))
      if (yield* told(is.watchList === 'known' ? [...all, end] : all)) return strike()
    }
    for (let bookmarkAt = clock.now() + bookmarkEveryMs; ; ) {
      if (cuts > cutsBefore) throw new ApiError({ doing: 'watch', message: 'it was cut' })
      if (at < forgotten) throw expired()
      const news = history.filter((happened) => happened.version > at)
      at = version
      if (yield* told(news.map(({ event }) => event))) return strike()
      if (clock.now() >= ends) return undefined
      if (clock.now() >= bookmarkAt) {
        const bookmark: WatchEvent<Note> = { type: 'BOOKMARK', resourceVersion: String(at), isInitialEnd: false }
        if (yield* told([bookmark])) return strike()
        bookmarkAt += bookmarkEveryMs
      }
      if (version === at) await woken(Math.min(ends, bookmarkAt), signal)
    }
  }

  // At a change, at a time, or when called off: then it throws.
  async function woken(time: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const isFinite = Number.isFinite(time)
      const callOff = isFinite ? clock.wakeAt(time, resolve) : () => {}
      const leave = () => reject(signal.reason as Error)
      if (isFinite) wakers.push(() => (callOff(), signal.removeEventListener('abort', leave), resolve()))
      signal.addEventListener('abort', () => (callOff(), leave()))
      if (signal.aborted) leave()
    })
  }

  return {
    client: {
      list: (async (_resource, { from } = {}) => list(from)) as Client['list'],
      watch: ((_resource, scope, signal) => follow(scope, signal)) as Client['watch'],
      served: async () => (is.served ? [{ kind: 'Note', plural: 'notes', isNamespaced: true }] : []),
      ready: async () => (is.ready === 'every other time' ? (wasReady = !wasReady) : is.ready),
    },
    objects,
    asked,
    mishaps,
    is,
    put(name, text = '') {
      const before = objects.get(name)
      version++
      const uid = before?.metadata.uid ?? `${name}-${version}`
      const note = { apiVersion: 'v1', kind: 'Note', metadata: { name, uid, resourceVersion: String(version) }, text }
      objects.set(name, note)
      happen(before ? 'MODIFIED' : 'ADDED', note)
    },
    remove(name) {
      const note = objects.get(name)
      if (!note) return
      version++
      objects.delete(name)
      happen('DELETED', { ...note, metadata: { ...note.metadata, resourceVersion: String(version) } })
    },
    cut() {
      cuts++
      wakeAll()
    },
    pass() {
      version++
    },
    forget() {
      history.length = 0
      forgotten = version
      snapshots.clear()
    },
  }
}

function expired(): ApiError {
  return new ApiError({ doing: 'watch', code: 410, reason: 'Expired', message: 'too old resource version' })
}
