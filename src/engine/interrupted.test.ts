import { expect, test } from 'vitest'
import type { Planned } from '../terraform/planned.ts'
import { inFlight, strays } from './interrupted.ts'
import type { Run } from './memory.ts'

const startedAt = '2026-11-16T12:00:00.000Z'
const run: Run = {
  operation: 'apply',
  revision: 'r1',
  startedAt,
  host: 'h',
  bootId: 'b',
  creates: ['a.a', 'b.b', 'c.c', 'module.x["k: v"].d.d[0]'],
}
const planned: Planned = {
  create: ['a.a', 'b.b'],
  update: ['c.c'],
  replace: ['module.x["k: v"].d.d[0]'],
  delete: [],
}

// As OpenTofu 1.12.6 prints it with -no-color.
const log = `c.c: Refreshing state... [id=1]
a.a: Creating...
c.c: Modifying... [id=1]
c.c: Modifications complete after 0s [id=1]
a.a: Still creating... [10s elapsed]
`

test.each<[string, Partial<Parameters<typeof inFlight>[0]>, readonly string[]]>([
  ['it was making one thing', { log }, ['a.a']],
  ['it had begun nothing', { log: 'c.c: Refreshing state... [id=1]\n' }, []],
  ['it had printed nothing', { log: '' }, []],
  ['its log is lost', { log: undefined }, ['a.a', 'b.b', 'module.x["k: v"].d.d[0]']],
  ['its log is lost, and it was to make something else', { log: undefined, run: { ...run, creates: ['z.z'] } }, []],
  [
    'its log is lost, and it was to make more than is remembered',
    { log: undefined, run: { ...run, creates: 'many' } },
    ['a.a', 'b.b', 'module.x["k: v"].d.d[0]'],
  ],
  ['all it made is in the state', { log, planned: { ...planned, create: ['b.b'] } }, []],
  [
    'it had made something that is not in the state yet',
    { log: `${log}a.a: Creation complete after 12s [id=2]\n` },
    ['a.a'],
  ],
  [
    'it was putting something in the place of another',
    { log: 'module.x["k: v"].d.d[0]: Creating...\r\n' },
    ['module.x["k: v"].d.d[0]'],
  ],
  ['a provisioner prints what looks like it', { log: 'c.c (local-exec): b.b: Creating...\n' }, []],
  ['its last line was cut', { log: 'a.a: Creating...\nb.b: Crea' }, ['a.a']],
  ['it was destroying', { log: 'a.a: Creating...\n', run: { ...run, operation: 'destroy' } }, []],
])('an apply was killed: %s', (_, facts, again) => {
  const found = inFlight({ run, log: undefined, planned, ...facts })
  expect(found).toEqual(again.length === 0 ? undefined : { startedAt, again })
})

test.each<[string, Partial<Parameters<typeof strays>[0]>, readonly string[] | 'many']>([
  ['it was making one thing', { log }, ['a.a']],
  ['all it began is in the state', { log, known: ['a.a', 'c.c'] }, []],
  ['its log is lost', { known: ['b.b'] }, ['a.a', 'c.c', 'module.x["k: v"].d.d[0]']],
  ['its log is lost, and it was to make more than is remembered', { run: { ...run, creates: 'many' } }, 'many'],
  ['it was destroying', { log, run: { ...run, operation: 'destroy' } }, []],
])('an apply was killed, and everything is to be destroyed: %s', (_, facts, lost) => {
  expect(strays({ run, log: undefined, known: [], ...facts })).toEqual(lost)
})
