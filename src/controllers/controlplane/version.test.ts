import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anEks, but, controlPlane } from '../../../test/controlplanes.ts'
import { minorOf, reported, walkOf } from './version.ts'

const wants = (version: string, ...notes: readonly string[]) =>
  but(controlPlane, {
    spec: { version },
    metadata: { annotations: Object.fromEntries(notes.map((each) => [`capt.appthrust.io/${each}`, ''])) },
  })
const runs = (cluster_version: string) => anEks('done', { cluster_version })

describe('how a version is walked to', () => {
  test.each<[string, string, Parameters<typeof walkOf>, object]>([
    ['nothing runs yet', 'all at once', [wants('v1.34.0'), undefined], { next: '1.34', observed: undefined }],
    ['it is being built', 'all at once', [wants('v1.34.0'), anEks('running')], { next: '1.34', observed: undefined }],
    ['it is there', 'it stays', [wants('v1.34.2'), runs('1.34')], { next: '1.34', goal: '1.34', isDown: false }],
    ['it is one minor behind', 'one step', [wants('v1.35.0'), runs('1.34')], { next: '1.35', goal: '1.35' }],
    ['it is three behind', 'the first step', [wants('1.34'), runs('1.31')], { next: '1.32', goal: '1.34' }],
    ['it is on its way', 'the next step', [wants('1.34'), runs('1.32')], { next: '1.33', goal: '1.34' }],
    [
      'it is over the tenth',
      'in numbers, not in letters',
      [wants('1.10'), runs('1.9')],
      { next: '1.10', isDown: false },
    ],
    ['it is ahead', 'it stays', [wants('1.33'), runs('1.34')], { next: '1.34', goal: '1.33', isDown: true }],
    [
      'it is ahead, and may go back',
      'it is tried',
      [wants('1.33', 'allow-downgrade'), runs('1.34')],
      { next: '1.33', isDown: false },
    ],
    ['EKS tells of itself', 'as without', [wants('1.34'), runs('v1.33.4-eks-abc')], { observed: '1.33', next: '1.34' }],
    [
      'EKS tells briefly of itself',
      'as without',
      [wants('1.35'), runs('1.33-eks')],
      { observed: '1.33', next: '1.34' },
    ],
    [
      'it tells no version, and is done',
      'what was asked for',
      [wants('1.35'), anEks('done', {})],
      { observed: '1.34', next: '1.35' },
    ],
    [
      'it tells none, and is at work',
      'what was told last',
      [but(wants('1.35'), { status: { version: 'v1.33.1' } }), anEks('running', {})],
      { observed: '1.33', next: '1.34' },
    ],
    ['it tells nonsense', 'what was asked for', [wants('1.35'), runs('latest')], { observed: '1.34' }],
  ])('when %s: %s', (_, __, [of, eks], walk) => {
    expect(walkOf(of, eks)).toMatchObject(walk)
  })

  test('it arrives, never by more than one minor at a time and never backwards', () => {
    const minor = fc.integer({ min: 20, max: 60 })
    fc.assert(
      fc.property(minor, minor, (from, to) => {
        fc.pre(from <= to)
        let at = from
        for (let step = 0; step < to - from; step += 1) {
          const { next } = walkOf(wants(`v1.${to}.0`), runs(`1.${at}`))
          expect(next).toBe(`1.${at + 1}`)
          at += 1
        }
        expect(walkOf(wants(`v1.${to}.0`), runs(`1.${at}`))).toMatchObject({ next: `1.${to}`, observed: `1.${to}` })
      }),
    )
  })
})

test.each([
  ['v1.34.3', '1.34', 'v1.34.3'], // EKS knows no patch version: all of it is there
  ['1.34', '1.34', 'v1.34'],
  ['v1.35.0', '1.34', 'v1.34'],
  ['v1.33.9', '1.34', 'v1.34'],
])('asked for %s and running %s, it reports %s', (version, observed, told) => {
  expect(reported(wants(version), observed)).toBe(told)
})

test.each([
  ['v1.34.0', '1.34'],
  ['1.34', '1.34'],
  ['v1.34.5-eks-1', '1.34'],
  ['1.34+', '1.34'],
])('%s is %s to EKS', (version, minor) => {
  expect(minorOf(version)).toBe(minor)
})
