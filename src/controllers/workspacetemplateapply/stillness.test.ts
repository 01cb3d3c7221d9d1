import { describe, expect, test } from 'vitest'
import {
  altered,
  asked,
  but,
  changed,
  deeds,
  done,
  going,
  having,
  leaving,
  made,
  messageOf,
  noted,
  nowhereYet,
  said,
  template,
} from '../../../test/applies.ts'
import { blockMoveAnnotation } from '../../api/contract.ts'
import { annotations } from '../../api/keys.ts'
import { crossplane, type Workspace, type WorkspaceGroup, workspaceAPIs } from '../../api/workspace.ts'
import { decide } from './decide.ts'
import type { Seen } from './seen.ts'

const stilled = (seen: Seen): Seen => ({ ...seen, pause: { ...seen.pause, by: ['Cluster team/demo is paused'] } })
const unblocked = (seen: Seen): Seen => noted(seen, { [blockMoveAnnotation]: undefined })
const kept = (seen: Seen): Seen => ({ ...seen, pause: { ...seen.pause, isKept: true } })
const since = '2026-11-16T10:00:00.000Z'
const planOnly = ['Observe']

// As it is in our pause; with the policies it had before, and who paused it.
const paused = (before: object = { apply: 'uid-of-vpc', managementPolicies: ['*'] }, notes: object = {}): Workspace =>
  altered(
    made(asked, done, {
      [crossplane.paused]: 'true',
      [annotations.paused]: 'true',
      [annotations.moved]: since,
      [annotations.before]: JSON.stringify(before),
      ...notes,
    }),
    {},
    { managementPolicies: ['Observe', 'Create', 'Update', 'LateInitialize'] },
  )
const withoutTemplate = (workspace: Workspace): Seen => ({ ...having(workspace), template: undefined })
const effectsOn = (seen: Seen) =>
  decide(seen).effects.filter((each) => 'object' in each && each.object.kind === 'Workspace')

describe('in a pause', () => {
  const listed = { managementPolicies: ['Observe', 'Create', 'Delete'], deletionPolicy: 'Delete' } as const
  test.each<[WorkspaceGroup, Partial<Workspace['spec']>, object]>([
    ['tf.m.upbound.io', { managementPolicies: ['Observe'] }, { managementPolicies: planOnly }],
    ['tf.upbound.io', listed, listed],
    ['tf.upbound.io', {}, { managementPolicies: null, deletionPolicy: null }],
  ])('it is written down what a Workspace of %s could do before, and who paused it', (group, policies, could) => {
    const api = workspaceAPIs[group]
    const [effect] = effectsOn(stilled(having(altered(made(), {}, policies), { api })))
    const before = JSON.stringify({ apply: 'uid-of-vpc', ...could })
    expect(effect).toMatchObject({ object: { metadata: { annotations: { [annotations.before]: before } } } })
  })

  test('it is not forgotten by a second look', () => {
    const before = { apply: 'uid-of-vpc', managementPolicies: planOnly }
    const [effect] = effectsOn(stilled(having(paused(before))))
    expect(effect).toMatchObject({
      object: { metadata: { annotations: { [annotations.before]: JSON.stringify(before) } } },
    })
  })

  test('one that somebody has let go on is paused anew: what was answered before counts no more, and it cannot be moved', () => {
    const wentOn = paused(undefined, { [crossplane.paused]: 'false' })
    const { effects } = decide(unblocked(stilled(having(wentOn))))
    expect(effects).toMatchObject([
      { object: { metadata: { annotations: { [crossplane.paused]: 'true' } } } },
      { do: 'patch', change: { metadata: { annotations: { [blockMoveAnnotation]: 'true' } } } },
    ])
    expect(JSON.stringify(effects[0])).not.toContain(since)
  })

  test('but for who has taken the block away by hand, and let nothing go on', () => {
    expect(deeds(decide(unblocked(stilled(having(paused())))))).toBe('apply Workspace team/vpc')
  })

  test('a Workspace that is being destroyed is paused, and keeps the right to destroy', () => {
    const plan = decide(noted(stilled(having(altered(made(), going))), { [blockMoveAnnotation]: 'true' }))
    expect(plan.effects).toHaveLength(1)
    expect(plan.effects[0]).not.toHaveProperty(['object', 'spec'])
    expect(plan.effects[0]).not.toHaveProperty(['object', 'metadata', 'annotations', annotations.moved])
  })
})

