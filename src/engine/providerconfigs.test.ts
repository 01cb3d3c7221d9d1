import { expect, test } from 'vitest'
import { objectsInMemory } from '../../test/objects.ts'
import { tellKey } from '../api/resource.ts'
import { crossplane, type ProviderConfig, type ProviderConfigUsage, workspaceAPIs } from '../api/workspace.ts'
import type { Read } from '../runtime/cache.ts'
import { keepProviderConfig, usedBy } from './providerconfigs.ts'

const api = workspaceAPIs['tf.upbound.io']
const key = { name: 'default' }

const usage = (name: string, config = 'default'): ProviderConfigUsage => ({
  apiVersion: 'tf.upbound.io/v1beta1',
  kind: 'ProviderConfigUsage',
  metadata: { name, labels: { [crossplane.providerConfigLabel]: config } },
  providerConfigRef: { name: config },
  resourceRef: { apiVersion: 'tf.upbound.io/v1beta1', kind: 'Workspace', name },
})

// `late`: the cache knows of no usage.
function aStage({ late = false } = {}) {
  const objects = objectsInMemory()
  const config: ProviderConfig = {
    apiVersion: 'tf.upbound.io/v1beta1',
    kind: 'ProviderConfig',
    metadata: key,
    spec: {},
  }
  objects.put(api.providerConfig, config)
  const keysAt: Read['keysAt'] = (_, __, value) =>
    late
      ? []
      : objects
          .list(api.usage)
          .filter((each) => usedBy(each).includes(value))
          .map(({ metadata: { name } }) => ({ name }))
  const read: Read = { get: objects.get, list: objects.list, byIndex: () => [], keysAt }
  const settle = async () => {
    for (let round = 0; round < 3; round++) await keepProviderConfig(api, key, { client: objects.client, read })
  }
  return { objects, settle, is: () => objects.get(api.providerConfig, key) }
}

test('one that nobody uses is left alone', async () => {
  const { objects, settle } = aStage()
  await settle()
  expect(objects.writes).toEqual([])
})

test('its users are counted and it is held; unused again, it says so and stays held, as it was recorded', async () => {
  const { objects, settle, is } = aStage()
  objects.put(api.usage, usage('one'))
  objects.put(api.usage, usage('two'))
  objects.put(api.usage, usage('three', 'another'))
  await settle()
  expect(is()).toMatchObject({ status: { users: 2 }, metadata: { finalizers: [crossplane.inUseFinalizer] } })
  objects.remove(api.usage, { name: 'one' })
  objects.remove(api.usage, { name: 'two' })
  await settle()
  expect(is()?.status).toEqual({})
  expect(is()?.metadata.finalizers).toEqual([crossplane.inUseFinalizer])
})

test('deleted, it goes when its last user has', async () => {
  const { objects, settle, is } = aStage()
  objects.put(api.usage, usage('one'))
  await settle()
  objects.remove(api.providerConfig, key)
  await settle()
  expect(is()).toBeDefined()
  objects.remove(api.usage, { name: 'one' })
  await settle()
  expect(is()).toBeUndefined()
})

test('a cache that is late does not let it go', async () => {
  const { objects, settle, is } = aStage({ late: true })
  objects.change(api.providerConfig, key, { metadata: { finalizers: [crossplane.inUseFinalizer] } })
  objects.put(api.usage, usage('one'))
  objects.remove(api.providerConfig, key)
  await settle()
  expect(is()).toBeDefined()
})

test('a ClusterProviderConfig is not counted: the provider never did', () => {
  const ofCluster = { ...usage('one'), providerConfigRef: { kind: 'ClusterProviderConfig', name: 'default' } }
  expect(usedBy(ofCluster)).toEqual([])
  const ofTeam = { ...usage('one'), metadata: { name: 'one', namespace: 'team' } }
  expect(usedBy(ofTeam)).toEqual([tellKey({ namespace: 'team', name: 'default' })])
})
