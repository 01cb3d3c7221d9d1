// What the manager counts, under controller-runtime's names, so that boards and alerts made for those fit. It only counts.
import { readdirSync } from 'node:fs'
import type { Clock } from './clock.ts'
import { createExposition } from './exposition.ts'

export type Result = 'success' | 'error' | 'requeue' | 'requeue_after'

const passBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]
const writeBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const queueBuckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000]

// A worker on a key, now.
export interface Running {
  readonly controller: string
  readonly key: string
  readonly seconds: number
}

export interface ControllerMetrics {
  added(): void
  retried(): void
  // A worker took a key that had waited so long; what is returned is told how it went.
  began(key: string, waitedSeconds: number): (result: Result) => void
}

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics(clock: Clock) {
  const { counter, gauge, histogram, described, render } = createExposition()
  const running = new Set<{ readonly controller: string; readonly key: string; readonly since: number }>()

  const passes = counter('controller_runtime_reconcile_total{controller,result}', 'Passes, by how they went.')
  const failures = counter('controller_runtime_reconcile_errors_total{controller}', 'Passes that failed.')
  const passSeconds = histogram(
    'controller_runtime_reconcile_time_seconds{controller}',
    'How long a pass took.',
    passBuckets,
  )
  const mostWorkers = gauge('controller_runtime_max_concurrent_reconciles{controller}', 'Workers there may be.')
  const busyWorkers = gauge('controller_runtime_active_workers{controller}', 'Workers that are busy now.')
  const depth = gauge('workqueue_depth{name,controller}', 'Keys that wait for a worker now.')
  const adds = counter('workqueue_adds_total{name,controller}', 'Keys that were added.')
  const retries = counter('workqueue_retries_total{name,controller}', 'Keys that came again after a failure.')
  const waited = histogram(
    'workqueue_queue_duration_seconds{name,controller}',
    'How long a key waited for a worker.',
    queueBuckets,
  )
  const worked = histogram(
    'workqueue_work_duration_seconds{name,controller}',
    'How long a worker was on a key.',
    queueBuckets,
  )
  const unfinished = gauge(
    'workqueue_unfinished_work_seconds{name,controller}',
    'Seconds so far on the keys that workers are on now, together.',
  )
  const longest = gauge(
    'workqueue_longest_running_processor_seconds{name,controller}',
    'Seconds so far on the key that a worker has been on longest.',
  )

  // Everything of a controller, prepared: its series are there from the start.
  function ofController(
    controller: string,
    its: { readonly workers: number; readonly waiting: () => number },
  ): ControllerMetrics {
    const ofIt = { controller }
    const ofQueue = { name: controller, controller }
    const ended = {
      success: passes.with({ controller, result: 'success' }),
      error: passes.with({ controller, result: 'error' }),
      requeue: passes.with({ controller, result: 'requeue' }),
      requeue_after: passes.with({ controller, result: 'requeue_after' }),
    }
    const [failed, passLasted] = [failures.with(ofIt), passSeconds.with(ofIt)]
    const [added, retried] = [adds.with(ofQueue), retries.with(ofQueue)]
    const [keyWaited, workLasted] = [waited.with(ofQueue), worked.with(ofQueue)]
    const busy = () => runningNow().flatMap((each) => (each.controller === controller ? [each.seconds] : []))
    mostWorkers.with(ofIt).set(its.workers)
    busyWorkers.read(ofIt, () => busy().length)
    depth.read(ofQueue, its.waiting)
    unfinished.read(ofQueue, () => busy().reduce((sum, each) => sum + each, 0))
    longest.read(ofQueue, () => Math.max(0, ...busy()))
    return {
      added: () => added.add(),
      retried: () => retried.add(),
      began(key, waitedSeconds) {
        const since = clock.now()
        const pass = { controller, key, since }
        running.add(pass)
        keyWaited.observe(waitedSeconds)
        return (result) => {
          if (!running.delete(pass)) throw new Error(`${controller} ${key} ended twice`)
          const seconds = (clock.now() - since) / 1000
          passLasted.observe(seconds)
          workLasted.observe(seconds)
          ended[result].add()
          if (result === 'error') failed.add()
        }
      },
    }
  }

  function runningNow(): readonly Running[] {
    return [...running].map(({ since, ...who }) => ({ ...who, seconds: (clock.now() - since) / 1000 }))
  }

  const startedAt = Date.now() / 1000 - process.uptime()
  gauge('process_start_time_seconds', 'When the process began, in Unix time.').read({}, () => startedAt)
  gauge('process_resident_memory_bytes', 'Memory the process holds.').read({}, () => process.memoryUsage.rss())
  gauge('process_open_fds', 'Files and sockets the process has open.').read({}, openFiles)
  counter('process_cpu_seconds_total', 'Processor time the process has used.').read({}, () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })

  return {
    ofController,
    running: runningNow,
    isLeader: gauge('leader_election_master_status{name}', '1 while this process holds the Lease of that name.'),
    requests: counter(
      'rest_client_requests_total{code,method,host}',
      'Requests to an API server, by answer (<error>: there was none).',
    ),
    watchRestarts: counter('capt_watch_restarts_total{resource}', 'Watches that had to begin again.'),
    watchSilence: gauge('capt_watch_seconds_since_success{resource}', 'Seconds since a watch last heard something.'),
    cached: gauge('capt_cache_objects{resource}', 'Objects in the cache.'),
    secretWrites: counter('capt_secret_writes_total{verb}', 'Secrets that were written.'),
    secretWriteSeconds: histogram(
      'capt_secret_write_duration_seconds{verb}',
      'How long it took to write a Secret, or to fail at it.',
      writeBuckets,
    ),
    secretErrors: counter(
      'capt_secret_errors_total{reason}',
      "What went wrong with Secrets: the API server's word where one could not be written, else what is wrong with what it is made of.",
    ),
    eventLoopLag: gauge(
      'nodejs_eventloop_lag_seconds',
      'The longest time since the last scrape that the process was too busy to turn to anything new.',
    ),
    described,
    render,
  }
}

// Only Linux can say.
function openFiles(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length - 1 // one of them is this look
  } catch {
    return undefined
  }
}
