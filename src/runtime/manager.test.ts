import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { vocabulary } from '../api/condition.ts'
import { CustomResourceDefinition } from '../api/neighbours.ts'
import { type Key, type KubeObject, keyOf, type Resource } from '../api/resource.ts'
import { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import type { Client } from '../kube/client.ts'
import type { Cache, Wish } from './cache.ts'
import { controller, itself, mapped } from './controller.ts'
import type { Log } from './log.ts'
import { createManager } from './manager.ts'
import { createMetrics } from './metrics.ts'
import { idle } from './plan.ts'

const anObject = (name: string, resourceVersion = '1'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Any',
  metadata: { name, resourceVersion },
})
const say = vocabulary(WorkspaceTemplate.words)

// A controller that is woken by itself and by a neighbour, and whom it has looked at.
async function aManager(plan = idle) {
  const looked: string[] = []
  const known = new Map<string, string>() // resource versions, by name
  const handlers = new Map<Resource, NonNullable<Wish<KubeObject>['onChange']>>()
  const cache = {
    watch: (resource: Resource, { onChange }: Wish<KubeObject>) => onChange && handlers.set(resource, onChange),
    get: (_: Resource, { name }: { name: string }) => anObject(name, known.get(name)),
  } as unknown as Cache
  const clock = virtualClock()
  const manager = createManager({
    controllers: [
      controller({
        name: 'any',
        kind: WorkspaceTemplate,
        wokenBy: [itself(WorkspaceTemplate), mapped(CustomResourceDefinition, () => [{ name: 'a' }, { name: 'b' }])],
        observe: (_, subject: KubeObject) => looked.push(subject.metadata.name),
        decide: () => plan,
      }),
    ],
    client: { patch: async (_: Resource, { name }: Key) => anObject(name, '2') } as unknown as Client,
    cache,
    clock,
    log: { info() {}, error() {}, with: () => ({}) } as unknown as Log,
    metrics: createMetrics(clock),
    record() {},
    concurrency: 1,
  })
  manager.work()
  return {
    known,
    clock,
    async tell(resource: Resource, what: 'added' | 'resync', object: KubeObject) {
      handlers.get(resource)?.({ what, object, key: keyOf(object) } as never)
      for (let turn = 0; turn < 10; turn++) await setImmediate() // workers take one between two of their passes
      return looked.splice(0).toSorted().join(' ')
    },
  }
}

test('a change of a neighbour wakes whom it concerns; seen again unchanged, it wakes nobody', async () => {
  const { tell } = await aManager()
  expect(await tell(CustomResourceDefinition, 'added', anObject('x'))).toBe('a b')
  expect(await tell(CustomResourceDefinition, 'resync', anObject('x'))).toBe('')
})

test('an object that is seen again unchanged is looked at again', async () => {
  const { tell } = await aManager()
  expect(await tell(WorkspaceTemplate, 'resync', anObject('a'))).toBe('a')
})

test('nothing is decided on what is older than our own last write, but for an API server that has forgotten that', async () => {
  const { tell, known, clock } = await aManager({ ...idle, conditions: [say('Ready', 'Valid')] })
  const wakeBoth = async () => tell(CustomResourceDefinition, 'added', anObject('x'))
  expect(await wakeBoth()).toBe('a b')
  known.set('b', '2')
  expect(await wakeBoth()).toBe('b')
  await clock.advance(10_000)
  expect(await wakeBoth()).toContain('a')
})
