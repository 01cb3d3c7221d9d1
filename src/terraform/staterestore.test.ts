import { expect, test } from 'vitest'
import { readStateHead, type StateHead } from './state.ts'
import { judgeRestore, type RestoreQuestion, type RestoreVerdict } from './staterestore.ts'

const resource = { mode: 'managed', type: 'aws_vpc', name: 'this', instances: [{}] }
const aState = (serial: number, lineage = 'ours') =>
  JSON.stringify({ version: 4, lineage, serial, resources: [resource] })
const encrypted = JSON.stringify({ lineage: 'ours', serial: 3, encrypted_data: 'x' })
const head = (serial: number, lineage = 'ours', isEmpty = false): StateHead => ({ lineage, serial, isEmpty })
const asked: RestoreQuestion = {
  text: aState(7),
  found: 'absent',
  foundText: '',
  lineage: 'ours',
  known: [head(2), head(7), head(20, 'other')],
  isForced: false,
}

test.each<[string, Partial<RestoreQuestion>, RestoreVerdict['is'], number?]>([
  ['there is none', {}, 'fine', 7],
  ['the one there cannot be read', { found: 'damaged' }, 'fine', 7],
  ['a command began an empty one there', { found: head(1, 'new', true) }, 'fine', 7],
  ['there is none, and there was a newer one', { known: [head(9)] }, 'fine', 10],
  ['an older one is there, and there was a newer one', { found: head(5), known: [head(9)] }, 'fine', 10],
  ['an older one is there', { found: head(5) }, 'fine', 7],
  ['one of the same serial is there', { found: head(7) }, 'fine', 8],
  ['a newer one is there', { found: head(9) }, 'fine', 10],
  ['all was destroyed since', { found: head(9, 'ours', true) }, 'fine', 10],
  ['it is there', { found: head(7), foundText: aState(7) }, 'same'],
  ['one of another lineage is there', { found: head(2, 'other') }, 'refused'],
  ['one of another lineage is there, and that is meant', { found: head(9, 'other'), isForced: true }, 'fine', 7],
  ['there is none, and it was of another lineage', { lineage: 'other' }, 'refused'],
  ['there is none, and nobody knows of what lineage it was', { lineage: undefined, known: [] }, 'fine', 7],
  ['it is no state', { text: '{"version":4}' }, 'refused'],
  ['it is encrypted', { text: encrypted }, 'fine', 3],
  ['it is encrypted, and needs another serial', { text: encrypted, found: head(3) }, 'refused'],
])('when %s', (_, more, is, serial) => {
  const verdict = judgeRestore({ ...asked, ...more })
  expect(verdict.is).toBe(is)
  if (verdict.is !== 'fine') return
  expect(verdict.head.serial).toBe(serial)
  expect(readStateHead(verdict.text)?.serial).toBe(serial)
})

test('a state is written as it was, to the byte, unless it needs another serial, and then nothing else is changed', () => {
  const textOf = (more: Partial<RestoreQuestion>) => {
    const verdict = judgeRestore({ ...asked, ...more })
    return verdict.is === 'fine' ? verdict.text : ''
  }
  expect(textOf({})).toBe(aState(7))
  expect(JSON.parse(textOf({ found: head(7) }))).toEqual(JSON.parse(aState(8)))
})

test('that it is old, or may be, is said, for what was made since would be made again', () => {
  const warningOf = (more: Partial<RestoreQuestion>) => {
    const verdict = judgeRestore({ ...asked, ...more })
    return verdict.is === 'fine' ? verdict.warning : ''
  }
  expect(warningOf({})).toBeUndefined()
  expect(warningOf({ known: [head(5)] })).toBeUndefined()
  const unknown = 'nobody knows whether it is the last one: if it is not, what was made since is not in it'
  expect(warningOf({ lineage: undefined, known: [] })).toContain(unknown)
  expect(warningOf({ known: [head(9, 'other')], isForced: true })).toContain(unknown)
  expect(warningOf({ known: [head(9)] })).toBe(
    'it is older than serial 9: what was made since is not in it, and would be made again',
  )
})
