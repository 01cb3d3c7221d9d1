// A watch as a sequence of events: what comes over the wire, line by line, for whoever takes it at his own pace.
import { apiVersionOf, type KubeObject, type Resource } from '../api/resource.ts'
import type { WatchEvent } from './client.ts'
import { ApiError } from './errors.ts'
import { createLines } from './lines.ts'
import { refusal } from './status.ts'

interface How {
  readonly signal: AbortSignal
  readonly take: (chunk: Buffer) => void
}

interface Watched<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: T
}

const initialEventsEnd = 'k8s.io/initial-events-end'

// Asks for a watch and yields its events. Ends when it ended whole, throws when it broke; what came before is yielded first.
export async function* followed<T extends KubeObject>(
  resource: Resource<T>,
  doing: string,
  signal: AbortSignal,
  ask: (how: How) => Promise<unknown>,
): AsyncGenerator<WatchEvent<T>> {
  const leaving = new AbortController()
  const leave = () => leaving.abort(signal.reason)
  signal.addEventListener('abort', leave)
  const lines = createLines()
  let events: WatchEvent<T>[] = []
  let wake = () => {}
  let ending: 'whole' | Error | undefined
  const end = (how: 'whole' | Error) => {
    ending = how
    wake()
  }
  const take = (chunk: Buffer) => {
    for (const line of lines.push(chunk)) events.push(eventOf(line, resource, doing))
    wake()
  }
  ask({ signal: leaving.signal, take }).then(
    () => end(lines.rest() ? cut(doing) : 'whole'),
    (error: Error) => end(error),
  )
  try {
    for (;;) {
      const ready = events
      events = []
      yield* ready
      if (events.length > 0) continue
      if (ending === 'whole') return
      if (ending) throw ending
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  } finally {
    signal.removeEventListener('abort', leave)
    leaving.abort(new Error('nobody watches any more'))
  }
}

function eventOf<T extends KubeObject>(line: string, resource: Resource<T>, doing: string): WatchEvent<T> {
  const { type, object } = watched<T>(line, doing)
  if (type === 'ERROR') throw refusal({ doing, code: 500, body: object, resource })
  const { resourceVersion = '', annotations } = object.metadata
  if (type === 'BOOKMARK') return { type, resourceVersion, isInitialEnd: annotations?.[initialEventsEnd] === 'true' }
  return { type, object: named(resource)(object) }
}

function watched<T>(line: string, doing: string): Watched<T> {
  try {
    return trusted<Watched<T>>(line)
  } catch (error) {
    throw cut(doing, error)
  }
}

function cut(doing: string, cause?: unknown): ApiError {
  return new ApiError({ doing, message: 'a line of it is not JSON: it was cut' }, { cause })
}

// Objects in a list of a built-in kind do not name their kind, and metadata only names another.
export function named<T extends KubeObject>(resource: Resource<T>): (object: T) => T {
  const names = { apiVersion: apiVersionOf(resource), kind: resource.kind }
  return (object) => (object.kind === resource.kind ? object : { ...object, ...names })
}

// The one place where what comes over the wire is given its type: the API server has checked it against the schema.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function trusted<T>(text: string): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(text) as T
}
