import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isWithin } from './record.ts'

test.each<[string, unknown, unknown, boolean]>([
  ['nothing', {}, { a: 1 }, true],
  ['a field', { a: 1 }, { a: 1, b: 2 }, true],
  ['a field of another value', { a: 1 }, { a: 2 }, false],
  ['a field that is missing', { a: null }, {}, false],
  ['a wish left open', { a: undefined }, {}, true],
  ['a deeper field', { a: { b: [1, { c: 2 }] } }, { a: { b: [1, { c: 2, d: 3 }] } }, true],
  ['a shorter list', { a: [1] }, { a: [1, 2] }, false],
  ['a list in another order', { a: [2, 1] }, { a: [1, 2] }, false],
  ['a list for a record', { a: [] }, { a: {} }, false],
  ['a text that looks like the number', { a: '1' }, { a: 1 }, false],
])('%s', (_, part, whole, is) => {
  expect(isWithin(part, whole)).toBe(is)
})

test('everything is within itself, and within itself with more fields', () => {
  fc.assert(
    fc.property(fc.object(), (object) => {
      expect(isWithin(object, structuredClone(object))).toBe(true)
      expect(isWithin(object, { ...structuredClone(object), further: 1 })).toBe(!('further' in object))
    }),
  )
})
