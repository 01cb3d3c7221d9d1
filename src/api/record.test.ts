import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isRecord, isWithin, type JsonRecord, mergePatch } from './record.ts'

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

// As RFC 7396 says.
function merged(target: unknown, patch: JsonRecord): JsonRecord {
  const result: Record<string, unknown> = { ...(isRecord(target) ? target : {}) }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = isRecord(value) ? merged(result[name], value) : value
  }
  return result
}

test('a merge patch makes the one into the other, and is empty when there is nothing to do', () => {
  const json = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true })
  // What cannot be said in a merge patch: null.
  const sayable = (record: JsonRecord): JsonRecord =>
    Object.fromEntries(
      Object.entries(record)
        .filter(([, value]) => value !== null)
        .map(([name, value]) => [name, isRecord(value) ? sayable(value) : value]),
    )
  fc.assert(
    fc.property(json, json, (before, after) => {
      const patch = mergePatch(sayable(before), after)
      expect(merged(sayable(before), patch)).toEqual(sayable(after))
      expect(mergePatch(sayable(after), after)).toEqual({})
    }),
  )
})
