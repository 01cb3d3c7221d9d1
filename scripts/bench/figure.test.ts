import { expect, test } from 'vitest'
import { figureTable, missedIn } from './figure.ts'

const figure = { what: 'a run', unit: 's', values: [3, 1, 2] }

test.each([
  ['without a budget', {}, ''],
  ['within its budget', { atMost: 2 }, 'kept'],
  ['beyond its budget', { atMost: 1.9 }, 'MISSED'],
  ['not measured at all', { atMost: 1, values: [] }, 'MISSED'],
  ['beyond its budget for a known reason', { atMost: 1, known: 'two cores' }, 'missed: two cores'],
])('a figure %s is told as such, and counted when nobody knew', (_, more, verdict) => {
  const told = { ...figure, ...more }
  const row = figureTable([told]).split('\n')[2]?.split('|')
  expect(row?.[5]?.trim()).toBe(verdict)
  expect(missedIn([told])).toEqual(verdict === 'MISSED' ? [told] : [])
})
