import { expect, test } from 'vitest'
import {
  altered,
  asked,
  changed,
  deeds,
  done,
  having,
  leaving,
  made,
  noted,
  nowhereYet,
} from '../../../test/applies.ts'
import { blockMoveAnnotation, deleteForMoveAnnotation } from '../../api/contract.ts'
import { annotations } from '../../api/keys.ts'
import { crossplane, type Workspace, workspaceAPIs } from '../../api/workspace.ts'
import type { Plan } from '../../runtime/plan.ts'
import { decide } from './decide.ts'
import type { Seen } from './seen.ts'

const stilled = (seen: Seen): Seen => ({ ...seen, pause: { ...seen.pause, by: ['Cluster team/demo is paused'] } })
const since = '2026-11-16T12:00:00.000Z'
const letGo = { metadata: { annotations: { [blockMoveAnnotation]: null } } }
const drops = (plan: Plan) =>
  plan.effects.some((each) => each.do === 'patch' && JSON.stringify(each.change) === JSON.stringify(letGo))

// As it is in the middle of a move.
const orphaned = { managementPolicies: ['Observe', 'Create', 'Update', 'LateInitialize'] }
const readied = (notes: object = {}, spec: object = orphaned): Workspace => {
  const workspace = made(asked, done, {
    [crossplane.paused]: 'true',
    [annotations.paused]: 'true',
    [annotations.moved]: since,
    ...notes,
  })
  return altered(workspace, {}, spec)
}
const answered = (seen: Seen, when = since): Seen => ({
  ...seen,
  luggage: seen.luggage && {
    metadata: {
      ...seen.luggage.metadata,
      annotations: { ...seen.luggage.metadata.annotations, [annotations.moved]: when },
    },
  },
})
const here = (seen: Seen): Seen => ({ ...seen, apply: changed(seen.apply, {}, {}, { workspaceName: 'vpc' }) })
const packed = (seen: Seen): Seen => ({
  ...seen,
  luggage: seen.luggage && {
    metadata: {
      ...seen.luggage.metadata,
      annotations: { ...seen.luggage.metadata.annotations, [annotations.state]: '{"backend":"kubernetes"}' },
    },
  },
})

test.each<[string, Seen, boolean]>([
  ['nothing was made yet', stilled(asked), true],
  ['its Workspace is away, and nothing tells of its state', stilled(here(asked)), false],
  ['its Workspace is away, and its state is packed', stilled(here(packed(asked))), true],
  ['the Workspace goes on', stilled(having(made())), false],
  ['the engine has not looked', stilled(having(readied())), false],
  ['the engine has looked', answered(stilled(having(readied()))), true],
  ['the engine has looked in an earlier pause', answered(stilled(having(readied())), 'before'), false],
  ['what it built would be destroyed', answered(stilled(having(readied({}, {})))), false],
  ['it is not paused any more', answered(stilled(having(readied({ [crossplane.paused]: 'false' })))), false],
  ['its Secret is gone', { ...stilled(having(readied())), luggage: undefined }, false],
  ['nobody pauses it', answered(having(readied())), false],
  ['nobody serves its Workspace', stilled({ ...asked, where: { ...nowhereYet, isServed: false } }), false],
])('it may be moved when %s: %s', (_, seen, may) => {
  expect(drops(decide(seen))).toBe(may)
})

test.each(['tf.m.upbound.io', 'tf.upbound.io'] as const)(
  'in a pause a Workspace of %s is kept, also when it goes',
  (group) => {
    const api = workspaceAPIs[group]
    const [effect] = decide(stilled(having(made(), { api }))).effects
    expect(effect).toMatchObject({
      do: 'apply',
      fieldManager: 'capt-pause',
      object: {
        metadata: { annotations: { [crossplane.paused]: 'true', [annotations.moved]: expect.any(String) as string } },
        spec: api.isNamespaced ? orphaned : { deletionPolicy: 'Orphan' },
      },
    })
  },
)

test('since when it is so does not change while it is so', () => {
  const [effect] = decide(stilled(having(readied()))).effects
  expect(effect).toMatchObject({ object: { metadata: { annotations: { [annotations.moved]: since } } } })
})

test('when it goes on, all of that is taken back at once, and it cannot be moved any more', () => {
  const { effects } = decide(noted(having(readied()), { [blockMoveAnnotation]: undefined }))
  const notes = [crossplane.paused, annotations.paused, annotations.moved, annotations.before]
  const none = Object.fromEntries(notes.map((each) => [each, null]))
  expect(effects.filter((each) => each.do === 'patch' && each.object.kind === 'Workspace')).toMatchObject([
    { change: { metadata: { annotations: none }, spec: { managementPolicies: null } } },
  ])
  expect(JSON.stringify(effects)).toContain(`"${blockMoveAnnotation}":"true"`)
})

test('a pause of the user stays, and what else was said in ours does not', () => {
  const theirs = readied({ [annotations.paused]: undefined })
  const during = decide(stilled(having(theirs))).effects[0]
  expect(during).not.toHaveProperty(['object', 'metadata', 'annotations', annotations.paused])
  const after = decide(having(theirs)).effects.at(-1)
  expect(after).toMatchObject({ do: 'patch', change: { metadata: { annotations: { [annotations.moved]: null } } } })
  expect(after).not.toHaveProperty(['change', 'metadata', 'annotations', crossplane.paused])
})

test('what clusterctl deletes after a move is not touched', () => {
  for (const seen of [having(readied()), leaving(having(readied())), stilled(having(readied()))])
    expect(decide(noted(seen, { [deleteForMoveAnnotation]: '' })).effects).toEqual([])
})

test('the Secret for the state is there from birth, before where the Workspace is, is written down', () => {
  const plan = decide({ ...asked, luggage: undefined })
  expect(deeds(plan)).toMatch(/^apply Secret team\/vpc-state, patch WorkspaceTemplateApply team\/vpc, apply Workspace/)
  const [effect] = plan.effects
  expect(effect).toMatchObject({ object: { metadata: { ownerReferences: [{ uid: 'uid-of-vpc', controller: true }] } } })
  expect(effect).not.toHaveProperty('object.data')
  expect(deeds(decide({ ...asked, luggage: undefined, isLuggageBarred: true }))).not.toContain('Secret')
})

test('one that was stripped of its owner gets it back', () => {
  const { luggage } = asked
  const stripped = luggage && { metadata: { ...luggage.metadata, ownerReferences: [] } }
  expect(deeds(decide({ ...asked, luggage: stripped }))).toContain('apply Secret team/vpc-state')
  expect(deeds(decide(asked))).not.toContain('apply Secret')
})
