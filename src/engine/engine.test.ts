import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { aFolder } from '../../test/folder.ts'
import { objectsInMemory } from '../../test/objects.ts'
import { CustomResourceDefinition } from '../api/neighbours.ts'
import { type KubeObject, type Resource, resourceName } from '../api/resource.ts'
import type { ProviderConfig, Workspace } from '../api/workspace.ts'
import { ApiError } from '../kube/errors.ts'
import type { Cache, Wish } from '../runtime/cache.ts'
import type { Log } from '../runtime/log.ts'
import { createMetrics } from '../runtime/metrics.ts'
import type { Handler } from '../runtime/store.ts'
import { createEngine, engineAPIs } from './engine.ts'

const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, with: () => silent, setLevel() {} }
const [wide, near] = engineAPIs
if (!wide || !near?.clusterProviderConfig) throw new Error('two groups are served')
const nearConfig: Resource<ProviderConfig> = near.clusterProviderConfig

// An engine whose cache tells what a test puts into it.
function aStage({ concurrency = 4, root = aFolder() } = {}) {
  const clock = virtualClock()
  const objects = objectsInMemory()
  const handlers: { readonly resource: Resource; readonly onChange: Handler<KubeObject> }[] = []
  const passed: string[] = []
  const running: (() => void)[] = []
  const cache: Cache = {
    get: objects.get,
    versionOf: () => undefined,
    list: objects.list,
    byIndex: () => [],
    keysAt: () => [],
    watch<T extends KubeObject>(resource: Resource<T>, { onChange }: Wish<T> = {}) {
      if (onChange) handlers.push({ resource, onChange: onChange as Handler<KubeObject> })
    },
    start() {},
    isSynced: () => true,
    whenSynced: async () => true,
    resync() {},
    watches: () => [],
    stop() {},
  }
  const engine = createEngine({
    client: objects.client,
    cache,
    clock,
    log: silent,
    metrics: createMetrics(clock),
    poll: { pollMs: 600_000, jitterMs: 0, random: Math.random },
    concurrency,
    root,
    async pass(_, { name }) {
      passed.push(name)
      await new Promise<void>((end) => {
        running.push(end)
      })
      return { wake: 'onChange', workspace: undefined, did: [], says: '' }
    },
  })
  const tell = (resource: Resource, object: KubeObject) => {
    objects.put(resource, object)
    for (const each of handlers) {
      if (each.resource === resource)
        each.onChange({ what: 'added', key: object.metadata.name, object, before: undefined })
    }
  }
  return { engine, clock, objects, tell, passed, running }
}

const definition = (owned: boolean): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: resourceName(near.workspace),
    ...(owned && {
      ownerReferences: [{ apiVersion: 'pkg.crossplane.io/v1', kind: 'ProviderRevision', name: 'it', uid: '1' }],
    }),
  },
})
const byDefault = { name: 'default' }

test('the default configuration is made when its kind arrives after the engine', async () => {
  const { engine, objects, tell } = aStage()
  await engine.work()
  expect(objects.writes).toEqual([])
  tell(CustomResourceDefinition, definition(false))
  await expect.poll(() => objects.get(nearConfig, byDefault)?.spec.configuration ?? '').toContain('secret_suffix')
})

test('it is made when Crossplane gives the kind back, and not before', async () => {
  const { engine, clock, objects, tell } = aStage()
  tell(CustomResourceDefinition, definition(true))
  await engine.work()
  await clock.advance(0)
  expect(objects.get(nearConfig, byDefault)).toBeUndefined()
  tell(CustomResourceDefinition, definition(false))
  await expect.poll(() => objects.get(nearConfig, byDefault)).toBeDefined()
})

test('an API server that cannot make it is asked again, and nothing else waits for it', async () => {
  const { engine, clock, objects, tell, passed } = aStage()
  const { create } = objects.client
  const away = async () => {
    throw new ApiError({ doing: 'create it', code: 500, message: 'away' })
  }
  Object.assign(objects.client, { create: away })
  tell(CustomResourceDefinition, definition(false))
  tell(near.workspace, aWorkspace('demo'))
  await engine.work()
  await clock.advance(0)
  expect(passed).toEqual(['demo'])
  Object.assign(objects.client, { create })
  await clock.advance(5000)
  expect(objects.get(nearConfig, byDefault)).toBeDefined()
})
const aWorkspace = (name: string): Workspace => ({
  apiVersion: 'tf.m.upbound.io/v1beta1',
  kind: 'Workspace',
  metadata: { namespace: 'default', name },
  spec: { forProvider: { source: 'Inline', module: '' } },
})

test('no more Workspaces are worked on at a time than it was told', async () => {
  const { engine, clock, tell, passed, running } = aStage({ concurrency: 2 })
  await engine.work()
  for (const name of ['a', 'b', 'c']) tell(near.workspace, aWorkspace(name))
  await clock.advance(0)
  expect(passed).toEqual(['a', 'b'])
  running.shift()?.()
  await expect.poll(() => passed).toEqual(['a', 'b', 'c'])
})

test.each([
  ['that is nobody’s goes when it starts', engineAPIs, false],
  ['stays while an API is not served, whose Workspaces it does not see', engineAPIs.slice(1), true],
])('a work folder %s', async (_, served, stays) => {
  const root = aFolder()
  const folder = join(root, '42180608-1506-4965-b46d-0ba23170ca4b')
  mkdirSync(folder)
  const { engine, tell } = aStage({ root })
  for (const { workspace } of served) {
    const { metadata, ...about } = definition(false)
    tell(CustomResourceDefinition, { ...about, metadata: { ...metadata, name: resourceName(workspace) } })
  }
  await engine.work()
  expect(existsSync(folder)).toBe(stays)
  await engine.stop()
})

test('an engine that starts begins with those who wait for something', async () => {
  const { engine, clock, tell, passed } = aStage({ concurrency: 1 })
  const settled = (name: string): Workspace => ({
    ...aWorkspace(name),
    metadata: { namespace: 'default', name, generation: 1 },
    status: {
      conditions: [
        { type: 'Synced', status: 'True', reason: 'ReconcileSuccess', observedGeneration: 1, lastTransitionTime: '' },
      ],
    },
  })
  for (const name of ['a', 'b', 'c']) tell(near.workspace, settled(name))
  tell(near.workspace, aWorkspace('new'))
  await engine.work()
  await clock.advance(0)
  expect(passed).toEqual(['new'])
})
