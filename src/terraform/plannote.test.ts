import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type PlanNote, readPlanNote, tellChanges, tellPlanNote } from './plannote.ts'

const quiet: PlanNote = { id: 'c0ffee', create: 0, update: 0, replace: 0, delete: 0, gone: [] }

const anyNote = fc.record(
  {
    id: fc.string({ minLength: 1 }),
    create: fc.nat(),
    update: fc.nat(),
    replace: fc.nat(),
    delete: fc.nat(),
    gone: fc.array(fc.string()),
    again: fc.array(fc.string()),
    held: fc.constantFrom('Destructive', 'Interrupted', 'AnotherCLI'),
    begun: fc.record({ revision: fc.string(), at: fc.constant('2026-11-16T12:00:00Z') }),
  },
  { requiredKeys: ['id', 'create', 'update', 'replace', 'delete', 'gone'] },
)

test('a note is read as it was told', () => {
  fc.assert(
    fc.property(anyNote, (note) => {
      expect(readPlanNote(tellPlanNote(note))).toEqual(note)
    }),
  )
})

test.each([
  ['nothing', undefined],
  ['no text', ''],
  ['no JSON', '{'],
  ['a word', '"held"'],
  ['null', 'null'],
  ['a list', '[]'],
  ['no id', JSON.stringify({ ...quiet, id: undefined })],
  ['an empty id', JSON.stringify({ ...quiet, id: '' })],
  ['a count that is none', JSON.stringify({ ...quiet, delete: '1' })],
  ['fewer than nothing', JSON.stringify({ ...quiet, create: -1 })],
  ['half a resource', JSON.stringify({ ...quiet, update: 0.5 })],
  ['addresses that are none', JSON.stringify({ ...quiet, gone: [1] })],
  ['doubts that are none', JSON.stringify({ ...quiet, again: 'all' })],
  ['a reason nobody knows', JSON.stringify({ ...quiet, held: 'Moody' })],
])('%s is no note', (_, text) => {
  expect(readPlanNote(text)).toBeUndefined()
})

test('a field that is not known yet does no harm', () => {
  expect(readPlanNote(JSON.stringify({ ...quiet, more: true }))).toEqual(quiet)
})

test.each<[Partial<PlanNote>, string]>([
  [{}, 'no resource changes'],
  [{ create: 3 }, '3 to create'],
  [{ create: 1, update: 2 }, '1 to create, 2 to update'],
  [{ create: 1, replace: 1, gone: ['aws_vpc.this'] }, '1 to create, 1 to replace (aws_vpc.this)'],
  [{ replace: 2, delete: 1, gone: ['a.b', 'c.d'] }, '2 to replace, 1 to delete (a.b, c.d, …)'],
])('of %j people read: %s', (changes, told) => {
  expect(tellChanges({ ...quiet, ...changes })).toBe(told)
})
