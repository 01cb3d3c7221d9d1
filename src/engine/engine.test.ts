import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { aFolder } from '../../test/folder.ts'
import { objectsInMemory } from '../../test/objects.ts'
import { CustomResourceDefinition } from '../api/neighbours.ts'
import { resourceName } from '../api/resource.ts'
import type { Cache } from '../runtime/cache.ts'
import type { Log } from '../runtime/log.ts'
import { createMetrics } from '../runtime/metrics.ts'
import { createEngine, engineAPIs } from './engine.ts'

const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, with: () => silent, setLevel() {} }

test.each([
  ['that is nobody’s goes when it starts', engineAPIs, false],
  ['stays while an API is not served, whose Workspaces it does not see', engineAPIs.slice(1), true],
])('a work folder %s', async (_, served, stays) => {
  const { client, get, list, put } = objectsInMemory()
  for (const { workspace } of served) {
    put(CustomResourceDefinition, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: resourceName(workspace) },
    })
  }
  const cache: Cache = {
    get,
    list,
    byIndex: () => [],
    keysAt: () => [],
    watch() {},
    start() {},
    isSynced: () => true,
    whenSynced: async () => true,
    resync() {},
    watches: () => [],
    stop() {},
  }
  const clock = virtualClock()
  const root = aFolder()
  const folder = join(root, '42180608-1506-4965-b46d-0ba23170ca4b')
  mkdirSync(folder)
  const engine = createEngine({
    client,
    cache,
    clock,
    log: silent,
    metrics: createMetrics(clock),
    poll: { pollMs: 1000, jitterMs: 0, random: () => 0 },
    concurrency: 1,
    root,
    pass: async () => ({ wake: 'onChange', workspace: undefined, did: [], says: '' }),
  })
  await engine.work()
  expect(existsSync(folder)).toBe(stays)
  await engine.stop()
})
