import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isDestructive, noteOf, PlanError, type Planned, readPlan } from './planned.ts'

const nothing: Planned = { create: [], update: [], replace: [], delete: [] }

const aChange = (address: string, actions: readonly string[], more: object = {}) => ({
  address,
  mode: 'managed',
  type: address.split('.')[0],
  change: { actions, before: { password: 'hunter2' }, after: null },
  ...more,
})

const aPlan = (...changes: readonly object[]) => JSON.stringify({ format_version: '1.2', resource_changes: changes })

test.each<[string, readonly string[], Partial<Planned>]>([
  ['created', ['create'], { create: ['a.b'] }],
  ['updated in place', ['update'], { update: ['a.b'] }],
  ['deleted', ['delete'], { delete: ['a.b'] }],
  ['replaced', ['delete', 'create'], { replace: ['a.b'] }],
  ['replaced, the new one first', ['create', 'delete'], { replace: ['a.b'] }],
  ['replaced, the old one left alone', ['forget', 'create'], { create: ['a.b'] }],
  ['forgotten', ['forget'], {}],
  ['read', ['read'], {}],
  ['left alone', ['no-op'], {}],
  ['deleted in a way that is not known yet', ['delete', 'mourn'], { delete: ['a.b'] }],
  ['changed in a way that is not known yet', ['levitate'], {}],
])('what is %s is counted so', (_, actions, counted) => {
  expect(readPlan(aPlan(aChange('a.b', actions)))).toEqual({ ...nothing, ...counted })
})

test('a plan as Terraform 1.5 writes it: moved, imported, deposed, a data source, drift, outputs', () => {
  const text = JSON.stringify({
    format_version: '1.1',
    terraform_version: '1.5.7',
    resource_drift: [
      aChange('aws_vpc.this', ['update']),
      aChange('aws_subnet.lost', ['delete']),
      aChange('aws_subnet.new_name', ['no-op'], { previous_address: 'aws_subnet.old_name' }),
    ],
    resource_changes: [
      aChange('aws_subnet.new_name', ['no-op'], { previous_address: 'aws_subnet.old_name' }),
      aChange('aws_s3_bucket.imported', ['no-op'], {
        change: { actions: ['no-op'], before: {}, after: {}, importing: { id: 'logs' } },
      }),
      aChange('data.aws_ami.latest', ['read'], { mode: 'data' }),
      aChange('aws_instance.this', ['no-op']),
      aChange('aws_instance.this', ['delete'], { deposed: '1a2b3c4d' }),
      aChange('module.eks["a: b"].aws_eks_cluster.this[0]', ['delete', 'create'], {
        action_reason: 'replace_because_cannot_update',
      }),
    ],
    output_changes: {
      same: { actions: ['no-op'] },
      new: { actions: ['create'] },
      changed: { actions: ['update'] },
      gone: { actions: ['delete'] },
    },
    checks: [{ status: 'unknown' }],
  })
  expect(readPlan(text)).toEqual({
    ...nothing,
    replace: ['module.eks["a: b"].aws_eks_cluster.this[0]'],
    delete: ['aws_instance.this (deposed 1a2b3c4d)'],
  })
})

test.each(['', 'not JSON', '{"resource_changes": [', 'null', '[]', '{}', '{"format_version":1}'])(
  'what is no plan is not read as one without changes: %j',
  (text) => {
    expect(() => readPlan(text)).toThrow(PlanError)
  },
)

test('of a plan that is not as it should be, what can be read is read', () => {
  const text = aPlan({}, { address: 'a.b', change: { actions: 'delete' } }, aChange('c.d', ['delete']))
  expect(readPlan(text).delete).toEqual(['c.d'])
  expect(readPlan('{"format_version":"1.2","resource_changes":{},"output_changes":[]}')).toEqual(nothing)
})

test('no value of a plan is taken', () => {
  const planned = readPlan(aPlan(aChange('a.b', ['delete', 'create'])))
  expect(JSON.stringify([planned, noteOf(planned, { revision: 'r' })])).not.toContain('hunter2')
})

