// Runs controllers: what the cache tells becomes keys in their queues, workers take keys, look, decide and carry out. Who
// leads is not its business; it works between `work` and `stop`.
import { setImmediate } from 'node:timers/promises'
import { watchFilterLabel } from '../api/contract.ts'
import { type Key, type KubeObject, readKey, tellKey } from '../api/resource.ts'
import type { Client } from '../kube/client.ts'
import { isConflict, NotLeading } from '../kube/errors.ts'
import type { Cache } from './cache.ts'
import type { Clock } from './clock.ts'
import type { Controller, Live, Source } from './controller.ts'
import type { Log } from './log.ts'
import type { ControllerMetrics, Metrics, Result } from './metrics.ts'
import { createQueue, type Queue, type Taken } from './queue.ts'
import { carryOut, type Hands } from './reconcile.ts'
import type { Change } from './store.ts'

export interface Manager {
  // Once the cache knows everything.
  work(): void
  // Lets each worker end the pass it is on.
  stop(): Promise<void>
}

export interface ManagerOptions {
  readonly controllers: readonly Controller[]
  readonly client: Client
  readonly cache: Cache
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly record: Hands['record']
  readonly concurrency: number
  readonly namespace?: string // none: all
  readonly watchFilter?: string // none: all
  readonly date?: () => Date
}

interface Run {
  readonly controller: Controller
  readonly queue: Queue
  readonly metrics: ControllerMetrics
  readonly hands: Hands
}

// Declares what its controllers watch to the cache, which is started by whoever made it.
export function createManager(options: ManagerOptions): Manager {
  const { controllers, client, cache, clock, log, concurrency, watchFilter, date = () => new Date() } = options
  const live: Live = { get: async (resource, key) => client.get(resource, key), now: date }
  const now = () => `${date().toISOString().slice(0, 19)}Z`

  const runs = controllers.map((controller): Run => {
    const waiting = () => queue.waiting()
    const metrics = options.metrics.ofController(controller.name, { workers: concurrency, waiting })
    const queue = createQueue({ clock, told: (what) => metrics[what]() })
    const hands = { client, read: cache, fieldManager: `capt-${controller.name}`, now, record: options.record }
    for (const source of controller.wokenBy) follow(source, controller, queue)
    return { controller, queue, metrics, hands }
  })

  function follow(source: Source, { kind }: Controller, queue: Queue): void {
    const { namespace } = options
    const isHere = namespace !== undefined && !source.resource.isClusterScoped
    cache.watch(source.resource, {
      scope: { ...source.scope, ...(isHere && { namespace }) },
      ...(source.indexes && { indexes: source.indexes }),
      onChange({ what, object, before }: Change<KubeObject>) {
        const urgency = what === 'resync' ? 'resync' : 'change'
        for (const key of source.wakes(object, kind, cache)) queue.add(tellKey(key), urgency)
        // What an object no longer names wants to know it, too.
        if (before) for (const key of source.wakes(before, kind, cache)) queue.add(tellKey(key), urgency)
      },
    })
  }

  async function worker(run: Run): Promise<void> {
    for (let taken = await run.queue.take(); taken; taken = await run.queue.take()) {
      await pass(run, taken)
      // Passes that only look wait for nobody: thousands in a row would keep probes and the Lease waiting.
      await setImmediate()
    }
  }

  async function pass({ controller, metrics, hands }: Run, taken: Taken): Promise<void> {
    const ended = metrics.began(taken.key, taken.waitedMs / 1000)
    const told = (result: Result, outcome: 'ok' | 'failed', againAfterMs?: number) => {
      ended(result)
      taken.done(outcome, againAfterMs)
    }
    try {
      const wake = await look(controller, readKey(taken.key), hands)
      if (wake === 'onChange') told('success', 'ok')
      else told('requeue_after', 'ok', wake.afterSeconds * 1000)
    } catch (error) {
      const isExpected = isConflict(error) || error instanceof NotLeading // the world moved on; the next pass sees it
      const tell = isExpected ? log.debug : log.error
      tell('a pass failed', { controller: controller.name, object: taken.key, error })
      told(isExpected ? 'requeue' : 'error', 'failed')
    }
  }

  async function look({ name, kind, plan }: Controller, key: Key, hands: Hands) {
    const subject = cache.get(kind, key)
    if (!subject || !isMeant(subject)) return 'onChange'
    const { did, says, wake } = await carryOut(kind, subject, await plan(subject, cache, live), hands)
    if (did.length > 0 || says) log.info('carried out', { controller: name, object: tellKey(key), did, says })
    return wake
  }

  function isMeant({ metadata: { labels } }: KubeObject): boolean {
    return watchFilter === undefined || labels?.[watchFilterLabel] === watchFilter
  }

  let workers: readonly Promise<void>[] = []
  let isStopped = false
  return {
    work() {
      if (!isStopped) workers = runs.flatMap((run) => Array.from({ length: concurrency }, async () => worker(run)))
    },
    async stop() {
      isStopped = true
      for (const { queue } of runs) queue.close()
      await Promise.all(workers)
    },
  }
}
