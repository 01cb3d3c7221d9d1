// A manager that looks only after labelled objects, on an API server in memory: what its own controllers make is among them.
import { expect, onTestFinished, test } from 'vitest'
import { cluster, controlPlane, network } from '../../test/controlplanes.ts'
import { apiInMemory } from '../../test/struck.ts'
import { until } from '../../test/until.ts'
import { CAPTCluster } from '../api/captcluster.ts'
import { CAPTControlPlane } from '../api/captcontrolplane.ts'
import { watchFilterLabel } from '../api/contract.ts'
import { Cluster } from '../api/neighbours.ts'
import { keyOf } from '../api/resource.ts'
import { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import { createCache } from '../runtime/cache.ts'
import { systemClock } from '../runtime/clock.ts'
import type { Log } from '../runtime/log.ts'
import { createManager } from '../runtime/manager.ts'
import { createMetrics } from '../runtime/metrics.ts'
import { settingsOf } from '../runtime/settings.ts'
import { nowhere } from './controlplane/outside.ts'
import { controllersOf } from './index.ts'

const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, with: () => silent, setLevel() {} }

test('a manager with --watch-filter looks after the applies of the clusters that it looks after', async () => {
  const objects = apiInMemory()
  const { client } = objects
  const labelled = { ...network, metadata: { ...network.metadata, labels: { [watchFilterLabel]: 'blue' } } }
  objects.put(Cluster, cluster)
  objects.put(CAPTCluster, labelled)
  objects.put(CAPTControlPlane, controlPlane)
  const cache = createCache({ client, clock: systemClock, random: Math.random, trouble() {} })
  const manager = createManager({
    controllers: controllersOf(settingsOf([]).settings, nowhere),
    client,
    cache,
    clock: systemClock,
    log: silent,
    metrics: createMetrics(systemClock),
    record() {},
    concurrency: 1,
    watchFilter: 'blue',
  })
  onTestFinished(async () => {
    await manager.stop()
    cache.stop()
  })
  cache.start()
  await cache.whenSynced()
  manager.work()
  const apply = await until(
    'the apply says something of itself',
    async () => {
      const found = objects.get(WorkspaceTemplateApply, { ...keyOf(network), name: 'demo-vpc' })
      return found?.status?.conditions && found
    },
    { withinSeconds: 10 },
  )
  expect(apply.metadata.labels).toMatchObject({ [watchFilterLabel]: 'blue' })
})
