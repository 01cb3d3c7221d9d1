// Keys that wait for work. What woke a key is forgotten on purpose: a worker looks at the world as it is.
//
// Guarantees. A key waits at most once, however often it is added. A key is worked on by one worker at a time; added
// meanwhile, it comes again when that worker is done. A failed key comes again after a delay that doubles each time, with
// jitter, until it succeeds; a change makes it come at once. Of several delays of a key the earliest counts. Changes
// come before resyncs, but a resync is not put off for ever.
import { type Backoff, createBackoff } from './backoff.ts'
import type { Clock } from './clock.ts'

export type Urgency = 'change' | 'resync'

export interface Taken {
  readonly key: string
  readonly waitedMs: number
  // Must be called once. `againAfterMs`: come again then, although nothing failed.
  done(outcome: 'ok' | 'failed', againAfterMs?: number): void
}

export interface Queue {
  add(key: string, urgency?: Urgency): void
  addAfter(key: string, delayMs: number, urgency?: Urgency): void
  // The next key, as soon as there is one; undefined once the queue is closed.
  take(): Promise<Taken | undefined>
  close(): void
  waiting(): number
}

export interface QueueOptions {
  readonly clock: Clock
  readonly random?: () => number // from 0 up to 1
  readonly firstDelayMs?: number
  readonly longestDelayMs?: number
  readonly told?: (what: 'added' | 'retried') => void
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
  told = () => {},
}: QueueOptions): Queue {
  const ready = { change: new Map<string, number>(), resync: new Map<string, number>() } // key and since when, in order
  const delayed = new Map<string, Delayed>()
  const working = new Map<string, Urgency | undefined>() // with the urgency of what was added meanwhile
  const failures = new Map<string, Backoff>()
  const workers: ((taken: Taken | undefined) => void)[] = []
  let changesInARow = 0
  let isClosed = false

  function add(key: string, urgency: Urgency = 'change'): void {
    if (isClosed) return
    if (working.has(key)) {
      if (working.get(key) !== 'change') working.set(key, urgency)
      return
    }
    // A resync is no reason to come sooner than a failure allows, or to come twice.
    if (ready.change.has(key) || (urgency === 'resync' && (delayed.has(key) || ready.resync.has(key)))) return
    ready.resync.delete(key)
    forgetDelay(key)
    ready[urgency].set(key, clock.now())
    told('added')
    hand()
  }

  function addAfter(key: string, delayMs: number, urgency: Urgency = 'change'): void {
    if (isClosed) return
    const at = clock.now() + Math.max(0, delayMs)
    const before = delayed.get(key)
    if (before && before.at <= at) return
    forgetDelay(key)
    const callOff = clock.wakeAt(at, () => {
      delayed.delete(key)
      add(key, urgency)
    })
    delayed.set(key, { at, callOff })
  }

  function forgetDelay(key: string): void {
    delayed.get(key)?.callOff()
    delayed.delete(key)
  }

  // Gives what is ready to those who wait for work.
  function hand(): void {
    while (workers.length > 0) {
      const taken = next()
      if (!taken) return
      workers.shift()?.(taken)
    }
  }

  function next(): Taken | undefined {
    const order = changesInARow < changesPerResync ? (['change', 'resync'] as const) : (['resync', 'change'] as const)
    for (const urgency of order) {
      const [first] = ready[urgency]
      if (!first) continue
      const [key, since] = first
      ready[urgency].delete(key)
      changesInARow = urgency === 'change' ? changesInARow + 1 : 0
      return start(key, clock.now() - since)
    }
    return undefined
  }

  function start(key: string, waitedMs: number): Taken {
    working.set(key, undefined)
    let isDone = false
    return {
      key,
      waitedMs,
      done(outcome, againAfterMs) {
        if (isDone) throw new Error(`${key} was done already`)
        isDone = true
        const meanwhile = working.get(key)
        working.delete(key)
        if (outcome === 'ok') failures.delete(key)
        else addAfter(key, delayAfterFailure(key))
        if (againAfterMs !== undefined) addAfter(key, againAfterMs, 'resync')
        if (meanwhile) add(key, meanwhile)
      },
    }
  }

  function delayAfterFailure(key: string): number {
    const backoff = failures.get(key) ?? createBackoff({ firstMs: firstDelayMs, longestMs: longestDelayMs, random })
    failures.set(key, backoff)
    told('retried')
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
    waiting: () => ready.change.size + ready.resync.size,
  }
}
