import { describe, expect, test } from 'vitest'
import { condition, messageOf, now } from '../../../test/applies.ts'
import { anEks, awaiting, building, but, gone, noted, ofCP, saysOf, serving } from '../../../test/controlplanes.ts'
import { aWorld, eks, probed } from '../../../test/passes.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { isCleanupDue } from './cleanup.ts'
import { decide } from './decide.ts'
import type { Inside, Seen } from './seen.ts'

const since = (seconds: number) => ({
  metadata: { deletionTimestamp: new Date(now.getTime() - seconds * 1000).toISOString() },
})
const clean: Inside = { is: 'clean' }
const left: Inside = { is: 'left', services: ['default/web', 'shop/till'] }
const unknown: Inside = { is: 'unknown', why: 'nobody listens at api.example:443' }
const asking = awaiting(anEks('done'))
const going = (inside: Inside, seconds = 0): Seen => ({ ...ofCP(serving, since(seconds)), eks: asking, inside })
const skip = 'kubectl annotate captcontrolplane demo --namespace team --overwrite capt.appthrust.io/skip-cleanup=true'
const eventsOf = (seen: Seen) => decide(seen).effects.flatMap((each) => (each.do === 'tell' ? [each.reason] : []))
const isLetGo = (seen: Seen) => decide(seen).effects.some((each) => each.do === 'delete')

describe('whether somebody has to look into the cluster', () => {
  const leaving: Seen = { ...ofCP(serving, gone), eks: asking }
  const skipNote = 'capt.appthrust.io/skip-cleanup'
  test.each<[string, Seen, boolean]>([
    ['it goes', leaving, true],
    ['it stays', serving, false],
    ['its apply was deleted by somebody', { ...serving, eks: asking }, true],
    ['its apply does not ask, for it is kept by something else', ofCP(serving, gone), false],
    ['its apply goes, and does not ask yet', { ...leaving, eks: but(anEks('done'), gone) }, false],
    ['it was done before', { ...leaving, eks: but(asking, noted('capt.appthrust.io/cleanup', 'done')) }, false],
    ['nothing was ever built', { ...leaving, eks: undefined }, false],
    ['nobody was ever in it', { ...ofCP(building, gone), eks: asking }, false],
    ['only its endpoint tells that somebody was', ofCP(leaving, { status: { initialization: {} } }), true],
    ['it is retained', ofCP(leaving, { spec: { retainOnDelete: true } }), false],
    ['it is to be skipped', ofCP(leaving, noted(skipNote, 'true')), false],
    ['it is not to be skipped', ofCP(leaving, noted(skipNote, 'false')), true],
    ['it is forced', ofCP(leaving, noted('capt.appthrust.io/force-delete', 'true')), false],
  ])('when %s', (_, seen, isDue) => {
    expect(isCleanupDue(seen)).toBe(isDue)
  })
})

