// What the engine tells of its last plan, in an annotation of the Workspace: how much would change, what would go, and
// whether that waits for somebody's word. Written by the engine, read by the manager and by people. Pure.
import { isRecord, isTexts, readJson } from '../api/record.ts'

export interface PlanNote {
  readonly id: string // what `approve` must say: a hash of the revision and of what would go
  readonly create: number
  readonly update: number
  readonly replace: number
  readonly delete: number
  readonly gone: readonly string[] // addresses of what would be deleted or replaced, the first 20
  readonly again?: readonly string[] // addresses of what may be there already, the first 20
  readonly held?: Held
  readonly begun?: Begun // its apply; that it has ended is told in the status
}

export interface Begun {
  readonly revision: string
  readonly at: string
}

// Why it waits. Destructive: it deletes or replaces, and the Workspace is guarded. Interrupted: an apply was killed, and
// what it may have made would be made again. Unproven: the state came from elsewhere, or is in another backend than it was, and
// what was made before would be made again. AnotherCLI: the state was written by the other family of command lines.
export type Held = (typeof reasonsToHold)[number]
const reasonsToHold = ['Destructive', 'Interrupted', 'Unproven', 'AnotherCLI'] as const

export function tellPlanNote(note: PlanNote): string {
  return JSON.stringify(note)
}

// What is not such a note is no note.
export function readPlanNote(text: string | undefined): PlanNote | undefined {
  const note = readJson(text ?? '')
  if (!isRecord(note) || typeof note['id'] !== 'string' || note['id'] === '') return undefined
  const { id, create, update, replace, delete: deleted, gone, again, held, begun } = note
  if (!isCount(create) || !isCount(update) || !isCount(replace) || !isCount(deleted)) return undefined
  if (!isTexts(gone) || !(again === undefined || isTexts(again))) return undefined
  const why = reasonsToHold.find((each) => each === held)
  if (held !== undefined && why === undefined) return undefined
  if (begun !== undefined && !isBegun(begun)) return undefined
  return {
    id,
    create,
    update,
    replace,
    delete: deleted,
    gone,
    ...(again && { again }),
    ...(why && { held: why }),
    ...(begun && { begun: { revision: begun.revision, at: begun.at } }),
  }
}

// "1 to create, 2 to replace (aws_eks_cluster.this, aws_vpc.this)"
export function tellChanges(note: Omit<PlanNote, 'id'>): string {
  const counts = (['create', 'update', 'replace', 'delete'] as const)
    .filter((action) => note[action] > 0)
    .map((action) => `${note[action]} to ${action}`)
  if (counts.length === 0) return 'no resource changes'
  const gone = tellSome(note.gone, note.replace + note.delete)
  return counts.join(', ') + (note.gone.length > 0 ? ` (${gone})` : '')
}

// The first of them, of so many.
export function tellSome(addresses: readonly string[], count: number = addresses.length): string {
  const shown = addresses.slice(0, mostShown)
  return [...shown, ...(count > shown.length ? ['…'] : [])].join(', ')
}

const mostShown = 20

function isBegun(value: unknown): value is Begun {
  return isRecord(value) && typeof value['revision'] === 'string' && isTime(value['at'])
}

// Anybody may write an annotation.
export function isTime(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 64 && !Number.isNaN(Date.parse(value))
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
}
