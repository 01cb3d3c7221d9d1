// Keys that wait for work. What woke a key is forgotten on purpose: a worker looks at the world as it is.
//
// Guarantees. A key waits at most once, however often it is added. A key is worked on by one worker at a time; added
// meanwhile, it comes again when that worker is done. A failed key comes again after a delay that doubles each time, with
// jitter, until it succeeds; a change makes it come at once. Of several delays of a key the earliest counts. Changes
// come before resyncs, but a resync is not put off for ever. Controllers take turns, so that a busy one starves none.
import { type Backoff, createBackoff } from './backoff.ts'
import type { Clock } from './clock.ts'

export interface Item {
  readonly controller: string
  readonly key: string
}

export type Urgency = 'change' | 'resync'

export interface Taken extends Item {
  // Must be called once. `againAfterMs`: come again then, although nothing failed.
  done(outcome: 'ok' | 'failed', againAfterMs?: number): void
}

export interface Queue {
  add(item: Item, urgency?: Urgency): void
  addAfter(item: Item, delayMs: number, urgency?: Urgency): void
  // The next item, as soon as there is one; undefined once the queue is closed.
  take(): Promise<Taken | undefined>
  close(): void
  waiting(): number
}

export interface QueueOptions {
  readonly clock: Clock
  readonly random?: () => number // from 0 up to 1
  readonly firstDelayMs?: number
  readonly longestDelayMs?: number
}

const changesPerResync = 16 // so many changes may pass a waiting resync

interface Delayed {
  readonly at: number
  readonly callOff: () => void
}

export function createQueue({
  clock,
  random = Math.random,
  firstDelayMs = 50,
  longestDelayMs = 300_000,
}: QueueOptions): Queue {
  const ready = { change: createTurns(), resync: createTurns() }
  const delayed = new Map<string, Delayed>()
  const working = new Map<string, Urgency | undefined>() // with the urgency of what was added meanwhile
  const backoffs = new Map<string, Backoff>() // of those that failed last
  const workers: ((taken: Taken | undefined) => void)[] = []
  let changesInARow = 0
  let isClosed = false

  function add(item: Item, urgency: Urgency = 'change'): void {
    if (isClosed) return
    const id = idOf(item)
    if (working.has(id)) {
      working.set(id, moreUrgent(working.get(id), urgency))
      return
    }
    // A resync is no reason to come sooner than a failure allows, or to come twice.
    if (urgency === 'resync' && (delayed.has(id) || ready.change.has(item))) return
    if (urgency === 'change') ready.resync.remove(item)
    forgetDelay(id)
    ready[urgency].add(item)
    hand()
  }

  function addAfter(item: Item, delayMs: number, urgency: Urgency = 'change'): void {
    if (isClosed) return
    const id = idOf(item)
    const at = clock.now() + Math.max(0, delayMs)
    const before = delayed.get(id)
    if (before && before.at <= at) return
    forgetDelay(id)
    const callOff = clock.wakeAt(at, () => {
      delayed.delete(id)
      add(item, urgency)
    })
    delayed.set(id, { at, callOff })
  }

  function forgetDelay(id: string): void {
    delayed.get(id)?.callOff()
    delayed.delete(id)
  }

  // Gives what is ready to those who wait for work.
  function hand(): void {
    while (workers.length > 0) {
      const item = nextItem()
      if (!item) return
      workers.shift()?.(start(item))
    }
  }

  function nextItem(): Item | undefined {
    const order = changesInARow < changesPerResync ? (['change', 'resync'] as const) : (['resync', 'change'] as const)
    for (const urgency of order) {
      const item = ready[urgency].next()
      if (!item) continue
      changesInARow = urgency === 'change' ? changesInARow + 1 : 0
      return item
    }
    return undefined
  }

  function start(item: Item): Taken {
    const id = idOf(item)
    working.set(id, undefined)
    let isDone = false
    return {
      ...item,
      done(outcome, againAfterMs) {
        if (isDone) throw new Error(`${id} was done already`)
        isDone = true
        const meanwhile = working.get(id)
        working.delete(id)
        if (outcome === 'ok') backoffs.delete(id)
        else addAfter(item, delayAfterFailure(id))
        if (againAfterMs !== undefined) addAfter(item, againAfterMs, 'resync')
        if (meanwhile) add(item, meanwhile)
      },
    }
  }

  function delayAfterFailure(id: string): number {
    const backoff = backoffs.get(id) ?? createBackoff({ firstMs: firstDelayMs, longestMs: longestDelayMs, random })
    backoffs.set(id, backoff)
    return backoff.next()
  }

  return {
    add,
    addAfter,
    async take() {
      if (isClosed) return undefined
      return new Promise((resolve) => {
        workers.push(resolve)
        hand()
      })
    },
    close() {
      isClosed = true
      for (const { callOff } of delayed.values()) callOff()
      delayed.clear()
      for (const leave of workers.splice(0)) leave(undefined)
    },
    waiting: () => ready.change.size() + ready.resync.size(),
  }
}

function idOf({ controller, key }: Item): string {
  return `${controller} ${key}`
}

function moreUrgent(before: Urgency | undefined, now: Urgency): Urgency {
  return before === 'change' ? 'change' : now
}

// Items in the order they came, controllers in turn.
function createTurns() {
  const lines = new Map<string, Map<string, Item>>()
  return {
    has: ({ controller, key }: Item) => lines.get(controller)?.has(key) ?? false,
    add(item: Item) {
      const line = lines.get(item.controller) ?? new Map<string, Item>()
      if (!line.has(item.key)) line.set(item.key, item)
      lines.set(item.controller, line)
    },
    remove({ controller, key }: Item) {
      const line = lines.get(controller)
      line?.delete(key)
      if (line?.size === 0) lines.delete(controller)
    },
    // The oldest of the controller whose turn it is; that controller then goes to the end of the row.
    next(): Item | undefined {
      const [first] = lines
      if (!first) return undefined
      const [controller, line] = first
      const [item] = line.values()
      lines.delete(controller)
      if (item) line.delete(item.key)
      if (line.size > 0) lines.set(controller, line)
      return item
    },
    size: () => [...lines.values()].reduce((sum, line) => sum + line.size, 0),
  }
}
