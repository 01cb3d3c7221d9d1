import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { vocabulary } from '../api/condition.ts'
import { CustomResourceDefinition } from '../api/neighbours.ts'
import { type Key, type KubeObject, keyOf, type Resource } from '../api/resource.ts'
import { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import type { Client } from '../kube/client.ts'
import type { Cache, Wish } from './cache.ts'
import { controller, isAskedForMore, itself, mapped } from './controller.ts'
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
  const sent: string[] = []
  const known = new Map<string, string>() // resource versions, by name
  const handlers = new Map<Resource, NonNullable<Wish<KubeObject>['onChange']>>()
  const cache = {
    watch: (resource: Resource, { onChange }: Wish<KubeObject>) => onChange && handlers.set(resource, onChange),
    get: (_: Resource, { name }: Key) => anObject(name, known.get(name)),
    versionOf: (_: Resource, { name }: Key) => known.get(name) ?? '1',
  } as unknown as Cache
  const clock = virtualClock()
  const manager = createManager({
    controllers: [
      controller({
        name: 'any',
        kind: WorkspaceTemplate,
        wokenBy: [
          itself(WorkspaceTemplate),
          mapped(CustomResourceDefinition, () => [{ name: 'a' }, { name: 'b' }], { isNews: isAskedForMore }),
        ],
        observe: (_, subject: KubeObject) => looked.push(subject.metadata.name),
        decide: () => plan,
      }),
    ],
    client: {
      async patch(_: Resource, { name }: Key) {
        sent.push(name)
        return anObject(name, '2')
      },
      async apply(_: Resource, object: KubeObject) {
        sent.push(object.metadata.name)
        return anObject(object.metadata.name, '2')
      },
    } as unknown as Client,
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
    sent: () => sent.splice(0).toSorted().join(' '),
    async tell(resource: Resource, what: 'added' | 'changed' | 'resync', object: KubeObject, before?: KubeObject) {
      handlers.get(resource)?.({ what, object, key: keyOf(object), before } as never)
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

test('a change of a neighbour that is none to those who read it wakes nobody', async () => {
  const { tell } = await aManager()
  const asked = (generation: number) => ({ ...anObject('x'), metadata: { name: 'x', generation } })
  expect(await tell(CustomResourceDefinition, 'changed', asked(1), asked(1))).toBe('')
  expect(await tell(CustomResourceDefinition, 'changed', asked(2), asked(1))).toBe('a b')
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

test('nothing is decided on a neighbour that is older than our own last write', async () => {
  const object = anObject('beside')
  const { tell, known, sent } = await aManager({
    ...idle,
    effects: [{ do: 'apply', resource: WorkspaceTemplate, object: { ...object, kind: 'Other' } }],
  })
  const wake = async () => tell(WorkspaceTemplate, 'added', anObject('a'))
  expect(await wake()).toBe('a')
  expect(sent()).toBe('beside')
  expect(await wake()).toBe('')
  known.set('beside', '2')
  expect(await wake()).toBe('a')
})

test('words that turn nothing wait for a second, for there may be better ones by then', async () => {
  const { tell, clock, sent } = await aManager({ ...idle, conditions: [say('Ready', 'InvalidModule')] })
  const wake = async () => tell(WorkspaceTemplate, 'added', anObject('a'))
  await wake()
  await clock.advance(500)
  await wake()
  expect(sent()).toBe('')
  await clock.advance(499)
  expect(sent()).toBe('')
  await clock.advance(1)
  expect(sent()).toBe('a')
})
