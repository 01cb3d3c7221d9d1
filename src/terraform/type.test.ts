import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyType } from '../../test/terraform-types.ts'
import { misfit, parseType, TypeSyntaxError, tellType } from './type.ts'

test.each([
  'string',
  'any',
  'list(string)',
  'map(set(number))',
  'tuple([string, bool])',
  'tuple([])',
  'object({})',
  'object({ name = string, size = optional(number), zones = list(string) })',
])('%s is read, and told as it was written', (text) => {
  expect(tellType(parseType(text))).toBe(text)
})

test('newlines, colons, quotes and defaults are read as Terraform reads them', () => {
  const text =
    'object({\n  "name" : string\n  size = optional(number, max(1, 2)),\n\n  tags = optional(map(string), { a = "}" })\n})'
  expect(tellType(parseType(text))).toBe(
    'object({ name = string, size = optional(number), tags = optional(map(string)) })',
  )
})

test.each([
  ['text', '"text" is no type: write string, number, bool, any, list(…)'],
  ['list', 'expected "(", found the end'],
  ['list(strng)', '"strng" is no type'],
  ['list(string', 'expected ")", found the end'],
  ['list(string))', 'expected the end, found ")"'],
  ['object({ a = string b = number })', 'expected ",", found "b"'],
  ['object({ a = string, a = number })', 'attribute "a" stands twice'],
  ['object({ 1 = string })', '"1" is no name of an attribute'],
  ['tuple(string)', 'expected "[", found "string"'],
  ['optional(string)', '"optional" is no type'],
  ['', '"the end" is no type'],
])('%o is no type', (text, says) => {
  expect(() => parseType(text)).toThrow(TypeSyntaxError)
  expect(() => parseType(text)).toThrow(says)
})

test('every type that is told is read again as itself', () => {
  fc.assert(
    fc.property(anyType(), (type) => {
      expect(parseType(tellType(type))).toEqual(type)
    }),
  )
})

describe('a value', () => {
  test.each<[string, unknown]>([
    ['string', 'a'],
    ['string', 1],
    ['string', true],
    ['number', 1.5],
    ['number', '2'],
    ['bool', false],
    ['bool', 'true'],
    ['list(string)', ['a', 1]],
    ['list(string)', null],
    ['set(number)', []],
    ['map(number)', { a: 1, b: '2' }],
    ['tuple([string, number])', ['a', 1]],
    ['object({ a = string, b = optional(number) })', { a: 'x', extra: [] }],
    ['any', { anything: ['goes'] }],
    ['list(any)', [1, 'a', {}]],
  ])('fits %s: %o', (type, value) => {
    expect(misfit(parseType(type), value)).toBeUndefined()
  })

  test.each<[string, unknown, string]>([
    ['string', ['a'], 'value must be string, and is a list of 1'],
    ['number', 'two', 'value must be number, and is text'],
    ['bool', 1, 'value must be bool, and is a number'],
    ['list(string)', 'a', 'value must be list(string), and is text'],
    ['list(number)', [1, 'x'], 'value[1] must be number, and is text'],
    ['map(string)', { a: {} }, 'value["a"] must be string, and is an object'],
    ['tuple([string])', [], 'value must be tuple([string]), and is a list of 0'],
    ['object({ a = string })', {}, 'value lacks the attribute a'],
    ['object({ a = object({ b = number }) })', { a: { b: 'x' } }, 'value.a.b must be number, and is text'],
  ])('does not fit %s: %o', (type, value, says) => {
    expect(misfit(parseType(type), value)).toBe(says)
  })

  test('is never told, only its kind: it may be a secret', () => {
    expect(misfit(parseType('number'), 'hunter2')).not.toContain('hunter2')
  })
})
