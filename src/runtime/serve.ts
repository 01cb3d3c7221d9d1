// A manager process: its controllers, its Leases, and what else it does when it leads. Only wiring.
import { kinds } from '../api/kinds.ts'
import { providerOf, providers } from '../api/provider.ts'
import type { Controller } from './controller.ts'
import { leases } from './leadership.ts'
import { createManager } from './manager.ts'
import { migrate } from './migrator.ts'
import { type Process, type Served, serveProcess } from './process.ts'
import type { Settings } from './settings.ts'

export async function serveManager({
  controllers,
  ...served
}: Served<Settings> & { readonly controllers: readonly Controller[] }): Promise<Process> {
  const { settings } = served
  const parts = providers.filter((part) => settings.enabled.includes('all') || settings.enabled.includes(part))
  const ours = kinds.filter((kind) => parts.includes(providerOf(kind)))
  return serveProcess(served, {
    reporter: 'capt.appthrust.io/manager',
    leases: parts.map((part) => leases[part]),
    passSeconds: 600,
    prepare({ client, cache, clock, log, metrics, record }) {
      const manager = createManager({
        controllers: controllers.filter(({ group }) => parts.includes(group)),
        client,
        cache,
        clock,
        log,
        metrics,
        record,
        concurrency: settings.concurrency,
        ...(settings.namespace && { namespace: settings.namespace }),
        ...(settings.watchFilter && { watchFilter: settings.watchFilter }),
      })
      cache.resync(settings.syncMs)
      return {
        async lead() {
          // Who sees one namespace only cannot rewrite what is in the others.
          if (!settings.namespace) void migrate({ client, resources: ours, clock, log })
          if (await cache.whenSynced()) manager.work()
        },
        stop: manager.stop,
      }
    },
  })
}