describe('while something is left in it', () => {
  test.each<{ when: string; seen: Seen; says: string; message: string; again: number }>([
    {
      when: 'Services were just told to go',
      seen: going(left),
      says: 'WaitingForCleanup',
      message: 'waits until Services of type LoadBalancer are gone from the cluster: default/web, shop/till',
      again: 2,
    },
    { when: 'it takes a while', seen: going(left, 200), says: 'WaitingForCleanup', message: 'waits until', again: 20 },
    {
      when: 'it takes nearly long',
      seen: going(left, 590),
      says: 'WaitingForCleanup',
      message: 'waits until',
      again: 10,
    },
    {
      when: 'it takes long',
      seen: going(left, 600),
      says: 'CleanupTimeout',
      message: `waits until Services of type LoadBalancer are gone from the cluster: default/web, shop/till, for more than 10 minutes: see whether what looks after load balancers there still runs; or leave in AWS what they made: ${skip}`,
      again: 60,
    },
    {
      when: 'the API server does not answer',
      seen: going(unknown),
      says: 'WaitingForCleanup',
      message:
        'waits until it is known that no Service of type LoadBalancer is in the cluster: nobody listens at api.example:443',
      again: 5,
    },
    {
      when: 'the API server does not answer for long',
      seen: going(unknown, 3600),
      says: 'CleanupTimeout',
      message: `waits until it is known that no Service of type LoadBalancer is in the cluster: nobody listens at api.example:443, for more than 10 minutes: see whether the cluster is still there, and can be reached; or leave in AWS what they made: ${skip}`,
      again: 60,
    },
    {
      when: 'nobody has looked',
      seen: going({ is: 'unasked' }),
      says: 'WaitingForCleanup',
      message: 'waits until it is known that no Service of type LoadBalancer is in the cluster: nobody has looked yet',
      again: 5,
    },
  ])('because $when', ({ seen, says, message, again }) => {
    const plan = decide(seen)
    expect(saysOf(plan, 'Deleting')).toBe(says)
    expect(messageOf(plan, 'Deleting').slice(0, message.length)).toBe(message)
    expect(messageOf(plan, 'Available')).toBe(messageOf(plan, 'Deleting')) // which Cluster API shows
    expect(plan.wake).toEqual({ afterSeconds: again })
    expect(isLetGo(seen)).toBe(false)
  })

  test('an event tells that it takes long, once', () => {
    const toldOf = (seen: Seen) => {
      const conditions = decide(seen).conditions.map(({ type, status, reason, message }) =>
        condition(type, status === 'True' ? 'True' : 'False', reason, { message }),
      )
      return { status: { ...seen.controlPlane.status, conditions } }
    }
    expect(eventsOf(going(left, 599))).toEqual([])
    expect(eventsOf(going(left, 600))).toEqual(['CleanupTimeout'])
    expect(eventsOf(ofCP(going(left, 900), toldOf(going(left, 600))))).toEqual([])
    expect(eventsOf(ofCP(going(unknown, 900), toldOf(going(left, 600))))).toEqual([])
    // Of an apply that somebody deleted, which the control plane outlives.
    const deleted: Seen = { ...serving, eks: but(asking, since(900)), inside: left }
    expect(eventsOf(deleted)).toContain('CleanupTimeout')
    expect(eventsOf(ofCP(deleted, toldOf(deleted)))).not.toContain('CleanupTimeout')
  })
})

const notesIn = (seen: Seen) =>
  decide(seen).effects.flatMap((each) =>
    each.do === 'patch' ? [(each.change as { metadata?: { annotations?: object } }).metadata?.annotations] : [],
  )

test('its apply is deleted first, and destroys nothing until it is told that nothing is left', () => {
  const bare = ofCP(serving, gone)
  expect(decide(bare).effects).toMatchObject([
    { do: 'patch', change: { metadata: { annotations: { 'capt.appthrust.io/cleanup': 'pending' } } } },
    { do: 'delete' },
  ])
  const pending = { ...bare, eks: but(anEks('done'), noted('capt.appthrust.io/cleanup', 'pending')) }
  expect(decide(pending).effects).toMatchObject([{ do: 'delete' }])
  expect(notesIn(going(left))).toEqual([])
  expect(notesIn(going(clean))).toEqual([{ 'capt.appthrust.io/cleanup': 'done' }])
  expect(notesIn({ ...going(clean), eks: but(asking, noted('capt.appthrust.io/cleanup', 'done')) })).toEqual([])
})

test('whoever skips it is told what may be left, once', () => {
  const skipped = ofCP(going({ is: 'unasked' }, 900), noted('capt.appthrust.io/skip-cleanup', 'true'))
  expect(notesIn(skipped)).toEqual([{ 'capt.appthrust.io/cleanup': 'done' }])
  expect(eventsOf(skipped)).toEqual(['CleanupSkipped'])
  expect(eventsOf({ ...skipped, eks: but(asking, noted('capt.appthrust.io/cleanup', 'done')) })).toEqual([])
  const stays = ofCP({ ...serving, eks: asking }, noted('capt.appthrust.io/skip-cleanup', 'true'))
  expect(eventsOf(stays)).toContain('CleanupSkipped')
})

test('it is told that nobody could look into a cluster that was built and never answered', () => {
  const never: Seen = { ...ofCP(building, gone), eks: asking }
  expect(notesIn(never)).toEqual([{ 'capt.appthrust.io/cleanup': 'done' }])
  expect(eventsOf(never)).toEqual(['CleanupSkipped'])
  expect(eventsOf({ ...never, eks: but(asking, { status: { applied: undefined } }) })).toEqual([])
})

test('an apply that somebody deleted waits, and the control plane says for what', () => {
  const deleted = { ...serving, eks: but(asking, since(30)), inside: left }
  const plan = decide(deleted)
  expect(messageOf(plan, 'EKSApplied')).toContain(
    'is being deleted, and is made again when it is gone; it waits until Services of type LoadBalancer are gone',
  )
  expect(plan.effects.some((each) => each.do === 'patch' || each.do === 'apply')).toBe(false)
  expect(plan.wake).toEqual({ afterSeconds: 3 })
})

