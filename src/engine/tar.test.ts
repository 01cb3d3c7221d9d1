import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { aTar, type Packed, paxRecord } from '../../test/tar.ts'
import { readTar } from './tar.ts'

const read = (...entries: readonly Packed[]) =>
  readTar(aTar(...entries)).map(({ path, content, mode }) => `${path} ${mode.toString(8)} ${content.toString()}`)

const long = `${'folder/'.repeat(30)}main.tf`

test('files are read with their modes, folders come by themselves', () => {
  expect(
    read({ path: './', type: '5' }, { path: './main.tf', text: 'one' }, { path: 'bin/run', text: 'two', mode: 0o755 }),
  ).toEqual(['main.tf 644 one', 'bin/run 755 two'])
})

test.each<[string, readonly Packed[]]>([
  ['pax', [{ path: 'x', type: 'x', text: paxRecord('mtime', '1') + paxRecord('path', long) }]],
  ['GNU', [{ path: '././@LongLink', type: 'L', text: `${long}\0` }]],
])('a long name is read as %s writes it, and only its own file has it', (_, before) => {
  expect(read(...before, { path: 'cut', text: 'long' }, { path: 'b', text: 'short' })).toEqual([
    `${long} 644 long`,
    'b 644 short',
  ])
})

test('a comment for the whole archive, as git writes it, is passed over', () => {
  expect(read({ path: 'g', type: 'g', text: paxRecord('comment', 'abc') }, { path: 'a', text: 'x' })).toEqual([
    'a 644 x',
  ])
})

test('files of any length follow one another', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 1500, unit: 'grapheme' }), { maxLength: 6 }), (texts) => {
      const entries = texts.map((text, index) => ({ path: `f${index}`, text }))
      expect(readTar(aTar(...entries)).map(({ content }) => content.toString())).toEqual(texts)
    }),
    { numRuns: 50 },
  )
})

describe('what could do harm is refused', () => {
  test.each<[string, readonly Packed[], string]>([
    ['an absolute name', [{ path: '/etc/passwd' }], '"/etc/passwd", which leads out of it'],
    ['a name that climbs', [{ path: 'a/../../b' }], 'leads out of it'],
    [
      'a long name that climbs',
      [{ path: 'x', type: 'x', text: paxRecord('path', '../b') }, { path: 'a' }],
      'leads out',
    ],
    ['no name', [{ path: './' }], 'leads out of it'],
    ['a link', [{ path: 'l', type: '2', link: '/etc' }], 'holds l, which is neither a file nor a folder'],
    ['a hard link', [{ path: 'l', type: '1', link: '/etc/passwd' }], 'neither a file nor a folder'],
    ['a device', [{ path: 'd', type: '3' }], 'neither a file nor a folder'],
    ['more files than a module has', Array.from({ length: 20_001 }, (_, n) => ({ path: `f${n}` })), 'more than 20000'],
  ])('%s', (_, entries, says) => {
    expect(() => readTar(aTar(...entries))).toThrow(says)
  })

  test('what is no archive, or half of one', () => {
    const whole = aTar({ path: 'a', text: 'x'.repeat(2000) })
    expect(() => readTar(whole.subarray(0, 1500))).toThrow('ends in the middle of a file')
    expect(() => readTar(Buffer.alloc(512, 'x'))).toThrow('not a tar archive')
    const bent = Buffer.from(whole)
    bent.write('b', 0)
    expect(() => readTar(bent)).toThrow('not a tar archive, or a broken one')
  })
})
