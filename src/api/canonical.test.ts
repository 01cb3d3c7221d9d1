import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonical, hashOf } from './canonical.ts'

test('the order in which keys were written does not matter, the order of a list does', () => {
  expect(canonical({ b: [{ y: 1, x: null }], a: 'é' })).toBe('{"a":"é","b":[{"x":null,"y":1}]}')
  expect(hashOf({ a: 1, b: 2 })).toBe(hashOf({ b: 2, a: 1 }))
  expect(hashOf([1, 2])).not.toBe(hashOf([2, 1]))
})

test('what is undefined is left out, and nothing else', () => {
  expect(canonical({ a: undefined, b: null, c: false, d: '', e: [], f: {}, g: 0 })).toBe(
    '{"b":null,"c":false,"d":"","e":[],"f":{},"g":0}',
  )
})

test('a hash stays what it is from one version to the next', () => {
  expect(hashOf({ a: [1, 'x'] })).toBe('5e49f471d8b615a8ae0ecf0a53dbe2f5')
})

test('two values are written the same exactly when they are the same', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      expect(JSON.parse(canonical(one))).toEqual(JSON.parse(JSON.stringify(one)))
      expect(canonical(one) === canonical(other)).toBe(isSame(one, other))
    }),
  )
})

function isSame(one: unknown, other: unknown): boolean {
  try {
    expect(JSON.parse(JSON.stringify(one))).toStrictEqual(JSON.parse(JSON.stringify(other)))
    return true
  } catch {
    return false
  }
}
