import { expect, test } from 'vitest'
import {
  asked,
  changed,
  deeds,
  having,
  leaving,
  made,
  messageOf,
  nowhereYet,
  said,
  workspaceDeed,
} from '../../../test/applies.ts'
import { annotations } from '../../api/keys.ts'
import type { Luggage } from '../../terraform/luggage.ts'
import { decide } from './decide.ts'
import type { Seen } from './seen.ts'

const packed = (seen: Seen, luggage: Partial<Luggage> = { backend: 'kubernetes' }): Seen => ({
  ...seen,
  luggage: seen.luggage && {
    metadata: {
      ...seen.luggage.metadata,
      annotations: { ...seen.luggage.metadata.annotations, [annotations.state]: JSON.stringify(luggage) },
    },
  },
})

test('one that came without its state is held, makes nothing, and says how to go on', () => {
  const plan = decide({ ...asked, luggage: undefined, isLuggageLost: true })
  expect(said(plan, 'Applied')).toBe('StateMissing=False')
  expect(messageOf(plan, 'Applied')).toMatch(
    /bring it, or restore its state \(capt state restore vpc --namespace team --from FILE --secret capt-terraform-state\/tfstate-team\.vpc-capt\), or, if nothing was built, begin anew with: kubectl annotate/,
  )
  expect(deeds(plan)).toBe('tell StateMissing')
})

test('one that is deleted where it just arrived does not leave behind in silence what it built elsewhere', () => {
  expect(messageOf(decide(leaving(packed(asked))), 'Deleting')).toContain('what it built elsewhere')
  const known = leaving(packed(asked))
  const here = { ...known, apply: changed(known.apply, {}, {}, { workspaceName: 'vpc' }) }
  expect(messageOf(decide(here), 'Deleting')).not.toContain('elsewhere')
})

test('one that is deleted where it came without its state does not go in silence', () => {
  const plan = decide(leaving({ ...asked, luggage: undefined, isLuggageLost: true }))
  expect(messageOf(plan, 'Deleting')).toContain('with which its state is moved, is not here')
  expect(messageOf(plan, 'Deleting')).toContain('capt.appthrust.io/force-delete=true')
  expect(deeds(plan)).toBe('')
})

const there = { backend: 'other', externalName: 'team.vpc', place: 's3 (bucket states)' } as const
const home = { is: 'elsewhere', place: 's3 (bucket states)' } as const
const underCrossplane: Seen = { ...asked, where: { ...nowhereYet, isCrossplane: true }, home }

test.each<[string, Seen]>([
  ['nothing was ever built', { ...underCrossplane, home: undefined }],
  ['its state is where it was', packed(underCrossplane, there)],
  [
    'our engine said no more than that it is elsewhere',
    packed(underCrossplane, { backend: 'other', externalName: 'team.vpc' }),
  ],
  ['our engine serves it, which looks itself', packed(asked)],
  [
    'it has had a Workspace here',
    packed({ ...underCrossplane, apply: changed(asked.apply, {}, {}, { workspaceName: 'vpc' }) }),
  ],
])('where it arrived, Crossplane is asked for it when %s', (_, seen) => {
  expect(deeds(decide(seen))).toContain(workspaceDeed)
})

test.each<[string, Seen, string]>([
  [
    'came along in the Secret',
    packed(underCrossplane),
    'its state came along in Secret team/vpc-state, which Crossplane cannot read',
  ],
  [
    'has another name',
    packed(underCrossplane, { ...there, externalName: 'old' }),
    'on the state old, and would be asked for on team.vpc',
  ],
  [
    'is in another bucket',
    packed({ ...underCrossplane, home: { ...home, place: 's3 (bucket others)' } }, there),
    'its state is in s3 (bucket states), and the ProviderConfig here leads to s3 (bucket others)',
  ],
  [
    'is elsewhere, and here states are in the cluster',
    packed({ ...underCrossplane, home: { is: 'bound', why: 'is in a Secret of a cluster' } }, there),
    'its state is in s3 (bucket states), and here it is in a Secret of a cluster',
  ],
])('where it arrived, nothing is asked of Crossplane when its state %s', (_, seen, why) => {
  const plan = decide(seen)
  expect(said(plan, 'Applied')).toBe('StateMissing=False')
  expect(messageOf(plan, 'Applied')).toContain(why)
  expect(messageOf(plan, 'Applied')).toContain(
    `kubectl annotate secret vpc-state --namespace team ${annotations.state}-`,
  )
  expect(deeds(plan)).toBe('tell StateMissing')
  expect(plan.wake).toEqual(seen.home ? { afterSeconds: 15 } : 'onChange')
})

test.each<[string, (seen: Seen) => Seen]>([
  ['goes on', (seen) => seen],
  ['is deleted', leaving],
])('what the Secret says of a state is forgotten when Crossplane has it and it %s', (_, then) => {
  const unpacks = 'patch Secret team/vpc-state'
  expect(deeds(decide(then(packed(having(made(), { isCrossplane: true }), there))))).toContain(unpacks)
  expect(deeds(decide(then(having(made(), { isCrossplane: true }))))).not.toContain(unpacks)
  expect(deeds(decide(then(packed(having(made())))))).not.toContain(unpacks)
})