describe('an apply that somebody deleted hears the last word of the user', () => {
  const deleted: Seen = { ...serving, eks: asking }
  const heard = (seen: Seen) =>
    decide(seen).effects.flatMap((each) =>
      each.do === 'patch' && each.object.kind === 'WorkspaceTemplateApply' ? [each.change] : [],
    )
  const done = { 'capt.appthrust.io/cleanup': 'done' }
  const stays = { spec: { retainOnDelete: true } }
  const force = noted('capt.appthrust.io/force-delete', 'true')

  test.each<[string, Seen, readonly object[]]>([
    ['that it stays', ofCP(deleted, stays), [{ ...stays, metadata: { annotations: done } }]],
    [
      'that it is given up',
      ofCP(deleted, force),
      [{ metadata: { annotations: { ...done, ...force.metadata.annotations } } }],
    ],
    ['that it stays, before it asks', ofCP({ ...serving, eks: but(anEks('running'), gone) }, stays), [stays]],
    ['nothing else', { ...serving, eks: but(anEks('running'), gone) }, []],
  ])('%s', (_, seen, changes) => {
    expect(heard(seen)).toEqual(changes)
  })
})

describe('pass by pass', () => {
  const leaving = { deletionTimestamp: '2026-11-16T11:59:59Z' }
  const inCluster = { of: probed, on: leaving }
  // It served, and would be destroyed next.
  const aFarewell = async () => {
    const world = aWorld()
    await world.pass()
    world.put(WorkspaceTemplateApply, awaiting(eks))
    return world
  }

  test('it is looked with the kubeconfig that is kept, until nothing is left', async () => {
    const { pass, state } = await aFarewell()
    state.services = ['default/web']
    const first = await pass(inCluster)
    expect(first.did).toEqual(['read demo-kubeconfig', 'look inside as token-1'])
    expect(first.seen.inside).toEqual({ is: 'left', services: ['default/web'] })
    state.services = []
    expect((await pass(inCluster)).seen.inside).toEqual(clean)
  })

  test.each<[string, (world: ReturnType<typeof aWorld>) => void]>([
    ['it is gone, as with a whole namespace', ({ remove }) => ['demo-kubeconfig', 'demo-eks-connection'].map(remove)],
    [
      'it is not taken any more',
      ({ state }) => Object.assign(state.answers, { 'token-1': { is: 'no', why: 'x', isRejected: true } }),
    ],
  ])('with another one when %s', async (_, happens) => {
    const world = await aFarewell()
    happens(world)
    const { seen, did } = await world.pass(inCluster)
    expect(seen.inside).toEqual(clean)
    expect(did.at(-1)).toBe('look inside as token-2')
  })

  test('it is not known when nobody answers, and that is asked once', async () => {
    const { pass, state } = await aFarewell()
    state.answer = { is: 'no', why: 'nobody listens', isSilent: true }
    const { seen, did } = await pass(inCluster)
    expect(seen.inside).toEqual({ is: 'unknown', why: 'nobody listens' })
    expect(did).toEqual(['read demo-kubeconfig', 'look inside as token-1'])
  })

  test('it is not known when there is no kubeconfig and none can be made', async () => {
    const { pass, remove } = await aFarewell()
    for (const each of ['demo-kubeconfig', 'demo-eks-connection']) remove(each)
    const { seen } = await pass({ ...inCluster, spec: { kubeconfig: { source: 'Template' } } })
    expect(seen.inside).toMatchObject({
      is: 'unknown',
      why: expect.stringContaining('there is no output kubeconfig') as string,
    })
  })

  test('though its Cluster is gone', async () => {
    const { pass } = await aFarewell()
    const { seen } = await pass({ on: { ...leaving, ownerReferences: [] } })
    expect(seen.inside.is).not.toBe('unasked')
  })

  test('nobody looks while it is paused, and again when it is done', async () => {
    const { pass, put } = await aFarewell()
    const still = { ...probed, spec: { ...probed.spec, paused: true } }
    expect((await pass({ of: still, on: leaving })).did).toEqual([])
    put(WorkspaceTemplateApply, but(awaiting(eks), noted('capt.appthrust.io/cleanup', 'done')))
    expect((await pass(inCluster)).did).toEqual([])
  })
})
