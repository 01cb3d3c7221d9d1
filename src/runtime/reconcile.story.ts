import { expect, test } from 'vitest'
import { isWrite } from '../../test/bed/audit.ts'
import { theBed } from '../../test/bed/story.ts'
import { aClient } from '../../test/reaching.ts'
import { vocabulary } from '../api/condition.ts'
import { ConfigMap } from '../api/neighbours.ts'
import type { KubeObject } from '../api/resource.ts'
import { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import { isConflict, isContested } from '../kube/errors.ts'
import type { Effect, Plan } from './plan.ts'
import { carryOut, type Hands } from './reconcile.ts'

const bed = theBed()
const say = vocabulary(WorkspaceTemplate.words)
const finalizer = 'capt.appthrust.io/story'

async function aStage() {
  const namespace = await bed.namespace('carry-out')
  const userAgent = `carry-out-${namespace}`
  const client = aClient(bed.kubeconfig, { userAgent })
  const key = { namespace, name: 'demo' }
  const template: WorkspaceTemplate = {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
    kind: 'WorkspaceTemplate',
    metadata: { ...key, annotations: { 'cluster.x-k8s.io/paused': '' } }, // CAPT's own manager leaves it alone
    spec: { template: { spec: { forProvider: { source: 'Inline', module: '#' } } } },
  }
  await client.create(WorkspaceTemplate, template)
  const read = async () => client.get(WorkspaceTemplate, key)
  const cached = new Map<string, KubeObject>()
  const told: string[] = []
  const hands: Hands = {
    client,
    // The cache as a map that the test fills: what it does not hold was not seen yet.
    read: { get: (_, { name }) => cached.get(name) as never, list: () => [], byIndex: () => [], keysAt: () => [] },
    fieldManager: 'capt-story',
    now: () => '2026-11-16T12:00:00Z',
    record: (_, { reason }) => void told.push(reason),
    count: ({ reason }) => void told.push(reason),
  }
  const configMap = (name: string, data: Record<string, string>): ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name },
    data,
  })
  const carry = async (plan: Partial<Plan>, subject?: WorkspaceTemplate) =>
    carryOut(
      WorkspaceTemplate,
      subject ?? (await read()),
      { effects: [], conditions: [], wake: 'onChange', ...plan },
      hands,
    )
  const writes = async () =>
    (await bed.audit({ namespace }))
      .filter((each) => each.userAgent === userAgent && isWrite(each))
      .map(({ verb, resource, name, code }) => `${verb} ${resource} ${name} ${code}`)
      .slice(1) // the making of the template
  return { namespace, client, key, read, carry, writes, cached, told, configMap }
}

const apply = (object: ConfigMap): Effect => ({ do: 'apply', resource: ConfigMap, object })

test('effects come in their order, then the status; done again, nothing is written', async () => {
  const { carry, read, cached, client, key, told, writes, configMap } = await aStage()
  const plan: Partial<Plan> = {
    effects: [
      { do: 'addFinalizer', finalizer },
      apply(configMap('child', { a: '1' })),
      { do: 'tell', type: 'Normal', reason: 'Made', note: '' },
    ],
    conditions: [say('Ready', 'Valid')],
    status: { revision: 'one' },
  }
  const first = await carry(plan)
  expect(first.did).toEqual(['addFinalizer', expect.stringContaining('apply ConfigMap')])
  expect(first.says).toBe('Ready=True(Valid)')
  const after = await read()
  expect(after.metadata.finalizers).toEqual([finalizer])
  expect(after.status).toEqual({
    revision: 'one',
    observedGeneration: 1,
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Valid',
        message: '',
        observedGeneration: 1,
        lastTransitionTime: '2026-11-16T12:00:00Z',
      },
    ],
  })
  cached.set('child', await client.get(ConfigMap, { ...key, name: 'child' }))
  const again = await carry(plan)
  expect(again).toMatchObject({ did: [], says: '', wake: 'onChange' })
  expect(told).toEqual(['Made', 'Made'])
  expect(await writes()).toEqual([
    'patch workspacetemplates demo 200',
    'patch configmaps child 201',
    'patch workspacetemplates/status demo 200',
  ])
})

test('when an effect fails the conditions are told, what else the status would say is not, and what follows is not done', async () => {
  const { carry, read, configMap } = await aStage()
  const effects = [apply(configMap('Not_A_Name', {})), apply(configMap('never', {}))]
  await expect(carry({ effects, conditions: [say('Ready', 'Valid')], status: { revision: 'two' } })).rejects.toThrow(
    'cannot apply ConfigMap',
  )
  const { status } = await read()
  expect(status).not.toHaveProperty('revision')
  expect(status?.conditions).toMatchObject([{ type: 'Ready', status: 'Unknown', reason: 'WriteFailed' }])
  expect(status?.conditions?.[0]?.message).toMatch(/^cannot apply ConfigMap .*Not_A_Name/)
})

test('what is made is not taken from somebody who was there unseen, and what is known is', async () => {
  const { carry, client, cached, namespace, configMap, key } = await aStage()
  const theirs = await client.create(ConfigMap, configMap('child', { a: 'theirs' }), { fieldManager: 'somebody' })
  const failure: unknown = await carry({ effects: [apply(configMap('child', { a: 'ours' }))] }).catch(
    (error: unknown) => error,
  )
  expect(isContested(failure), String(failure)).toBe(true)
  const child = { namespace, name: 'child' }
  expect(await client.get(ConfigMap, child)).toMatchObject({ data: { a: 'theirs' } })
  cached.set('child', theirs)
  await carry({ effects: [apply(configMap('child', { a: 'ours', b: 'more' }))] })
  const ours = await client.get(ConfigMap, { ...key, name: 'child' })
  expect(ours.data).toEqual({ a: 'ours', b: 'more' })
})

