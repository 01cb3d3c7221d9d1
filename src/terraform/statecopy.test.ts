import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { annotations, labels } from '../api/keys.ts'
import { copySecrets, mostParts, openCopy, partsOf, readCopies, strayOf } from './statecopy.ts'

const about = { namespace: 'states', labels: { [labels.recordOf]: 'abc' }, annotations: { who: 'demo' } }

function aCopy(bytes: Buffer, { takenAt = '2026-11-16T12:00:00.000Z', serial = 7 } = {}) {
  return copySecrets({ bytes, head: { lineage: 'l', serial, isEmpty: false }, takenAt, revision: 'r1' }, about)
}

test('a small state is one Secret, which tells what it is and is no state to a backend', () => {
  const [secret, ...more] = aCopy(Buffer.from('small'))
  expect(more).toEqual([])
  expect(secret?.metadata.labels).toEqual({ [labels.recordOf]: 'abc', [labels.record]: 'state' })
  expect(secret?.metadata.annotations?.['who']).toBe('demo')
  expect(readCopies(secret ? [secret] : [])).toEqual([
    {
      id: secret?.metadata.name.slice('state-abc-'.length),
      lineage: 'l',
      serial: 7,
      takenAt: '2026-11-16T12:00:00.000Z',
      revision: 'r1',
      parts: 1,
    },
  ])
  expect(secret?.immutable).toBe(true)
})

test.each([0, 1, 999_999, 1_000_000, 1_000_001, 3_500_000])('a state of %i bytes comes back as it was', (size) => {
  const bytes = randomBytes(size)
  const secrets = aCopy(bytes)
  expect(secrets).toHaveLength(partsOf(bytes))
  for (const { data } of secrets)
    expect(Buffer.from(data?.['tfstate'] ?? '', 'base64').length).toBeLessThan(1024 * 1024)
  const [copy] = readCopies(secrets)
  expect(copy && openCopy(secrets.toReversed(), copy)?.equals(bytes)).toBe(true)
})

test('a copy of which not all is written is none, whenever the writer was killed', () => {
  const secrets = aCopy(randomBytes(2_500_000))
  expect(secrets).toHaveLength(3)
  for (const written of [0, 1, 2]) expect(readCopies(secrets.slice(0, written))).toEqual([])
  expect(readCopies(secrets)).toHaveLength(1)
})

test('a copy that was changed is not given out', () => {
  const secrets = aCopy(randomBytes(1_500_000))
  const [copy] = readCopies(secrets)
  const [first, second] = secrets
  const changed = [...(first ? [{ ...first, data: { tfstate: 'AAAA' } }] : []), ...(second ? [second] : [])]
  expect(copy && openCopy(changed, copy)).toBeUndefined()
  expect(copy && openCopy([], copy)).toBeUndefined()
})

test('the same state is the same copy, another one is another', () => {
  const names = (text: string, serial: number) => aCopy(Buffer.from(text), { serial }).map((each) => each.metadata.name)
  expect(names('a', 1)).toEqual(names('a', 2))
  expect(names('a', 1)).not.toEqual(names('b', 1))
})

test('copies are listed from the newest on, and what belongs to none of those that stay is stray, its head first', () => {
  const [old, middle, young] = ['2026-01-01', '2026-01-02', '2026-01-03'].map((takenAt, index) =>
    aCopy(Buffer.alloc(1_200_000, index), { takenAt }),
  )
  const all = [...(middle ?? []), ...(young ?? []), ...(old ?? []), ...aCopy(randomBytes(1_200_000)).slice(0, 1)]
  const copies = readCopies(all)
  expect(copies.map(({ takenAt }) => takenAt)).toEqual(['2026-01-03', '2026-01-02', '2026-01-01'])
  const strays = strayOf(all, copies.slice(0, 2)).map(({ metadata }) => metadata.name)
  expect(strays).toHaveLength(3)
  const heads = (old ?? []).toReversed().map(({ metadata }) => metadata.name)
  expect(strays.filter((name) => heads.includes(name))).toEqual(heads)
  expect(strayOf(all, copies.slice(0, 2)).some(({ metadata }) => metadata.name === young?.[0]?.metadata.name)).toBe(
    false,
  )
})

test.each([
  undefined,
  '{',
  '{}',
  '{"id":1}',
  JSON.stringify({ id: 'x', lineage: 'l', serial: 1, takenAt: 't', revision: 'r', parts: 1e9 }),
])('an annotation that tells of no copy makes none: %s', (text) => {
  const metadata = {
    name: 'state-abc-x',
    labels: about.labels,
    ...(text && { annotations: { [annotations.state]: text } }),
  }
  expect(readCopies([{ metadata }])).toEqual([])
  expect(mostParts).toBeLessThan(100)
})
