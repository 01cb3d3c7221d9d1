import { expect, test } from 'vitest'
import type { AuditRecord } from './bed/audit.ts'
import { judgeWrites } from './fencing.ts'

interface Deed {
  readonly by: string
  readonly seconds: number
  readonly revision: number
}

const record = ({ by, seconds, revision }: Deed, more: Partial<AuditRecord>): AuditRecord => ({
  at: new Date(1_800_000_000_000 + seconds * 1000),
  user: 'manager',
  userAgent: '',
  credential: by,
  verb: 'patch',
  path: '',
  group: 'infrastructure.cluster.x-k8s.io',
  resource: 'workspacetemplates/status',
  namespace: 'default',
  name: 'vpc',
  code: 200,
  isForbidden: false,
  body: {},
  resourceVersion: String(revision),
  ...more,
})
const leases = ['first', 'second']
const hold = (by: string, seconds: number, revision: number, holderIdentity = by) =>
  leases.map((name, index) =>
    record(
      { by, seconds, revision: revision + index },
      { resource: 'leases', name, body: { spec: { holderIdentity } } },
    ),
  )
const write = (by: string, seconds: number, revision: number, seen?: number, more: Partial<AuditRecord> = {}) =>
  record(
    { by, seconds, revision },
    { body: { metadata: seen === undefined ? {} : { resourceVersion: String(seen) } }, ...more },
  )
const handedOver = [...hold('a', 0, 10), ...hold('b', 20, 30)]

test.each<{ when: string; records: readonly AuditRecord[]; late?: number; wrong?: RegExp; judged?: number }>([
  { when: 'the holder writes', records: [...handedOver, write('a', 5, 20, 19), write('b', 25, 40, 20)], judged: 2 },
  { when: 'a renewal lies between', records: [...hold('a', 0, 10), ...hold('a', 2, 20), write('a', 3, 25, 9)] },
  { when: 'a write came just after another took over', records: [...handedOver, write('a', 21, 40, 9)], late: 1 },
  { when: 'it was received before, and done after', records: [...handedOver, write('a', 19, 40, 9)], late: 1 },
  { when: 'only the second Lease has gone', records: [...handedOver, write('a', 21, 30.5, 9)], late: 1 },
  { when: 'it came long after', records: [...handedOver, write('a', 36, 40, 9)], wrong: /16000 ms after/ },
  {
    when: 'it came late without a condition',
    records: [...handedOver, write('a', 21, 40)],
    wrong: /without a condition/,
  },
  { when: 'one wrote who never led', records: [...handedOver, write('c', 21, 40, 9)], wrong: /never led/ },
  { when: 'one wrote before it led', records: [...handedOver, write('b', 5, 20, 9)], wrong: /never led/ },
  {
    when: 'one wrote long after it let go, and nobody followed',
    records: [...hold('a', 0, 10), ...hold('a', 5, 20, ''), write('a', 25, 40, 9)],
    wrong: /20000 ms after/,
  },
  {
    when: 'a write went over what another had written',
    records: [...handedOver, write('b', 25, 40, 9), write('a', 26, 50, 9)],
    judged: 2,
    late: 1,
    wrong: /overwrote what was written at revision 40/,
  },
  { when: 'a write changed nothing', records: [...handedOver, write('a', 99, 9, 9)], judged: 0 },
  { when: 'a write was refused', records: [...handedOver, write('a', 99, 0, 9, { code: 409 })], judged: 0 },
  {
    when: 'nobody knows when it was',
    records: [...handedOver, write('a', 5, 0, 9, { resourceVersion: '' })],
    wrong: /not on record/,
  },
  {
    when: 'an Event came late',
    records: [...handedOver, write('a', 21, 40, undefined, { group: 'events.k8s.io' })],
    late: 1,
  },
])('when $when', ({ records, late = 0, wrong = /^$/, judged = 1 }) => {
  const verdict = judgeWrites(records, leases, 15_000)
  expect(verdict.late).toHaveLength(late)
  expect(verdict.wrong.join('; ')).toMatch(wrong)
  expect(verdict.judged).toBe(judged)
})
