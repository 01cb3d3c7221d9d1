import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anEks, but, controlPlane } from '../../../test/controlplanes.ts'
import { minorOf, reported, walkOf } from './version.ts'

const wants = (version: string, ...notes: readonly string[]) =>
  but(controlPlane, {
    spec: { version },
    metadata: { annotations: Object.fromEntries(notes.map((each) => [`capt.appthrust.io/${each}`, ''])) },
  })
const failed = (text: string) => but(anEks('failed'), { status: { failure: { class: 'unknown', text } } })
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
    [
      'a first run has failed, and more is wanted',
      'first what was begun',
      [wants('1.36'), failed('creating EKS Add-On (demo:coredns): ResourceInUseException')],
      { observed: undefined, next: '1.34', goal: '1.36', isDown: false },
    ],
    [
      'a first run has failed, and less is wanted',
      'it stays',
      [wants('1.33'), failed('waiting for EKS Cluster (demo) create: timeout')],
      { observed: undefined, next: '1.34', isDown: true },
    ],
    [
      'a first run has failed, and less is wanted by all means',
      'it is tried',
      [wants('1.33', 'allow-downgrade'), failed('waiting for EKS Cluster (demo) create: timeout')],
      { next: '1.33', isDown: false },
    ],
    [
      'EKS has refused to make it, and another version is wanted',
      'that',
      [wants('1.32'), failed('creating EKS Cluster (demo): InvalidParameterException: unsupported Kubernetes version')],
      { observed: undefined, next: '1.32', isDown: false },
    ],
    [
      'EKS refuses it again, but had it once',
      'it stays',
      [wants('1.32'), but(failed('creating EKS Cluster (demo)'), { status: { applied: true } })],
      { next: '1.34', isDown: true },
    ],
    [
      'Terraform was never run',
      'what is wanted now',
      [wants('1.36'), anEks('new')],
      { observed: undefined, next: '1.36', isDown: false },
    ],
    [
      'all that was known of it was lost on the way to a higher version',
      'first what it was on the way to',
      [wants('1.36'), but(anEks('new'), { metadata: { annotations: { 'capt.appthrust.io/workspace': 'x/y' } } })],
      { observed: undefined, next: '1.34', goal: '1.36' },
    ],
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
