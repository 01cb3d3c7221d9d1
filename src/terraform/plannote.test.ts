import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type PlanNote, readPlanNote, tellPlanNote } from './plannote.ts'

const note: PlanNote = {
  id: '0a1b',
  create: 1,
  update: 2,
  replace: 1,
  delete: 3,
  gone: ['aws_vpc.this[0]', 'aws_subnet.private["a"]'],
  held: 'Destructive',
}

test('a note is read as it was told', () => {
  expect(readPlanNote(tellPlanNote(note))).toEqual(note)
  const { held: _, ...free } = note
  expect(readPlanNote(tellPlanNote(free))).toEqual(free)
})

test('a note names the first 20 of what would go', () => {
  const many = { ...note, gone: Array.from({ length: 300 }, (_, index) => `aws_subnet.x[${index}]`) }
  expect(readPlanNote(tellPlanNote(many))?.gone).toEqual(many.gone.slice(0, 20))
  expect(readPlanNote(JSON.stringify(many))?.gone).toHaveLength(20)
})

test.each([
  ['no annotation', undefined],
  ['an empty one', ''],
  ['no JSON', '{'],
  ['no object', '[]'],
  ['null', 'null'],
  ['no id', '{"create":1}'],
])('%s is no note', (_, text) => {
  expect(readPlanNote(text)).toBeUndefined()
})

test('what makes no sense in a note is nothing', () => {
  const text = JSON.stringify({ id: 'x', create: '1', update: -1, replace: 1.5, gone: [1, 'a'], held: 'Because' })
  expect(readPlanNote(text)).toEqual({ id: 'x', create: 0, update: 0, replace: 0, delete: 0, gone: ['a'] })
})

test('whatever somebody writes there, it can be read', () => {
  const anything = fc.oneof(
    fc.string(),
    fc.json(),
    fc.record({ id: fc.string(), gone: fc.jsonValue() }).map((each) => JSON.stringify(each)),
  )
  fc.assert(
    fc.property(anything, (text) => {
      const { gone = [], create = 0 } = readPlanNote(text) ?? {}
      expect(gone.every((each) => typeof each === 'string') && Number.isInteger(create)).toBe(true)
    }),
  )
})
