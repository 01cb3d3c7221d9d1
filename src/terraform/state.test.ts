import { expect, test } from 'vitest'
import {
  addressesIn,
  countIn,
  isStateMissing,
  judgeState,
  readStateHead,
  type StateHead,
  type StateQuestion,
} from './state.ts'

const known: StateHead = { lineage: 'old', serial: 7, isEmpty: false }
const where = 'Secret capt-terraform-state/tfstate-default.demo-capt'
const asked: StateQuestion = {
  uid: 'uid',
  known,
  found: { where, head: 'absent' },
  wasThere: false,
  wish: 'make',
  approve: undefined,
  command: (id) => `say ${id}`,
  restore: 'capt restore',
}

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

test.each(['1e400', '1.5', '-1', '9007199254740992', '"1"', 'null'])(
  'what has %s for a serial is no state',
  (serial) => {
    expect(readStateHead(`{"lineage":"l","serial":${serial},"resources":[]}`)).toBeUndefined()
  },
)

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
  for (const wish of ['make', 'destroy'] as const) {
    expect(judgeState({ ...asked, known: before, found: { where, head }, wish }).is).toBe(is)
  }
})

test.each<[string, StateHead | undefined, StateHead | 'absent', 'fine' | 'gone']>([
  ['nobody knows its state, which is absent', undefined, 'absent', 'gone'],
  ['nobody knows its state, which is empty', undefined, { ...known, isEmpty: true }, 'fine'],
  ['nobody knows its state, which has something in it', undefined, known, 'fine'],
  ['its state was known to be empty', { ...known, isEmpty: true }, 'absent', 'fine'],
])('it says that it was made, and %s', (_, before, head, is) => {
  expect(judgeState({ ...asked, known: before, found: { where, head }, wasThere: true }).is).toBe(is)
})

test('of a state that nobody knows it is told where it should be; the word for it is for that place only', () => {
  const ask = (approve?: string, at = where) =>
    judgeState({
      ...asked,
      known: undefined,
      wasThere: true,
      wish: 'destroy',
      found: { where: at, head: 'absent' },
      approve,
    })
  const verdict = ask()
  const message = 'message' in verdict ? verdict.message : ''
  const told = `there is no state in ${where}, although this was made before: restore it from a copy (capt restore), or, if nothing it held exists any more, let it go with: say `
  expect(message.slice(0, -12)).toBe(told)
  expect(ask(message.slice(-12)).is).toBe('fine')
  expect(ask(message.slice(-12), 'Secret elsewhere').is).toBe('gone')
})

test('the word for a lost state is for this Workspace: it comes along with an apply that is moved', () => {
  for (const of of [known, undefined]) {
    const question = { ...asked, known: of, wasThere: true }
    const verdict = judgeState(question)
    const approve = ('message' in verdict ? verdict.message : '').slice(-12)
    expect(judgeState({ ...question, approve }).is).toBe('fine')
    expect(judgeState({ ...question, approve, uid: 'another' }).is).toBe('gone')
  }
})

test('of two states of different lineage none is gone on with before somebody says so', () => {
  const question = { ...asked, found: { where, head: known }, rival: { ...known, lineage: 'came', serial: 3 } }
  const verdict = judgeState(question)
  const message = 'message' in verdict ? verdict.message : ''
  expect(message).toContain('although one came with its apply (serial 3, lineage came)')
  expect(isStateMissing(message)).toBe(true)
  expect(judgeState({ ...question, approve: message.slice(-12) }).is).toBe('fine')
})

test('no word on the apply is enough to go on with a state that may be of somebody else', () => {
  const question = { ...asked, found: { where, head: known }, rival: { ...known, lineage: 'came', serial: 3 } }
  const open = judgeState(question)
  const approve = ('message' in open ? open.message : '').slice(-12)
  const barred = judgeState({ ...question, mayBeAnothers: true, approve })
  expect(barred.is).toBe('gone')
  expect('message' in barred ? barred.message : '').not.toContain('go on with')
})

test('addresses are as plans write them', () => {
  const resource = (more: object) => ({ mode: 'managed', type: 'aws_vpc', name: 'this', instances: [{}], ...more })
  const resources = [
    resource({}),
    resource({ mode: 'data' }),
    resource({ module: 'module.a["x"]', instances: [{ index_key: 0 }, { index_key: 'k' }] }),
    resource({ name: 'none', instances: [] }),
  ]
  expect(addressesIn(JSON.stringify({ resources }))).toEqual([
    'aws_vpc.this',
    'module.a["x"].aws_vpc.this[0]',
    'module.a["x"].aws_vpc.this["k"]',
  ])
  expect(addressesIn('')).toEqual([])
  expect(countIn(JSON.stringify({ resources }))).toBe(3)
  expect(countIn(JSON.stringify({ encrypted_data: 'x' }))).toBeUndefined()
})

test('a lost state is named, and how to go on; the word for it is for that loss only', () => {
  const ask = (approve?: string, of = known) => judgeState({ ...asked, known: of, approve })
  const verdict = ask()
  const message = 'message' in verdict ? verdict.message : ''
  expect(message).toContain(
    `the state in ${where} is gone (serial 7, lineage old): restore it from a copy (capt restore)`,
  )
  const id = message.match(/make everything anew with: say ([0-9a-f]{12})$/)?.[1]
  expect(id).toBeDefined()
  expect(ask('something').is).toBe('gone')
  expect(ask(id).is).toBe('fine')
  expect(ask(id, { ...known, serial: 8 }).is).toBe('gone')
  expect(ask(id, { ...known, lineage: 'other' }).is).toBe('gone')
})

test('no word makes a state that cannot be read a good one', () => {
  const verdict = judgeState({ ...asked, found: { where, head: 'damaged' }, approve: 'yes' })
  expect(verdict).toEqual({
    is: 'damaged',
    message: `the state in ${where} cannot be read: restore it from a copy (capt restore)`,
  })
})

test.each<[string, Partial<StateQuestion>]>([
  ['is gone', {}],
  ['cannot be read', { found: { where, head: 'damaged' } }],
  ['was never known', { known: undefined, wasThere: true }],
])('what is said of a state that %s is known again for that, with and without a command', (_, more) => {
  for (const restore of [undefined, 'capt restore']) {
    const verdict = judgeState({ ...asked, ...more, restore })
    expect(isStateMissing('message' in verdict ? verdict.message : '')).toBe(true)
  }
  expect(isStateMissing('Error: the state is already locked by me')).toBe(false)
})