describe('when it goes on', () => {
  const before = { apply: 'uid-of-vpc', managementPolicies: planOnly }
  const none = Object.fromEntries(
    [crossplane.paused, annotations.paused, annotations.moved, annotations.before].map((each) => [each, null]),
  )
  const unpaused = { do: 'patch', change: { metadata: { annotations: none }, spec: { managementPolicies: planOnly } } }

  test.each<[string, (workspace: Workspace) => Seen]>([
    ['its template is away', withoutTemplate],
    ['it is deleted', (workspace) => leaving(having(workspace))],
    [
      'it is deleted, and what it built stays',
      (workspace) => leaving(but({}, { retainOnDelete: true }, having(workspace))),
    ],
    ['it is given up', (workspace) => leaving(noted(having(workspace), { [annotations.forceDelete]: 'true' }))],
  ])('and %s, it gets back first what it could do before, and nothing more', (_, seen) => {
    expect(effectsOn(seen(paused(before)))).toMatchObject([unpaused])
  })

  test('and there is a template, that says what it may do', () => {
    const seen = having(paused(before))
    expect(effectsOn(seen).at(-1)).toMatchObject({ do: 'patch', change: { spec: { managementPolicies: null } } })
    const { spec } = template.spec.template
    const restricted = {
      ...template,
      spec: {
        ...template.spec,
        template: { ...template.spec.template, spec: { ...spec, managementPolicies: ['Observe'] } },
      },
    } as typeof template
    expect(effectsOn({ ...seen, template: restricted }).at(-1)).not.toHaveProperty(['change', 'spec'])
  })

  test('and every change is held by policies, that is not opened for a moment', () => {
    const held = but({}, { destructiveChanges: 'Hold' })
    const where = { ...nowhereYet, isCrossplane: true }
    const known = { applied: true, revision: 'older', workspaceName: 'vpc', workspaceAPI: 'tf.m.upbound.io' }
    const seen: Seen = { ...held, where, apply: changed(held.apply, {}, {}, known) }
    const still = altered(made(seen), { annotations: paused().metadata.annotations ?? {} })
    const changes = effectsOn(having(still, { isCrossplane: true }, seen)).filter((each) => each.do === 'patch')
    expect(changes).toMatchObject([{ change: { metadata: { annotations: none } } }])
    expect(changes[0]).not.toHaveProperty(['change', 'spec'])
  })

  test('what is to be kept paused is, and nothing else of a pause is kept', () => {
    const last = effectsOn(kept(having(paused(before)))).at(-1)
    expect(last).toMatchObject({ do: 'patch', change: { metadata: { annotations: { [annotations.moved]: null } } } })
    expect(last).not.toHaveProperty(['change', 'metadata', 'annotations', crossplane.paused])
    const only = made(asked, done, { [crossplane.paused]: 'true', [annotations.paused]: 'true' })
    expect(effectsOn(kept(having(only))).filter((each) => each.do === 'patch')).toEqual([])
  })

  test('what is to be kept paused is not destroyed, and says why', () => {
    const only = made(asked, done, { [crossplane.paused]: 'true', [annotations.paused]: 'true' })
    expect(messageOf(decide(kept(leaving(having(only)))), 'Deleting')).toContain(
      'is paused (annotation crossplane.io/paused, and is kept so: capt.appthrust.io/keep-paused): nothing is destroyed',
    )
  })
})

test('what is to be kept paused is made so where it came to, and stays so when it is asked for more', () => {
  const luggage = asked.luggage && {
    metadata: {
      ...asked.luggage.metadata,
      annotations: {
        ...asked.luggage.metadata.annotations,
        [annotations.state]: '{"backend":"kubernetes","lineage":"l"}',
      },
    },
  }
  const came = noted({ ...asked, luggage }, { [annotations.workspace]: 'tf.m.upbound.io/vpc' })
  const notesOf = (seen: Seen) =>
    decide(seen).effects.flatMap((each) =>
      each.do === 'apply' && each.object.kind === 'Workspace' ? [each.object.metadata.annotations] : [],
    )
  const ours = { [crossplane.paused]: 'true', [annotations.paused]: 'true' }
  expect(notesOf(kept(came))).toMatchObject([ours])
  expect(notesOf(came)).not.toMatchObject([ours])
  expect(notesOf(kept(asked))).not.toMatchObject([ours]) // nothing was built yet
  expect(notesOf(kept(but({}, { variables: { cidr: '10.1.0.0/16' } }, having(made(asked, done, ours)))))).toMatchObject(
    [ours],
  )
})

test('one that was let go and is given up leaves its Workspace as still as it is, for what it built may have been moved', () => {
  const gone = unblocked(leaving(noted(having(paused()), { [annotations.forceDelete]: 'true' })))
  const plan = decide(gone)
  expect(effectsOn(gone)).toEqual([])
  expect(plan.effects).toContainEqual(
    expect.objectContaining({ reason: 'ForceDeleted', note: expect.stringContaining('capt cleanup moved') as string }),
  )
  expect(plan.effects.some((each) => each.do === 'removeFinalizer')).toBe(true)
})

describe('a Workspace that a move has left behind', () => {
  const left = paused({ apply: 'uid-of-another', managementPolicies: ['*'] })
  const back = (seen: Seen): Seen => ({
    ...seen,
    luggage: seen.luggage && {
      metadata: {
        ...seen.luggage.metadata,
        annotations: { ...seen.luggage.metadata.annotations, [annotations.state]: '{"backend":"kubernetes"}' },
      },
    },
  })

  test('is not taken over by a new apply of that name, which says so and cannot be moved', () => {
    const plan = decide(unblocked(having(left)))
    expect(said(plan, 'Applied')).toBe('AdoptionFrozen=False')
    expect(messageOf(plan, 'Applied')).toMatch(
      /^Workspace team\/vpc was left behind by a move, and what it built may be/,
    )
    expect(plan.effects.filter((each) => each.do === 'patch')).toMatchObject([
      { do: 'patch', change: { metadata: { annotations: { [blockMoveAnnotation]: 'true' } } } },
    ])
    expect(deeds(decide(stilled(having(left))))).toBe('')
    expect(messageOf(decide(leaving(having(left))), 'Deleting')).toContain('was left behind by a move')
  })

  test('is that of one that comes back with what is known of its state, or that a user gives it to', () => {
    expect(said(decide(back(having(left))), 'Applied')).not.toContain('AdoptionFrozen')
    expect(said(decide(noted(having(left), { [annotations.adopt]: 'approved' })), 'Applied')).not.toContain('Frozen')
  })
})
