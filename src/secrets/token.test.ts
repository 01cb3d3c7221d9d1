import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { aJwt, anAwsToken } from '../../test/pki.ts'
import { endOf, renewalOf } from './token.ts'

const from = new Date('2026-11-16T12:00:00Z')
const after = (seconds: number) => new Date(from.getTime() + seconds * 1000)
const seconds = from.getTime() / 1000

describe('until when a token is good', () => {
  test.each<[string, string, Date | undefined]>([
    ['one of a ServiceAccount', aJwt({ iat: seconds, exp: seconds + 3600 }), after(3600)],
    ['one that does not say since when', aJwt({ exp: seconds + 3600 }), after(3600)],
    ['one that does not end', aJwt({ iat: seconds }), undefined],
    ['one that ends in words', aJwt({ exp: 'soon' }), undefined],
    ['one that ends when no calendar does', aJwt({ exp: 1e300 }), undefined],
    ['one signed with an AWS identity, a minute early', anAwsToken(from), after(14 * 60)],
    [
      'one signed without a date',
      `k8s-aws-v1.${Buffer.from('https://sts.amazonaws.com/').toString('base64url')}`,
      undefined,
    ],
    ['one signed on no day', anAwsToken(from, '20269931T120000Z'), undefined],
    ['AWS in name only', 'k8s-aws-v1.', undefined],
    ['three parts of nothing', 'a.b.c', undefined],
    ['one that is just words', 's3cr3t', undefined],
    ['none', '', undefined],
  ])('%s', (_, token, end) => {
    expect(endOf(token)).toEqual(end)
  })

  test('whatever a token is, a date comes of it or nothing', () => {
    const claims = fc.record({ exp: fc.oneof(fc.double(), fc.integer(), fc.string()) }).map(aJwt)
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          claims,
          fc.string().map((text) => `k8s-aws-v1.${text}`),
        ),
        (token) => {
          expect(endOf(token)?.getTime()).not.toBeNaN()
        },
      ),
    )
  })
})

describe('the next token is had', () => {
  const share = (life: number, whose: string) =>
    (renewalOf({ from, until: after(life) }, whose).getTime() - from.getTime()) / (life * 1000)
  const many = Array.from({ length: 100 }, (_, index) => `uid-${index}`)
  const lives = fc.integer({ min: 10, max: 31_536_000 })

  test('after it was made, and long before it ends', () => {
    fc.assert(
      fc.property(lives, fc.string(), (life, whose) => {
        expect(share(life, whose)).toBeGreaterThanOrEqual(0.5)
        expect(share(life, whose)).toBeLessThanOrEqual(0.8)
      }),
    )
  })

  test('well before the fifteen minutes of AWS are over', () => {
    expect(Math.max(...many.map((whose) => share(14 * 60, whose))) * 14).toBeLessThan(10)
  })

  test('at about 80 % of the life of a ServiceAccount token', () => {
    expect(Math.min(...many.map((whose) => share(86_400, whose)))).toBeGreaterThanOrEqual(0.75)
  })

  test('not at the same moment for every cluster, but always at the same for one', () => {
    const all = many.map((whose) => share(14 * 60, whose))
    expect(Math.max(...all) - Math.min(...all)).toBeGreaterThan(0.1)
    expect(new Set(all).size).toBeGreaterThan(95)
    expect(share(14 * 60, 'uid-1')).toBe(all[1])
  })
})
