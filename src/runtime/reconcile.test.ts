// On an API server in memory. What a real one says to it: reconcile.story.ts.
import { expect, test } from 'vitest'
import { objectsInMemory } from '../../test/objects.ts'
import { type Condition, vocabulary } from '../api/condition.ts'
import { ConfigMap } from '../api/neighbours.ts'
import { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import type { Plan } from './plan.ts'
import { carryOut } from './reconcile.ts'

const key = { namespace: 'default', name: 'demo' }
const say = vocabulary(WorkspaceTemplate.words)
const invalid: Condition = { ...say('Ready', 'InvalidModule', 'line 1'), lastTransitionTime: '2026-11-16T12:00:00Z' }

test.each<{ when: string; before: readonly Condition[]; onceDone: Pick<Plan, 'onceDone'>; says: string }>([
  { when: 'it is so anyway', before: [invalid], onceDone: {}, says: 'True Valid' },
  {
    when: 'it is so once all is done',
    before: [invalid],
    onceDone: { onceDone: ['Ready'] },
    says: 'False InvalidModule',
  },
  { when: 'nothing was said before', before: [], onceDone: { onceDone: ['Ready'] }, says: 'Unknown NotYetKnown' },
])('when an effect fails, a condition tells what is so: $when', async ({ before, onceDone, says }) => {
  const { client, put, get } = objectsInMemory()
  put(WorkspaceTemplate, {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
    kind: 'WorkspaceTemplate',
    metadata: key,
    status: { conditions: before },
  } as unknown as WorkspaceTemplate)
  put(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: key })
  const old = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key, resourceVersion: 'old' } }
  const plan: Plan = {
    effects: [{ do: 'patch', resource: ConfigMap, object: old, change: {} }],
    conditions: [say('Ready', 'Valid')],
    ...onceDone,
    wake: 'onChange',
  }
  const subject = await client.get(WorkspaceTemplate, key)
  const hands = {
    client,
    read: { get, list: () => [], byIndex: () => [], keysAt: () => [] },
    fieldManager: 'test',
    now: () => '2026-11-17T12:00:00Z',
    record() {},
    count() {},
  }
  await expect(carryOut(WorkspaceTemplate, subject, plan, hands)).rejects.toThrow('409')
  expect(get(WorkspaceTemplate, key)?.status?.conditions?.map(({ status, reason }) => `${status} ${reason}`)).toEqual([
    says,
  ])
})
