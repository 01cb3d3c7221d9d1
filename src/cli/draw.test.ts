import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ago,
  clusters,
  network,
  now,
  situation,
  someObjects,
  theCluster,
  theNetwork,
  thePlane,
} from '../../test/pictured.ts'
import type { Node } from '../view/node.ts'
import { pictureOf } from '../view/picture.ts'
import type { Situation } from '../view/situation.ts'
import { widthOf, wrapped } from './columns.ts'
import { ageOf, draw, type Paper } from './draw.ts'

const plain: Paper = { isColoured: false, isUnicode: true, width: 100 }

function linesOf(seen: Situation | undefined, paper: Partial<Paper> = {}): readonly string[] {
  const picture = seen && pictureOf(seen, now)
  if (!picture) throw new Error('there is no such Cluster')
  const { tree, reason } = draw(picture, { ...plain, ...paper }, now)
  return [...tree, '', ...reason]
}

test('each situation is drawn so that one sees what is the matter', async () => {
  const all = Object.entries(clusters).map(([when, seen]) => `* ${when}\n\n${linesOf(seen).join('\n')}\n`)
  await expect(all.join('\n')).toMatchFileSnapshot('./draw.golden.log')
})

test('on a narrow terminal without UTF-8 it is the same, in ASCII', async () => {
  const failed = ['the VPC failed', 'a plan waits for approval', 'the Cluster is paused'].map(
    (when) => `* ${when}\n\n${linesOf(clusters[when], { width: 46, isUnicode: false }).join('\n')}\n`,
  )
  await expect(failed.join('\n')).toMatchFileSnapshot('./narrow.golden.log')
  for (const seen of Object.values(clusters)) {
    for (const line of linesOf(seen, { isUnicode: false })) expect(line).toMatch(/^[\x20-\x7e]*$/)
  }
})

test.each([30, 46, 80, 200])('of %d columns no line is wider, but for a command that is to be copied', (width) => {
  const lines = Object.values(clusters).flatMap((seen) => linesOf(seen, { width, isColoured: true }))
  expect(lines.filter((line) => widthOf(line) > width && !line.startsWith('  kubectl '))).toEqual([])
})

test('whatever is wrong is read, as the reason or in the tree', () => {
  const words = (text: string) => text.replaceAll(/[\s:.()]+/g, ' ').trim()
  const messagesIn = ({ standing, message, children }: Node): readonly string[] => [
    ...(standing !== 'ready' && message !== undefined ? [message] : []),
    ...children.flatMap(messagesIn),
  ]
  fc.assert(
    fc.property(someObjects, (objects) => {
      const picture = pictureOf(situation(...objects), now)
      const { tree, reason } = picture
        ? draw(picture, { isColoured: false, isUnicode: true }, now)
        : { tree: [], reason: [] }
      const text = words([...tree, ...reason].join('\n'))
      const lost = picture
        ? messagesIn(picture.tree).filter((message) => !text.includes(words(message)))
        : ['no picture']
      expect(lost).toEqual([])
    }),
    { numRuns: 300 },
  )
})

test('where it is no terminal, nothing is cut or wrapped', () => {
  const { width: _, ...paper } = plain
  const seen = clusters['a message that is long']
  const picture = seen && pictureOf(seen, now)
  expect(picture && draw(picture, paper, now).reason).toContain(`  ${picture?.cause?.message}`)
})

test('colours add nothing but colour, and are closed in every line', () => {
  for (const seen of Object.values(clusters)) {
    const coloured = linesOf(seen, { isColoured: true })
    expect(coloured.map((line) => stripVTControlCharacters(line).trimEnd())).toEqual(linesOf(seen))
    for (const line of coloured.filter((each) => each.includes('\u001B'))) {
      expect(line.split('\u001B[0m').length * 2 - 1).toBe(line.split('\u001B[').length)
    }
  }
})

test('what a message makes a terminal do, it does not', () => {
  const nasty = 'red \u001B[31mand\u001B]0;title\u0007 gone\u001B[2J\rover\u009b1A\b\b\u0000'
  const seen = situation(
    theCluster(),
    theNetwork(network('VPCReady', 'InvalidVPCConfig', nasty), network('Ready', 'NotProvisioned')),
    thePlane(),
  )
  const text = linesOf(seen).join('\n')
  expect(text).toContain('red and')
  expect(text).not.toMatch(/(?!\n)\p{Cc}/u)
})

test('kinds that could not be read are named, with why', () => {
  const seen = {
    ...situation(theCluster(), theNetwork(), thePlane()),
    unseen: [{ kind: 'Secret', why: 'you may not list them' }],
  }
  expect(linesOf(seen)).toContain('Not shown: Secrets (you may not list them)')
})

describe('ages', () => {
  test.each([
    [0.2, '12s'],
    [1.9, '114s'],
    [3, '3m'],
    [119, '119m'],
    [120, '2h'],
    [47 * 60, '47h'],
    [72 * 60, '3d'],
    [-5, '0s'],
  ])('of %d minutes are written %s', (minutes, text) => {
    expect(ageOf(ago(minutes), now)).toBe(text)
  })

  test('that cannot be read are none', () => {
    expect(ageOf('yesterday', now)).toBe('')
  })
})

test('wrapping loses no letter, breaks words only where it must, and keeps to the width', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '漢', '…', '-'), minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(fc.array(word, { minLength: 1 }), fc.integer({ min: 6, max: 40 }), (words, width) => {
      const lines = wrapped(words.join(' '), width)
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width)
      expect(lines.join('').replaceAll(' ', '')).toBe(words.join(''))
      const areShort = words.every((each) => widthOf(each) <= width)
      expect(areShort ? lines.join(' ') : '').toBe(areShort ? words.join(' ') : '')
    }),
  )
})
