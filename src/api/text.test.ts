import fc from 'fast-check'
import { expect, test } from 'vitest'
import { listed, shortened } from './text.ts'

test('a text that fits stays, another ends in a sign that there was more', () => {
  expect(shortened('abcde', 5)).toBe('abcde')
  expect(shortened('abcdef', 5)).toBe('ab…')
  expect(shortened('äöü', 5)).toBe('ä…')
})

test('no text is longer than it may be, nor cut within a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 3, max: 80 }), (text, most) => {
      const short = shortened(text, most)
      expect(Buffer.byteLength(short)).toBeLessThanOrEqual(most)
      expect(text.startsWith(short.replace(/…$/, '')) || short === text).toBe(true)
      expect(short).not.toContain('\uFFFD')
    }),
  )
})

test('of many only the first are listed, and how many more there are', () => {
  expect(listed(['a', 'b'])).toBe('a, b')
  expect(listed(['a', 'b', 'c'], 1, '; ')).toBe('a and 2 more')
})
