// Runs controllers: what the cache tells becomes keys for their workers, a pass looks, decides and carries out. Who leads is
// not its business; it works between `work` and `stop`.
import { watchFilterLabel } from '../api/contract.ts'
import { timeOf } from '../api/moment.ts'
import { type Key, type KubeObject, keyOf, readKey, tellKey } from '../api/resource.ts'
import type { Client } from '../kube/client.ts'
import { audited } from './audit.ts'
import type { Cache } from './cache.ts'
import type { Clock } from './clock.ts'
import type { Controller, Live, Source } from './controller.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { carryOut, type Hands, type Written } from './reconcile.ts'
import type { Change } from './store.ts'
import { isNewer } from './view.ts'
import { createWorkers, type Workers } from './workers.ts'

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

// What a pass has written, until the cache knows it.
interface Pending {
  readonly written: readonly Written[]
  readonly until: number // when it is not waited for any more: an API server that was restored has forgotten it
}

// What a controller remembers of its passes, by key.
interface Memory {
  readonly pending: Map<string, Pending>
  readonly putOff: Map<string, number> // since when there is more to say
}

const lateMs = 10_000 // so late a cache may be
const patienceMs = 1000 // of several steps in a moment only the last is worth a write

// Declares what its controllers watch to the cache, which is started by whoever made it.
export function createManager(options: ManagerOptions): Manager {
  const { controllers, client, cache, clock, log, metrics, concurrency, watchFilter, date = () => new Date() } = options
  const live: Live = { get: async (resource, key) => client.get(resource, key), now: date }
  const now = () => timeOf(date())

  // Each controller has workers of its own, so that a busy one starves none.
  const crews = controllers.map((controller): Workers => {
    const { name } = controller
    const hands: Hands = {
      client: audited(client, { clock, log: log.with({ controller: name }), metrics }),
      read: cache,
      fieldManager: `capt-${name}`,
      now,
      record: options.record,
      count: ({ what, reason }) => metrics[what].with({ reason }).add(),
    }
    const memory: Memory = { pending: new Map(), putOff: new Map() }
    const pass = async (key: string) => look(controller, readKey(key), hands, memory)
    const workers = createWorkers({ name, count: concurrency, clock, log, metrics, pass })
    for (const source of controller.wokenBy) follow(source, controller, workers)
    return workers
  })

  function follow(source: Source, { kind }: Controller, { queue }: Workers): void {
    const { namespace } = options
    const isHere = namespace !== undefined && !source.resource.isClusterScoped
    cache.watch(source.resource, {
      scope: { ...source.scope, ...(isHere && { namespace }) },
      ...(source.indexes && { indexes: source.indexes }),
      onChange({ what, object, before }: Change<KubeObject>) {
        if (what === 'resync') {
          // Each is looked at again by itself: neighbours that are as they were have nothing to say to it.
          if (source.resource === kind) queue.add(tellKey(keyOf(object)), 'resync')
          return
        }
        if (before && source.isNews?.(object, before) === false) return
        // What an object no longer names wants to know it, too. Each once: the first may be at work already.
        const states = before ? [object, before] : [object]
        const woken = new Set(states.flatMap((each) => source.wakes(each, kind, cache).map(tellKey)))
        for (const key of woken) queue.add(key, 'change')
      },
    })
  }

  async function look({ name, kind, plan }: Controller, key: Key, hands: Hands, { pending, putOff }: Memory) {
    const told = tellKey(key)
    const last = pending.get(told)
    // What was decided on the world as it was before our last write would be refused or done again, and what is news told again.
    if (last && clock.now() < last.until && last.written.some(isUnseen))
      return { afterSeconds: (last.until - clock.now()) / 1000 } // sooner, when the watch tells
    const subject = cache.get(kind, key)
    const since = putOff.get(told) ?? clock.now()
    pending.delete(told)
    putOff.delete(told)
    if (!subject || !isMeant(subject)) return 'onChange'
    const mayWait = clock.now() < since + patienceMs
    const done = await carryOut(kind, subject, await plan(subject, cache, live), hands, mayWait)
    const { did, says, written, wake, isPutOff } = done
    if (written.some(isUnseen)) pending.set(told, { written, until: clock.now() + lateMs })
    if (did.length > 0 || says) log.info('carried out', { controller: name, object: told, did, says })
    if (!isPutOff) return wake
    putOff.set(told, since)
    const afterSeconds = Math.max(0, since + patienceMs - clock.now()) / 1000
    return wake === 'onChange' || wake.afterSeconds > afterSeconds ? { afterSeconds } : wake
  }

  function isUnseen({ resource, key, version }: Written): boolean {
    return isNewer(version, cache.versionOf(resource, key))
  }

  function isMeant({ metadata: { labels } }: KubeObject): boolean {
    return watchFilter === undefined || labels?.[watchFilterLabel] === watchFilter
  }

  return {
    work() {
      for (const workers of crews) workers.work()
    },
    async stop() {
      await Promise.all(crews.map(async (workers) => workers.stop()))
    },
  }
}
