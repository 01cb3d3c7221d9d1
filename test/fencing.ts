// Judges an audit log: was every change made by the process that led? Revisions of etcd, not clocks, say what came after
// what. docs/decisions/0008-only-the-leader-changes-anything.md says why a late write is not always a wrong one. Pure.
import { type AuditRecord, isWrite } from './bed/audit.ts'

export interface Verdict {
  readonly judged: number // changes made by managers
  readonly late: readonly string[] // came after another held a Lease; sent before, and refused had anything changed
  readonly wrong: readonly string[]
}

interface Holding {
  readonly since: number // revision
  readonly at: Date
  readonly credential: string // of the holder; empty: nobody
}

// Who is who is told by their tokens: each process must have had one of its own.
export function judgeWrites(records: readonly AuditRecord[], leases: readonly string[], leaseMs: number): Verdict {
  const accepted = records.filter(isAccepted).toSorted((one, other) => revisionOf(one) - revisionOf(other))
  const histories = leases.map((name) => accepted.filter((each) => each.resource === 'leases' && each.name === name))
  const holdings = histories.map((history) => history.map(holdingOf))
  const changes = accepted.filter((each) => each.resource !== 'leases' && revisionOf(each) !== decidedOn(each))
  const late: string[] = []
  const wrong: string[] = []
  for (const change of changes) {
    const told = `${change.verb} ${change.resource} ${change.namespace}/${change.name} at revision ${change.resourceVersion}`
    const between = changes.find((other) => isOverwritten(other, change))
    if (!change.resourceVersion) wrong.push(`${told}: its revision is not on record`)
    else if (between) wrong.push(`${told} overwrote what was written at revision ${between.resourceVersion}`)
    const lost = holdings.map((history) => lostBefore(history, change)).filter((each) => each !== 'held')
    if (lost.length === 0) continue
    const firstLost = Math.min(...lost.map((each) => (each === 'never held' ? -Infinity : each.at.getTime())))
    const afterMs = change.at.getTime() - firstLost
    if (!Number.isFinite(firstLost)) wrong.push(`${told} by one who never led`)
    else if (afterMs > leaseMs) wrong.push(`${told} came ${afterMs} ms after another held a Lease`)
    else if (!isConditional(change)) wrong.push(`${told} came late and without a condition`)
    else late.push(`${told} came ${afterMs} ms after another held a Lease`)
  }
  return { judged: changes.length, late, wrong }
}

function isAccepted(record: AuditRecord): boolean {
  const { code, group } = record
  const isReview = group === 'authentication.k8s.io' || group === 'authorization.k8s.io'
  return isWrite(record) && !isReview && code >= 200 && code < 300
}

function revisionOf({ resourceVersion }: AuditRecord): number {
  return Number(resourceVersion)
}

// Which version of the object the writer had seen; a write that leaves it at that has changed nothing.
function decidedOn({ body }: AuditRecord): number | undefined {
  const { resourceVersion } = (body as { metadata?: { resourceVersion?: string } } | undefined)?.metadata ?? {}
  return resourceVersion === undefined ? undefined : Number(resourceVersion)
}

// Refused when somebody else was faster. An Event has the name of its process in its own: nobody else writes it.
function isConditional(change: AuditRecord): boolean {
  return decidedOn(change) !== undefined || change.verb === 'create' || change.group === 'events.k8s.io'
}

function isOverwritten(other: AuditRecord, by: AuditRecord): boolean {
  const isSame = (['group', 'resource', 'namespace', 'name'] as const).every((field) => other[field] === by[field])
  const seen = decidedOn(by)
  return isSame && seen !== undefined && revisionOf(other) > seen && revisionOf(other) < revisionOf(by)
}

function holdingOf({ resourceVersion, at, credential, body }: AuditRecord): Holding {
  const { holderIdentity } = (body as { spec?: { holderIdentity?: string } }).spec ?? {}
  return { since: Number(resourceVersion), at, credential: holderIdentity ? credential : '' }
}

// When the Lease went from who made the change to another, before the change.
function lostBefore(history: readonly Holding[], change: AuditRecord): Holding | 'held' | 'never held' {
  const before = history.filter(({ since }) => since <= revisionOf(change))
  const last = before.findLastIndex(({ credential }) => credential === change.credential)
  return last < 0 ? 'never held' : (before[last + 1] ?? 'held')
}
