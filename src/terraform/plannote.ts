// What the engine tells of its last plan, in an annotation of the Workspace: how much would change, what would go, and
// whether that waits for somebody's word. Written by the engine, read by the manager and by people. Pure.
import { isRecord, parsedJson } from '../api/record.ts'

export interface PlanNote {
  readonly id: string // what `approve` must say: a hash of the revision and of what would go
  readonly create: number
  readonly update: number
  readonly replace: number
  readonly delete: number
  readonly gone: readonly string[] // addresses of what would be deleted or replaced, the first 20
  readonly held?: Held
}

// Why it waits. Destructive: it deletes or replaces, and the Workspace is guarded. Interrupted: an apply was killed, and
// what it may have made would be made again. AnotherCLI: the state was written by the other family of command lines.
const reasons = ['Destructive', 'Interrupted', 'AnotherCLI'] as const
export type Held = (typeof reasons)[number]

const goneTold = 20

export function tellPlanNote({ gone, ...note }: PlanNote): string {
  return JSON.stringify({ ...note, gone: gone.slice(0, goneTold) })
}

// Anybody can write an annotation: what is no note is none, and what is missing in one is nothing.
export function readPlanNote(text: string | undefined): PlanNote | undefined {
  const note = text === undefined ? undefined : parsedJson(text)
  if (!isRecord(note) || typeof note['id'] !== 'string') return undefined
  const { id, gone } = note
  const held = reasons.find((each) => each === note['held'])
  const addresses = Array.isArray(gone) ? gone.filter((each) => typeof each === 'string') : []
  return {
    id,
    create: countOf(note['create']),
    update: countOf(note['update']),
    replace: countOf(note['replace']),
    delete: countOf(note['delete']),
    gone: addresses.slice(0, goneTold),
    ...(held && { held }),
  }
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}