test('a note counts, and names the first of what would go', () => {
  const many = Array.from({ length: 30 }, (_, index) => `a.b[${String(index).padStart(2, '0')}]`)
  const planned = { ...nothing, create: ['x.y'], update: ['u.v', 'u.w'], replace: many, delete: ['a.a'] }
  const note = noteOf(planned, { revision: 'r' })
  expect(note).toMatchObject({ create: 1, update: 2, replace: 30, delete: 1 })
  expect(note.gone).toEqual(['a.a', ...many.slice(0, 19)])
  expect(note.id).toMatch(/^[0-9a-f]{12}$/)
  expect(isDestructive(planned)).toBe(true)
  expect(isDestructive({ ...planned, replace: [] })).toBe(true)
  expect(isDestructive({ ...planned, replace: [], delete: [] })).toBe(false)
})

test('a note has room in an annotation, whatever keys for_each has', () => {
  const long = Array.from({ length: 100 }, (_, index) => `a.b["${index}${'x'.repeat(5000)}"]`)
  const interrupted = { startedAt: 't', again: long }
  const note = noteOf({ ...nothing, delete: long }, { revision: 'r', interrupted })
  expect(JSON.stringify(note).length).toBeLessThan(10_000)
})

const addresses = fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 30 })

test('the id is the same whatever order the plan is written in', () => {
  fc.assert(
    fc.property(addresses, addresses, (deleted, replaced) => {
      const there = noteOf({ ...nothing, delete: deleted, replace: replaced }, { revision: 'r' })
      const back = noteOf(
        { ...nothing, delete: deleted.toReversed(), replace: replaced.toReversed() },
        { revision: 'r' },
      )
      expect(back).toEqual(there)
    }),
  )
})

test('an approval is for what it was given for: another revision or anything else that goes has another id', () => {
  fc.assert(
    fc.property(addresses, fc.string({ minLength: 1 }), (gone, one) => {
      fc.pre(!gone.includes(one))
      const planned = { ...nothing, delete: gone }
      const { id } = noteOf(planned, { revision: 'r', serial: 7 })
      const drifted = { ...nothing, delete: [...gone, one] }
      expect(noteOf(drifted, { revision: 'r', serial: 7 }).id).not.toBe(id)
      expect(noteOf(planned, { revision: `r${one}`, serial: 7 }).id).not.toBe(id)
      expect(noteOf(planned, { revision: 'r', serial: 8 }).id).not.toBe(id)
    }),
  )
})

test('what is not shown any more changes the id too', () => {
  const many = Array.from({ length: 25 }, (_, index) => `a.b[${index}]`)
  const of = (gone: readonly string[]) => noteOf({ ...nothing, delete: gone }, { revision: 'r' })
  expect(of([...many, 'z.z']).gone).toEqual(of(many).gone)
  expect(of([...many, 'z.z']).id).not.toBe(of(many).id)
})

test('more to create or update needs no new approval: nobody approves those', () => {
  const planned = { ...nothing, delete: ['a.b'] }
  const more = { ...planned, create: ['x.y'], update: ['u.v'] }
  expect(noteOf(more, { revision: 'r' }).id).toBe(noteOf(planned, { revision: 'r' }).id)
})

test('an approval after one killed apply is none after the next', () => {
  const interrupted = { startedAt: '2026-11-16T12:00:00Z', again: ['b.b', 'a.a'] }
  const planned = { ...nothing, create: ['a.a', 'b.b'] }
  const note = noteOf(planned, { revision: 'r', interrupted })
  expect(note).toMatchObject({ again: ['a.a', 'b.b'], gone: [] })
  const reversed = { ...interrupted, again: ['a.a', 'b.b'] }
  expect(noteOf(planned, { revision: 'r', interrupted: reversed }).id).toBe(note.id)
  const later = { ...interrupted, startedAt: '2026-11-16T13:00:00Z' }
  expect(noteOf(planned, { revision: 'r', interrupted: later }).id).not.toBe(note.id)
  expect(noteOf(planned, { revision: 'r' }).id).not.toBe(note.id)
})
