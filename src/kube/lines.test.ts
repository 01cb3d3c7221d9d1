import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLines } from './lines.ts'

test('lines are the same however the bytes are chunked, in the middle of a character too', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme' }).filter((line) => !line.includes('\n'))),
      fc.string({ unit: 'grapheme' }).filter((rest) => !rest.includes('\n')),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      (wanted, rest, sizes) => {
        const bytes = Buffer.from(wanted.map((line) => `${line}\n`).join('') + rest)
        const lines = createLines()
        const seen: string[] = []
        for (let at = 0; at < bytes.length; ) {
          const size = sizes[at % sizes.length] ?? 1
          seen.push(...lines.push(bytes.subarray(at, at + size)))
          at += size
        }
        expect(seen).toEqual(wanted)
        expect(lines.rest()).toBe(rest)
      },
    ),
  )
})
