// Workers that take keys from a queue of their own, one pass a key at a time, counted and timed, and that come again when
// a pass failed. What a pass does is not their business.
import { setImmediate } from 'node:timers/promises'
import { isConflict, NotLeading } from '../kube/errors.ts'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import type { Metrics, Result } from './metrics.ts'
import type { Wake } from './plan.ts'
import { createQueue, type Queue, type Taken } from './queue.ts'

// 'retry': it failed and has said so; it comes again after a delay that grows.
export type Passed = Wake | 'retry'

export interface Workers {
  readonly queue: Pick<Queue, 'add'>
  work(): void
  // Lets each worker end the pass it is on.
  stop(): Promise<void>
}

export interface WorkersOptions {
  readonly name: string
  readonly count: number
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'ofController'>
  readonly firstDelayMs?: number // after a failure
  readonly longestDelayMs?: number
  pass(key: string): Promise<Passed>
}

export function createWorkers({ name, count, clock, log, metrics, pass, ...delays }: WorkersOptions): Workers {
  const counted = metrics.ofController(name, { workers: count, waiting: () => queue.waiting() })
  const queue = createQueue({ clock, told: (what) => counted[what](), ...delays })

  async function worker(): Promise<void> {
    for (let taken = await queue.take(); taken; taken = await queue.take()) {
      await turn(taken)
      // Passes that only look wait for nobody: thousands in a row would keep probes and the Lease waiting.
      await setImmediate()
    }
  }

  async function turn(taken: Taken): Promise<void> {
    const ended = counted.began(taken.key, taken.waitedMs / 1000)
    const told = (result: Result, outcome: 'ok' | 'failed', againAfterMs?: number) => {
      ended(result)
      taken.done(outcome, againAfterMs)
    }
    try {
      const passed = await pass(taken.key)
      if (passed === 'retry') told('error', 'failed')
      else if (passed === 'onChange') told('success', 'ok')
      else told('requeue_after', 'ok', passed.afterSeconds * 1000)
    } catch (error) {
      const isExpected = isConflict(error) || error instanceof NotLeading // the world moved on; the next pass sees it
      const tell = isExpected ? log.debug : log.error
      tell('a pass failed', { controller: name, object: taken.key, error })
      told(isExpected ? 'requeue' : 'error', 'failed')
    }
  }

  let workers: readonly Promise<void>[] = []
  let isStopped = false
  return {
    queue,
    work() {
      if (!isStopped) workers = Array.from({ length: count }, worker)
    },
    async stop() {
      isStopped = true
      queue.close()
      await Promise.all(workers)
    },
  }
}
