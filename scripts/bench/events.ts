// Events a second through the runtime alone: from lines on the wire through cache and queue to decisions, nothing written.
// The API server is a thread of ours that is always ahead; templates that are told are already as CAPT wants them.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import { WorkspaceTemplate } from '../../src/api/workspacetemplate.ts'
import { workspaceTemplateController } from '../../src/controllers/workspacetemplate/index.ts'
import { createClient } from '../../src/kube/client.ts'
import { pathOf } from '../../src/kube/path.ts'
import { createCache } from '../../src/runtime/cache.ts'
import { systemClock as clock } from '../../src/runtime/clock.ts'
import { createLog } from '../../src/runtime/log.ts'
import { createManager } from '../../src/runtime/manager.ts'
import { createMetrics } from '../../src/runtime/metrics.ts'
import { anAuthority } from '../../test/bed/certificates.ts'
import { until } from '../../test/until.ts'
import type { Prepared } from './lines.ts'
import { objectAt, perTemplate } from './objects.ts'

export async function eventsPerSecond(count: number): Promise<number> {
  const authority = anAuthority('bench')
  const { cert, key } = authority.issueServer('lines', ['127.0.0.1'])
  const lines = Array.from({ length: count }, (_, at) => lineOf(at)).join('')
  const prepared: Prepared = { cert, key, path: pathOf(WorkspaceTemplate, {}), lines }
  const server = new Worker(new URL('lines.ts', import.meta.url), { workerData: prepared })
  const [{ port }] = (await once(server, 'message')) as [AddressInfo]
  let writes = 0
  const told = ({ method }: { readonly method: string }) => void (method === 'GET' || writes++)
  const access = {
    server: new URL(`https://127.0.0.1:${port}`),
    ca: authority.cert,
    namespace: 'default',
    credentials: async () => ({}),
    forget: () => {},
  }
  const client = createClient(access, { told })
  const log = createLog({ to: process.stderr, level: 'warn' })
  const metrics = createMetrics(clock)
  const trouble = (_: unknown, error: unknown) => log.error('the bench is broken', { error })
  const cache = createCache({ client, clock, random: Math.random, trouble })
  let passes = 0
  const counted = {
    ...workspaceTemplateController,
    plan: async (...seen: Parameters<typeof workspaceTemplateController.plan>) => {
      passes++
      return workspaceTemplateController.plan(...seen)
    },
  }
  const manager = createManager({
    controllers: [counted],
    client,
    cache,
    clock,
    log,
    metrics,
    record: () => {},
    concurrency: 10,
  })
  try {
    cache.start()
    await cache.whenSynced()
    manager.work()
    const began = performance.now()
    server.postMessage('go')
    await until('all events were decided on', async () => (passes >= count ? true : undefined), {
      everyMs: 5,
      withinSeconds: 120,
      giveUp: () => (writes > 0 ? 'a template was written: what is told must be as CAPT wants it' : undefined),
    })
    return count / ((performance.now() - began) / 1000)
  } finally {
    await manager.stop()
    cache.stop()
    client.close()
    await server.terminate()
  }
}

function lineOf(at: number): string {
  const { object, status } = objectAt(at * perTemplate)
  const metadata = { ...object.metadata, uid: `uid-${at}`, resourceVersion: String(at + 2) }
  const unused = { ...status, users: { count: 0, names: [] } } // there are no applies here
  return `${JSON.stringify({ type: 'ADDED', object: { ...object, metadata, status: unused } })}\n`
}
