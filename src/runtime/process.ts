// What a process that works for an API server has around its work: clients, cache, election, probes, metrics; in which order
// they are started, and ended in the reverse. Only wiring; the work itself is handed in.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { resourceName } from '../api/resource.ts'
import type { Access } from '../kube/access.ts'
import { type Answered, type Client, createClient } from '../kube/client.ts'
import { type Cache, createCache, type Reflecting } from './cache.ts'
import { type Clock, systemClock as clock } from './clock.ts'
import { startDiagnostics } from './diagnostics.ts'
import { createElection } from './election.ts'
import { startEventLoop } from './eventloop.ts'
import { type Checks, startHealth, watchesMove, workersMove } from './health.ts'
import { createLeadership } from './leadership.ts'
import type { Log } from './log.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { createPulse } from './pulse.ts'
import type { Hands } from './reconcile.ts'
import { createRecorder } from './recorder.ts'
import { createReviews } from './reviews.ts'
import type { ProcessSettings } from './settings.ts'
import { tlsBounds } from './tls.ts'

export interface Served<S extends ProcessSettings> {
  readonly settings: S
  readonly access: Access
  readonly userAgent: string
  readonly log: Log
  onLost(): void // another leads: the process must end
}

export interface Process {
  // Resolves when nothing is left.
  stop(): Promise<void>
}

// What the work is done with.
export interface Parts {
  readonly client: Client // refuses to write while we do not lead
  readonly cache: Cache
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly record: Hands['record']
}

export interface Work {
  readonly reporter: string // of events: capt.appthrust.io/manager
  readonly leases: readonly string[] // what must be held to work
  readonly passSeconds: number // longer than any pass lasts
  // Declares to the cache what is watched; nothing runs yet.
  prepare(parts: Parts): Prepared
}

export interface Prepared {
  readonly readyz?: Checks
  // We lead. The cache may not know everything yet.
  lead(): Promise<void>
  stop(): Promise<void>
}

const silenceSeconds = 900 // longer than any watch lasts

export async function serveProcess(
  { settings, access, userAgent, log, onLost }: Served<ProcessSettings>,
  { reporter, leases, passSeconds, prepare }: Work,
): Promise<Process> {
  const metrics = createMetrics(clock)
  const pulse = createPulse(clock, () => client)
  const { host } = access.server
  const told = (answered: Answered) => {
    const { method, code } = answered
    pulse.heard(answered)
    metrics.requests.with({ code: String(code ?? '<error>'), method, host }).add()
  }
  const asking = { userAgent, perSecond: settings.qps, burst: settings.burst, told }
  const client = createClient(access, { ...asking, mayWrite: () => leadership.holds() })
  const voting = createClient(access, asking) // a connection of its own: a renewal waits behind nothing
  const identity = `${hostname()}_${randomUUID()}`
  const recorder = createRecorder({
    client,
    clock,
    controller: reporter,
    instance: identity,
    onTrouble: (error) => log.warn('an event was dropped', { error }),
  })
  const record: Hands['record'] = (subject, { type, reason, note }) =>
    recorder.record(subject, { type, reason, note, action: reason })
  const cache = createCache({
    client,
    clock,
    random: Math.random,
    trouble: (resource, error) => log.warn('a watch had trouble', { resource: resourceName(resource), error }),
  })
  const work = prepare({ client, cache, clock, log, metrics, record })

  const leadership = createLeadership({
    elections: leases.map((name) => (onLeading: () => void) => {
      const isLeader = metrics.isLeader.with({ name })
      isLeader.set(0)
      return createElection({
        name,
        namespace: settings.leaseNamespace || access.namespace,
        identity,
        client: voting,
        clock,
        leaseDurationMs: settings.leaseMs,
        renewDeadlineMs: settings.renewMs,
        retryPeriodMs: settings.retryMs,
        onChange({ role, holder }) {
          isLeader.set(role === 'leading' ? 1 : 0)
          log.info('election', { lease: name, role, holder })
          if (role === 'leading') onLeading()
          if (role === 'lost') onLost()
        },
        onTrouble: (error) => log.warn('election has trouble', { lease: name, error }),
      })
    }),
    isElected: settings.isElected,
    onLeading() {
      log.info('leading', { identity })
      void work.lead()
    },
  })

  const eventLoop = startEventLoop({ clock, log })
  metrics.eventLoopLag.read({}, eventLoop.lagSeconds)
  const startedAt = clock.now()
  const silenceOf = ({ lastSuccess }: Reflecting) => (clock.now() - (lastSuccess() ?? startedAt)) / 1000
  // A watch has as long to come back as the API server has.
  const answeringFor = () => (clock.now() - pulse.answeringSince()) / 1000
  const silences = () =>
    cache.watches().map((watch) => ({ what: watch.resource, seconds: Math.min(silenceOf(watch), answeringFor()) }))
  const running = () =>
    metrics.running().map(({ controller, key, seconds }) => ({ what: `${controller} ${key}`, seconds }))
  const servers = await Promise.all([
    settings.health &&
      startHealth({
        address: settings.health,
        log,
        healthz: {
          watches: watchesMove(silences, pulse.isAnswering, silenceSeconds),
          workers: workersMove(running, passSeconds),
        },
        readyz: {
          caches: () => (cache.isSynced() ? undefined : 'not everything has been seen yet'),
          'api-server': () => (pulse.isAnswering() ? undefined : 'the API server does not answer'),
          ...work.readyz,
        },
      }),
    settings.diagnostics &&
      startDiagnostics({
        address: settings.diagnostics,
        render: metrics.render,
        log,
        safety: settings.isInsecure
          ? 'none'
          : {
              reviews: createReviews(client, clock),
              clock,
              names: ['localhost', hostname()],
              tls: tlsBounds(settings.tlsMinVersion, settings.ciphers),
              ...(settings.certificateFolder && { certificateFolder: settings.certificateFolder }),
            },
      }),
  ])

  cache.start()
  for (const [resource, watches] of Map.groupBy(cache.watches(), (watch) => watch.resource)) {
    const sum = (ofEach: (watch: Reflecting) => number) => watches.reduce((all, watch) => all + ofEach(watch), 0)
    metrics.cached.read({ resource }, () => sum(({ size }) => size()))
    metrics.watchRestarts.read({ resource }, () => sum(({ restarts }) => restarts()))
    metrics.watchSilence.read({ resource }, () => Math.max(...watches.map(silenceOf)))
  }
  leadership.start()

  return {
    async stop() {
      await work.stop()
      await recorder.close()
      await leadership.stop()
      cache.stop()
      eventLoop.stop()
      await Promise.all(servers.map(async (server) => server && server.close()))
      client.close()
      voting.close()
    },
  }
}
