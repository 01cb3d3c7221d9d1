// What a plan would do, read from `show -json` of OpenTofu or Terraform, and what is told of it. Only addresses and names
// are taken: the values in a plan are not ours to keep. Pure.
import { hashOf } from '../api/canonical.ts'
import { isRecord, type JsonRecord, readJson } from '../api/record.ts'
import type { PlanNote } from './plannote.ts'

// Addresses, in the plan's order. What is read, moved, imported as it is or only forgotten is in none of them.
export interface Planned {
  readonly create: readonly string[]
  readonly update: readonly string[]
  readonly replace: readonly string[]
  readonly delete: readonly string[] // a deposed object: "aws_instance.this (deposed 1a2b3c4d)"
}

export class PlanError extends Error {}

// Throws when the text is no plan: what cannot be read cannot be judged, and must not be applied.
export function readPlan(showJson: string): Planned {
  const plan = readJson(showJson)
  if (!isRecord(plan) || typeof plan['format_version'] !== 'string')
    throw new PlanError('cannot read the plan: `show -json` did not print one; plan again')
  const changes = listOf(plan, 'resource_changes')
  const doing = (wanted: Action) =>
    changes.filter(({ change }) => actionOf(change) === wanted).map((each) => addressOf(each))
  return {
    create: doing('create'),
    update: doing('update'),
    replace: doing('replace'),
    delete: doing('delete'),
  }
}

export interface Circumstances {
  readonly revision: string
  readonly serial?: number // of the state the plan was made on: an approval is then good for one apply
  readonly interrupted?: Interrupted
  readonly unprovenTo?: string // the uid of a Workspace whose state may know too little: a word on its apply is for this one only
}

// A killed apply: since when it ran, and what it may have made that this plan would make again.
export interface Interrupted {
  readonly startedAt: string
  readonly again: readonly string[]
}

export function noteOf(planned: Planned, circumstances: Circumstances): PlanNote {
  const { revision, serial, interrupted, unprovenTo } = circumstances
  const gone = [...planned.delete, ...planned.replace].toSorted()
  const doubtful = interrupted && { startedAt: interrupted.startedAt, again: interrupted.again.toSorted() }
  const isUnproven = unprovenTo !== undefined && planned.create.length > 0
  const unproven = isUnproven ? { to: unprovenTo, create: planned.create.toSorted() } : undefined
  const again = new Set([...(doubtful?.again ?? []), ...(unproven?.create ?? [])])
  return {
    id: hashOf({ revision, serial, gone, doubtful, unproven }).slice(0, 12),
    create: planned.create.length,
    update: planned.update.length,
    replace: planned.replace.length,
    delete: planned.delete.length,
    gone: shown(gone),
    ...((doubtful ?? unproven) && { again: shown([...again]) }),
  }
}

export function isDestructive({ replace, delete: deleted }: Pick<Planned, 'replace' | 'delete'>): boolean {
  return replace.length + deleted.length > 0
}

type Action = 'create' | 'update' | 'replace' | 'delete'

// A word that is not known yet does not hide that something goes.
function actionOf(change: unknown): Action | undefined {
  const actions = isRecord(change) && Array.isArray(change['actions']) ? change['actions'] : []
  const [creates, deletes] = [actions.includes('create'), actions.includes('delete')]
  if (deletes) return creates ? 'replace' : 'delete'
  if (creates) return 'create'
  return actions.includes('update') ? 'update' : undefined
}

function addressOf({ address, deposed }: JsonRecord): string {
  const object = typeof deposed === 'string' ? ` (deposed ${deposed})` : ''
  return `${typeof address === 'string' ? address : 'something without an address'}${object}`
}

// An annotation has little room, and a key of for_each may be any text.
function shown(addresses: readonly string[]): readonly string[] {
  return addresses.slice(0, 20).map((each) => (each.length > 200 ? `${each.slice(0, 199)}…` : each))
}

function listOf(plan: JsonRecord, field: string): readonly JsonRecord[] {
  const list = plan[field]
  return Array.isArray(list) ? list.filter(isRecord) : []
}
