import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createScreen, fitting } from './screen.ts'

// As much of a terminal as a screen makes use of.
function aTerminal(columns: number) {
  let rows: string[] = ['$ capt tree demo --watch', '']
  let at = 1
  let isCursorShown = true
  const write = (text: string) => {
    for (const [, code, what, letter] of text.matchAll(/\p{Cc}\[([?\d]*)([A-Za-z])|([^])/gu)) {
      if (what === 'A') at -= Number(code)
      else if (what === 'K') rows[at] = rows[at]?.slice(0, column) ?? ''
      else if (what === 'J') rows = rows.slice(0, at + 1).with(at, '')
      else if (what !== undefined) isCursorShown = what === 'h'
      else if (letter === '\r') column = 0
      else if (letter === '\n') {
        at++
        column = 0
        rows[at] ??= ''
      } else {
        if (column === columns) {
          at++
          column = 0
        }
        rows[at] = `${(rows[at] ?? '').slice(0, column).padEnd(column)}${letter}${(rows[at] ?? '').slice(column + 1)}`
        column++
      }
    }
  }
  let column = 0
  return { write, size: () => ({ columns, rows: 24 }), rows: () => rows, isCursorShown: () => isCursorShown }
}

const broken = (line: string, columns: number) =>
  line === '' ? [''] : (line.match(new RegExp(`.{1,${columns}}`, 'g')) ?? [])

test('after any drawings the terminal shows the last one, below what was there before', () => {
  const drawing = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 14 }), { maxLength: 6 })
  fc.assert(
    fc.property(
      fc.array(drawing, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 3, max: 20 }),
      (drawings, columns) => {
        const terminal = aTerminal(columns)
        const screen = createScreen(terminal)
        expect(terminal.isCursorShown()).toBe(false)
        for (const lines of drawings) screen.show(lines)
        screen.close()
        expect(terminal.isCursorShown()).toBe(true)
        const last = drawings.at(-1) ?? []
        const shown = last.flatMap((line) => broken(line, columns))
        expect(terminal.rows()).toEqual(['$ capt tree demo --watch', ...shown, ''])
      },
    ),
  )
})

test.each<[string, string[], number, string[]]>([
  ['all of it, where it fits', ['a', 'b', 'c'], 6, ['a', 'b', 'c', '', 'why']],
  [
    'the beginning and the end, where it does not',
    ['a', 'b', 'c', 'd'],
    6,
    ['a', 'b', '(and 2 more lines)', '', 'why'],
  ],
  ['a line at least', ['a', 'b', 'c', 'd'], 2, ['a', '(and 3 more lines)', '', 'why']],
])('a screen shows %s', (_, tree, rows, shown) => {
  expect(fitting(tree, ['', 'why'], rows)).toEqual(shown)
})
