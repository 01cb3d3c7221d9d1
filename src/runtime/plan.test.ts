import { expect, test } from 'vitest'
import { ConfigMap } from '../api/neighbours.ts'
import { type Effect, joined, type Situation, type Stage, stageOf } from './plan.ts'

const finalizer = 'infrastructure.cluster.x-k8s.io/captcluster'
const object = (metadata: object) => ({ apiVersion: 'v1', kind: 'X', metadata: { name: 'demo', ...metadata } })
const annotated = (name: string, metadata: object = {}) => object({ annotations: { [name]: '' }, ...metadata })
const leaving = { deletionTimestamp: '2026-11-16T00:00:00Z', finalizers: [finalizer] }
const ours = object({ finalizers: [finalizer] })
const paused = { spec: { paused: true } }

test.each<[string, Situation, Stage]>([
  ['it is managed by somebody else', { object: annotated('cluster.x-k8s.io/managed-by'), cluster: 'none' }, 'handsOff'],
  [
    'clusterctl deletes it after a move',
    { object: annotated('clusterctl.cluster.x-k8s.io/delete-for-move', leaving), finalizer },
    'handsOff',
  ],
  ['Cluster API has not claimed it', { object: ours, cluster: 'none', finalizer }, 'ownerless'],
  ['it is deleted before Cluster API claimed it', { object: object(leaving), cluster: 'none', finalizer }, 'leaving'],
  ['its Cluster is paused', { object: ours, cluster: paused, finalizer }, 'paused'],
  ['what it belongs to is paused', { object: ours, isPaused: true, finalizer }, 'paused'],
  ['it is paused itself', { object: annotated('cluster.x-k8s.io/paused'), cluster: {}, finalizer }, 'paused'],
  ['it is deleted while paused', { object: object(leaving), cluster: paused, finalizer }, 'paused'],
  ['it is deleted', { object: object(leaving), cluster: {}, finalizer }, 'leaving'],
  ['it is deleted and its Cluster is gone', { object: object(leaving), cluster: 'gone', finalizer }, 'leaving'],
  ['it has no finalizer yet', { object: object({}), cluster: {}, finalizer }, 'new'],
  ['it has only the finalizer of another', { object: object({ finalizers: ['x'] }), finalizer }, 'new'],
  ['it has ours', { object: ours, cluster: {}, finalizer }, 'live'],
  ['it needs none', { object: object({}) }, 'live'],
])('when %s', (_, situation, stage) => {
  expect(stageOf(situation)).toBe(stage)
})

test('a finalizer and the change of the same object that comes next are one write; nothing else is', () => {
  const add: Effect = { do: 'addFinalizer', finalizer }
  const patch = (of: object, change: object): Effect => ({
    do: 'patch',
    resource: ConfigMap,
    object: object(of),
    change: { ...change },
  })
  const noted = { metadata: { annotations: { a: '1' } } }
  const both = { metadata: { finalizers: ['x', finalizer], annotations: { a: '1' } } }
  const it = object({ uid: 'it', finalizers: ['x'] })
  const apply: Effect = { do: 'apply', resource: ConfigMap, object: object({}) }
  const last = patch({ uid: 'it' }, { spec: {} })
  expect(joined([add, patch({ uid: 'it' }, noted), apply, last], it)).toEqual([patch({ uid: 'it' }, both), apply, last])
  for (const effects of [[add], [add, apply, last], [add, patch({ uid: 'another' }, noted)], [last, add]])
    expect(joined(effects, it)).toEqual(effects)
  const has = object({ uid: 'it', finalizers: [finalizer] })
  expect(joined([add, last], has)).toEqual([add, last])
})
