import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createBackoff } from './backoff.ts'

test('waits double up to the longest, and begin anew after a reset', () => {
  const backoff = createBackoff({ firstMs: 200, longestMs: 1500, random: () => 1 })
  const waits = () => Array.from({ length: 5 }, () => backoff.next())
  expect(waits()).toEqual([200, 400, 800, 1500, 1500])
  backoff.reset()
  expect(waits()).toEqual([200, 400, 800, 1500, 1500])
})

test('every wait lies in the upper half of its span, however long it goes on', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { maxLength: 2000 }),
      (dice) => {
        const backoff = createBackoff({ firstMs: 1, longestMs: 1000, random: () => dice.shift() ?? 0 })
        for (let span = 1, left = dice.length; left > 0; left--, span = Math.min(1000, span * 2)) {
          const wait = backoff.next()
          expect(wait).toBeGreaterThanOrEqual(span / 2)
          expect(wait).toBeLessThanOrEqual(span)
        }
      },
    ),
    { numRuns: 20 },
  )
})
