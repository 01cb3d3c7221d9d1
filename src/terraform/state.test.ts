import { expect, test } from 'vitest'
import { judgeState, readStateHead, type StateHead } from './state.ts'

const known: StateHead = { lineage: 'old', serial: 7, isEmpty: false }
const where = 'Secret capt-terraform-state/tfstate-default.demo-capt'

test.each<[string, unknown, StateHead | undefined]>([
  [
    'with resources',
    { version: 4, lineage: 'l', serial: 3, resources: [{}] },
    { lineage: 'l', serial: 3, isEmpty: false },
  ],
  ['as it begins', { version: 4, lineage: 'l', serial: 0, resources: [] }, { lineage: 'l', serial: 0, isEmpty: true }],
  ['encrypted', { lineage: 'l', serial: 3, encrypted_data: 'x' }, { lineage: 'l', serial: 3, isEmpty: false }],
  ['without a lineage', { serial: 3 }, undefined],
  ['without a serial', { lineage: 'l' }, undefined],
])('a state %s', (_, state, head) => {
  expect(readStateHead(JSON.stringify(state))).toEqual(head)
})

test('what is no JSON is no state', () => {
  expect(readStateHead('')).toBeUndefined()
  expect(readStateHead('{"lineage":')).toBeUndefined()
})

test.each<[string, StateHead | undefined, StateHead | 'absent' | 'damaged', 'fine' | 'gone' | 'damaged']>([
  ['nothing was ever applied', undefined, 'absent', 'fine'],
  ['what was applied had no resources', { ...known, isEmpty: true }, 'absent', 'fine'],
  ['it is as it was', known, known, 'fine'],
  ['it went on', known, { ...known, serial: 9 }, 'fine'],
  ['an older one was restored', known, { ...known, serial: 2 }, 'fine'],
  ['somebody emptied it', known, { ...known, serial: 9, isEmpty: true }, 'fine'],
  ['somebody put another one there', known, { lineage: 'new', serial: 1, isEmpty: false }, 'fine'],
  ['it is absent', known, 'absent', 'gone'],
  ['a command began a new one in its place', known, { lineage: 'new', serial: 1, isEmpty: true }, 'gone'],
  ['it cannot be read', known, 'damaged', 'damaged'],
  ['it cannot be read, and nothing is known of it', undefined, 'damaged', 'damaged'],
])('when %s', (_, before, head, is) => {
  expect(judgeState({ known: before, found: { where, head }, approve: undefined }).is).toBe(is)
})

test('a lost state is named, and how to go on; the word for it is for that loss only', () => {
  const ask = (approve?: string, of = known) => judgeState({ known: of, found: { where, head: 'absent' }, approve })
  const verdict = ask()
  const message = 'message' in verdict ? verdict.message : ''
  expect(message).toContain(`the state in ${where} is gone (serial 7, lineage old): restore it from a copy`)
  const id = message.match(/capt\.appthrust\.io\/approve=([0-9a-f]{12}) /)?.[1]
  expect(id).toBeDefined()
  expect(ask('something').is).toBe('gone')
  expect(ask(id).is).toBe('fine')
  expect(ask(id, { ...known, serial: 8 }).is).toBe('gone')
  expect(ask(id, { ...known, lineage: 'other' }).is).toBe('gone')
})

test('no word makes a state that cannot be read a good one', () => {
  const verdict = judgeState({ known, found: { where, head: 'damaged' }, approve: 'yes' })
  expect(verdict).toEqual({ is: 'damaged', message: `the state in ${where} cannot be read: restore it from a copy` })
})
