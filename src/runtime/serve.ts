// A manager process from its start to its end: what is started, in which order, and ended in the reverse. Only wiring.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { kinds } from '../api/kinds.ts'
import { resourceName } from '../api/resource.ts'
import type { Access } from '../kube/access.ts'
import { type Answered, createClient } from '../kube/client.ts'
import { createCache, type Reflecting } from './cache.ts'
import { systemClock as clock } from './clock.ts'
import type { Controller } from './controller.ts'
import { startDiagnostics } from './diagnostics.ts'
import { createElection } from './election.ts'
import { startEventLoop } from './eventloop.ts'
import { startHealth, watchesMove, workersMove } from './health.ts'
import { createLeadership, leases } from './leadership.ts'
import type { Log } from './log.ts'
import { createManager } from './manager.ts'
import { createMetrics } from './metrics.ts'
import { migrate } from './migrator.ts'
import { createPulse } from './pulse.ts'
import { createRecorder } from './recorder.ts'
import { createReviews } from './reviews.ts'
import type { Settings } from './settings.ts'
import { tlsBounds } from './tls.ts'

export interface Served {
  readonly settings: Settings
  readonly access: Access
  readonly controllers: readonly Controller[]
  readonly userAgent: string
  readonly log: Log
  onLost(): void // another leads: the process must end
}

export interface Manager {
  // Resolves when nothing is left.
  stop(): Promise<void>
}

const silenceSeconds = 900 // longer than any watch lasts
const passSeconds = 600

export async function serveManager({
  settings,
  access,
  controllers,
  userAgent,
  log,
  onLost,
}: Served): Promise<Manager> {
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
    controller: 'capt.appthrust.io/manager',
    instance: identity,
    onTrouble: (error) => log.warn('an event was dropped', { error }),
  })
  const parts = (['infrastructure', 'control-plane'] as const).filter(
    (part) => settings.enabled.includes('all') || settings.enabled.includes(part),
  )

  const cache = createCache({
    client,
    clock,
    random: Math.random,
    trouble: (resource, error) => log.warn('a watch had trouble', { resource: resourceName(resource), error }),
  })
  const manager = createManager({
    controllers: controllers.filter(({ group }) => parts.includes(group)),
    client,
    cache,
    clock,
    log,
    metrics,
    record: (subject, { type, reason, note }) => recorder.record(subject, { type, reason, note, action: reason }),
    concurrency: settings.concurrency,
    ...(settings.namespace && { namespace: settings.namespace }),
    ...(settings.watchFilter && { watchFilter: settings.watchFilter }),
  })

  async function lead(): Promise<void> {
    log.info('leading', { identity })
    // Who sees one namespace only cannot rewrite what is in the others.
    if (!settings.namespace && parts.includes('infrastructure')) void migrate({ client, resources: kinds, clock, log })
    if (await cache.whenSynced()) manager.work()
  }

  const leadership = createLeadership({
    elections: parts.map((part) => (onLeading: () => void) => {
      const name = leases[part]
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
    onLeading: () => void lead(),
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
  cache.resync(settings.syncMs)
  for (const [resource, watches] of Map.groupBy(cache.watches(), (watch) => watch.resource)) {
    const sum = (ofEach: (watch: Reflecting) => number) => watches.reduce((all, watch) => all + ofEach(watch), 0)
    metrics.cached.read({ resource }, () => sum(({ size }) => size()))
    metrics.watchRestarts.read({ resource }, () => sum(({ restarts }) => restarts()))
    metrics.watchSilence.read({ resource }, () => Math.max(...watches.map(silenceOf)))
  }
  leadership.start()

  return {
    async stop() {
      await manager.stop()
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