test('finalizers are shared, a field manager of its own wishes beside us, and a patch is of the object as it was seen', async () => {
  const { carry, client, cached, namespace, configMap } = await aStage()
  const child = { namespace, name: 'child' }
  const plain = configMap('child', { a: '1' })
  const held = { ...plain, metadata: { ...plain.metadata, finalizers: [finalizer] } }
  await carry({ effects: [apply(held)] })
  const shared = await client.patch<ConfigMap>(ConfigMap, child, {
    metadata: { finalizers: [finalizer, 'example.com/another'] },
  })
  cached.set('child', shared)
  expect(await carry({ effects: [apply(held)] })).toMatchObject({ did: [] })

  const marked = { ...plain, metadata: { ...plain.metadata, annotations: { paused: 'true' } } }
  await carry({ effects: [{ do: 'apply', resource: ConfigMap, object: marked, fieldManager: 'capt-pause' }] })
  const paused = await client.get(ConfigMap, child)
  expect(paused.metadata.annotations).toEqual({ paused: 'true' })
  const freed = await client.patch<ConfigMap>(ConfigMap, child, { metadata: { annotations: { paused: null } } })
  expect(freed.metadata.finalizers).toEqual([finalizer, 'example.com/another'])

  const release = (object: ConfigMap): Effect => ({
    do: 'patch',
    resource: ConfigMap,
    object,
    change: { metadata: { finalizers: ['example.com/another'] } },
  })
  const late: unknown = await carry({ effects: [release(paused)] }).catch((error: unknown) => error)
  expect(isConflict(late), String(late)).toBe(true)
  await carry({ effects: [release(freed)] })
  expect((await client.get(ConfigMap, child)).metadata.finalizers).toEqual(['example.com/another'])
  await client.patch(ConfigMap, child, { metadata: { finalizers: [] } })
  await client.remove(ConfigMap, child)
  // Gone meanwhile: nothing is made anew.
  await carry({ effects: [release(freed)] })
  await expect(client.get(ConfigMap, child)).rejects.toThrow('not found')
})

test('the subject itself can be patched, and what follows is written on top of it', async () => {
  const { carry, read } = await aStage()
  const subject = await read()
  const change = { metadata: { annotations: { noted: 'yes' } } }
  await carry(
    {
      effects: [
        { do: 'patch', resource: WorkspaceTemplate, object: subject, change },
        {
          do: 'patch',
          resource: WorkspaceTemplate,
          object: subject,
          change: { metadata: { labels: { and: 'more' } } },
        },
      ],
      conditions: [say('Ready', 'Valid')],
    },
    subject,
  )
  expect(await read()).toMatchObject({
    metadata: { annotations: { noted: 'yes', 'cluster.x-k8s.io/paused': '' }, labels: { and: 'more' } },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  })
})

test('a finalizer goes only when a live read has confirmed that all is gone', async () => {
  const { carry, read, client, key, cached, namespace, configMap } = await aStage()
  await carry({ effects: [{ do: 'addFinalizer', finalizer }, apply(configMap('child', {}))] })
  expect(cached.size).toBe(0) // nobody has told the cache of the child
  const leave: Partial<Plan> = {
    effects: [
      { do: 'removeFinalizer', finalizer, onceGone: [{ resource: ConfigMap, key: { namespace, name: 'child' } }] },
    ],
  }
  await client.remove(WorkspaceTemplate, key)
  const early = await carry(leave)
  expect(early.wake).toEqual({ afterSeconds: 5 })
  expect((await read()).metadata.finalizers).toEqual([finalizer])
  await client.remove(ConfigMap, { namespace, name: 'child' })
  const subject = await read()
  expect(await carry(leave, subject)).toMatchObject({ did: ['removeFinalizer'], says: '', wake: 'onChange' })
  await bed.kube.seeGone({ ...subject, metadata: subject.metadata })
  await carry(leave, subject) // once more, on an object that has left: no failure
})

test('what was decided on an old sight of the object is refused, and nothing is changed', async () => {
  const { carry, read, client, key } = await aStage()
  const old = await read()
  await client.patch(WorkspaceTemplate, key, { metadata: { labels: { changed: 'meanwhile' } } })
  const failure: unknown = await carry({ conditions: [say('Ready', 'Valid')] }, old).catch((error: unknown) => error)
  expect(isConflict(failure), String(failure)).toBe(true)
  expect((await read()).status).toBeUndefined()
})

test('an object is deleted by its uid: one of the same name that came after it stays', async () => {
  const { carry, client, namespace, configMap } = await aStage()
  const first = await client.create(ConfigMap, configMap('child', {}))
  await client.remove(ConfigMap, { namespace, name: 'child' })
  await client.create(ConfigMap, configMap('child', { second: 'life' }))
  const failure: unknown = await carry({ effects: [{ do: 'delete', resource: ConfigMap, object: first }] }).catch(
    (error: unknown) => error,
  )
  expect(isConflict(failure), String(failure)).toBe(true)
  expect((await client.get(ConfigMap, { namespace, name: 'child' })).data).toEqual({ second: 'life' })
})

test('what nothing was looked at for keeps its conditions', async () => {
  const { carry, read } = await aStage()
  await carry({ conditions: [say('Ready', 'Valid')] })
  const before = await read()
  expect(await carry({ others: 'stay' })).toMatchObject({ did: [], says: '', wake: 'onChange' })
  expect(await read()).toEqual(before)
})
