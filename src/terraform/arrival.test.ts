import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Arriving, isUnproven, judgeArrival } from './arrival.ts'
import type { Luggage } from './luggage.ts'
import type { StateHead } from './state.ts'

const head = (serial: number, lineage = 'a'): StateHead => ({ lineage, serial, isEmpty: false })
const empty: StateHead = { lineage: 'begun', serial: 1, isEmpty: true }
const identity = { group: 'tf.upbound.io', externalName: 'team.net' }
const luggage: Luggage = { backend: 'kubernetes', ...identity, lineage: 'a', serial: 5, by: 'there', revision: 'r' }
const elsewhere: Luggage = { backend: 'other', ...identity, home: 's3 one', by: 'there', revision: 'r' }
const fromFile: Luggage = { backend: 'kubernetes', ...identity, lineage: 'a', serial: 5 }
const arriving: Arriving = {
  luggage,
  packed: head(5),
  found: 'absent',
  home: undefined,
  known: undefined,
  uid: 'here',
  revision: 'r',
}

test.each<[string, Partial<Arriving>, 'nothing' | 'take' | 'hold']>([
  ['nothing came', { luggage: undefined, packed: undefined }, 'nothing'],
  ['it came to where nothing is', {}, 'take'],
  ['it came to what a command began', { found: empty }, 'take'],
  ['it came back, newer', { found: head(2), known: head(2) }, 'take'],
  ['it came back, newer, and the old one is gone', { known: head(2) }, 'take'],
  ['it came back, as it was', { found: head(5), known: head(5) }, 'nothing'],
  ['an older one came back', { found: head(7), known: head(7) }, 'nothing'],
  ['an older one came back, and the newer is gone', { known: head(7) }, 'nothing'],
  ['it is what was left here, and the state is gone', { known: head(5) }, 'nothing'],
  ['somebody put an older one here again', { found: head(2), known: head(5) }, 'nothing'],
  ['another lineage is here', { found: head(9, 'b'), known: head(9, 'b') }, 'hold'],
  ['another lineage was here, and is gone', { known: head(9, 'b') }, 'hold'],
  [
    'another lineage is here, though the Secret says that it was filled here',
    { found: head(9, 'b'), uid: 'there' },
    'hold',
  ],
  ['it came without its bytes, to another lineage', { packed: undefined, found: head(9, 'b') }, 'hold'],
  ['what is here cannot be read', { found: 'damaged' }, 'nothing'],
  ['it came without its bytes', { packed: undefined }, 'hold'],
  ['it came without its bytes, to where it is', { packed: undefined, found: head(5) }, 'nothing'],
  ['it came without its bytes, to where it was', { packed: undefined, known: head(5) }, 'nothing'],
  ['states are elsewhere here', { found: undefined, home: 's3 one' }, 'hold'],
  ['it was elsewhere, and is to be here', { luggage: elsewhere, packed: undefined }, 'hold'],
  ['it is elsewhere', { luggage: elsewhere, packed: undefined, found: undefined, home: 's3 one' }, 'nothing'],
])('when %s', (_, more, is) => {
  expect(judgeArrival({ ...arriving, ...more }).is).toBe(is)
})

const heads = fc.record({
  lineage: fc.constantFrom('a', 'b'),
  serial: fc.integer({ min: 0, max: 9 }),
  isEmpty: fc.boolean(),
})
const situations = fc.record<Arriving>({
  luggage: fc.record({
    backend: fc.constantFrom('kubernetes' as const, 'other' as const),
    group: fc.constant(''),
    externalName: fc.constant(''),
    by: fc.constantFrom('here', 'there'),
  }),
  packed: fc.option(heads, { nil: undefined }),
  found: fc.oneof(heads, fc.constantFrom('absent' as const, 'damaged' as const, undefined)),
  home: fc.constant(undefined),
  known: fc.option(heads, { nil: undefined }),
  uid: fc.constant('here'),
  revision: fc.constant('r'),
})

const last = ({ found, known }: Arriving) =>
  [found, known].filter((each) => typeof each === 'object').filter(({ isEmpty }) => !isEmpty)

test('an older state never takes the place of a newer one of its lineage, nor one of a lineage that of another', () => {
  fc.assert(
    fc.property(situations, (each) => {
      const same = last(each).filter(({ lineage }) => lineage === each.packed?.lineage)
      const isNewest = same.every(({ serial }) => each.packed && each.packed.serial > serial)
      const isOnlyLineage = last(each).length === 0 || same.length > 0
      expect(judgeArrival(each).is !== 'take' || (isNewest && isOnlyLineage)).toBe(true)
    }),
  )
})

test('nothing is gone on with while one of its lineage is beside it that is newer than all that were here', () => {
  fc.assert(
    fc.property(situations, (each) => {
      const same = last(each).filter(({ lineage }) => lineage === each.packed?.lineage)
      const isOlder = same.length > 0 && same.every(({ serial }) => each.packed && each.packed.serial > serial)
      const isReadable = typeof each.found === 'object' || each.found === 'absent'
      expect(judgeArrival(each).is === 'nothing' && isOlder && isReadable).toBe(false)
    }),
  )
})

test.each<[string, Partial<Arriving>, boolean]>([
  ['nothing came', { luggage: undefined }, false],
  ['it came, and what was applied there is asked for here', {}, true],
  ['it came, and something else is asked for', { revision: 'other' }, false],
  ['it was applied here', { uid: 'there' }, false],
  ['it is what was left here', { known: head(5) }, false],
  ['it came back, newer', { known: head(2) }, true],
  ['it is in the same backend as it was, elsewhere', { luggage: elsewhere, home: 's3 one', uid: 'there' }, false],
  ['it came, and is in the same backend as it was', { luggage: elsewhere, home: 's3 one' }, true],
  ['the backend is another', { luggage: elsewhere, home: 's3 two', revision: 'other' }, true],
  ['the backend is another, with the same Workspace', { luggage: elsewhere, home: 's3 two', uid: 'there' }, true],
  ['it was in this cluster, and is elsewhere', { home: 's3 one', uid: 'there' }, true],
  ['which backend it was in is not told', { luggage: { backend: 'other', ...identity }, home: 's3 one' }, true],
  ['it was brought from a file', { luggage: fromFile }, true],
  ['it was brought from a file, and a newer one was left here', { luggage: fromFile, known: head(7) }, true],
  ['it was brought from a file, and is what was left here', { luggage: fromFile, known: head(5) }, false],
  ['what is told of it was lost', { luggage: { backend: 'kubernetes', group: '', externalName: '' } }, false],
])('whether a state may lack something, when %s', (_, more, is) => {
  expect(isUnproven({ ...arriving, ...more })).toBe(is)
})
