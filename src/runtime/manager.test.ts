import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { CustomResourceDefinition } from '../api/neighbours.ts'
import { type KubeObject, keyOf, type Resource } from '../api/resource.ts'
import { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import type { Client } from '../kube/client.ts'
import type { Cache, Wish } from './cache.ts'
import { controller, itself, mapped } from './controller.ts'
import type { Log } from './log.ts'
import { createManager } from './manager.ts'
import { createMetrics } from './metrics.ts'
import { idle } from './plan.ts'

const anObject = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Any', metadata: { name } })

// A controller that is woken by itself and by a neighbour, and whom it has looked at.
async function aManager() {
  const looked: string[] = []
  const handlers = new Map<Resource, NonNullable<Wish<KubeObject>['onChange']>>()
  const cache = {
    watch: (resource: Resource, { onChange }: Wish<KubeObject>) => onChange && handlers.set(resource, onChange),
    get: (_: Resource, { name }: { name: string }) => anObject(name),
  } as unknown as Cache
  const clock = virtualClock()
  const manager = createManager({
    controllers: [
      controller({
        name: 'any',
        kind: WorkspaceTemplate,
        wokenBy: [itself(WorkspaceTemplate), mapped(CustomResourceDefinition, () => [{ name: 'a' }, { name: 'b' }])],
        observe: (_, subject: KubeObject) => looked.push(subject.metadata.name),
        decide: () => idle,
      }),
    ],
    client: {} as Client,
    cache,
    clock,
    log: { info() {}, error() {}, with: () => ({}) } as unknown as Log,
    metrics: createMetrics(clock),
    record() {},
    concurrency: 1,
  })
  manager.work()
  return {
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
