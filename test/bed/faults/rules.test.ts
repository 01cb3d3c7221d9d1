import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Fault } from './fault.ts'
import { type Moment, type Occasion, rulesWithSeed } from './rules.ts'

const fault: Fault = { do: 'answer', code: 503 }
const read: Moment = { verb: 'get', path: '/api/v1/namespaces/demo' }

function struck(seed: number, occasion: Occasion, requests: number): boolean[] {
  const rules = rulesWithSeed(seed)
  rules.add(occasion, fault)
  return Array.from({ length: requests }, () => rules.strike(read) !== undefined)
}

test.each<[string, Occasion, boolean]>([
  ['any request', {}, true],
  ['its verb', { verb: 'get' }, true],
  ['another verb', { verb: 'list' }, false],
  ['its path', { path: /namespaces\/demo$/ }, true],
  ['another path', { path: /secrets/ }, false],
  ['its verb, another path', { verb: 'get', path: /secrets/ }, false],
  ['a new connection', { verb: 'connect' }, false],
])('a rule for %s', (_, occasion, strikes) => {
  expect(struck(1, occasion, 1)).toEqual([strikes])
})

test('the first rule that strikes wins, and a healed proxy has none', () => {
  const rules = rulesWithSeed(1)
  const first = rules.add({ times: 1 }, { do: 'answer', code: 409 })
  const second = rules.add({}, { do: 'answer', code: 500 })
  expect([rules.strike(read), rules.strike(read)]).toEqual([first.fault, second.fault])
  expect([first.strikes, second.strikes]).toEqual([[read], [read]])
  rules.clear()
  expect(rules.strike(read)).toBeUndefined()
})

describe('for any rule', () => {
  const occasions = fc.record({
    after: fc.nat(20),
    times: fc.nat(20),
    probability: fc.double({ min: 0, max: 1, noNaN: true }),
  })

  test('the same seed strikes the same requests', () => {
    fc.assert(
      fc.property(fc.integer(), occasions, (seed, occasion) => {
        expect(struck(seed, occasion, 50)).toEqual(struck(seed, occasion, 50))
      }),
    )
  })

  test('it strikes never before its time, and never more often than told', () => {
    fc.assert(
      fc.property(fc.integer(), occasions, (seed, occasion) => {
        const strikes = struck(seed, occasion, 50)
        expect(strikes.slice(0, occasion.after)).not.toContain(true)
        expect(strikes.filter(Boolean).length).toBeLessThanOrEqual(occasion.times)
      }),
    )
  })

  test('a probability is about how often it strikes', () => {
    const strikes = struck(42, { probability: 0.3 }, 2000).filter(Boolean).length
    expect(strikes / 2000).toBeCloseTo(0.3, 1)
  })
})
