// A state as a backend keeps it, as far as it must be known to keep it safe: whose it is, how old it is, whether anything is
// in it, and whether it is still the one that was there before. What is in it is not read. Pure.
import { hashOf } from '../api/canonical.ts'
import { annotations } from '../api/keys.ts'
import { isRecord, readJson } from '../api/record.ts'

export interface StateHead {
  readonly lineage: string // the same through the whole life of a state
  readonly serial: number // grows with every write
  readonly isEmpty: boolean // no resource is in it
}

// Undefined when the text is no state. An encrypted one tells its lineage and serial too, but not that it is empty.
export function readStateHead(text: string): StateHead | undefined {
  const state = readJson(text)
  if (!isRecord(state) || typeof state['lineage'] !== 'string' || typeof state['serial'] !== 'number') return undefined
  const { lineage, serial, resources } = state
  return { lineage, serial, isEmpty: Array.isArray(resources) && resources.length === 0 }
}

export interface StateFound {
  readonly where: string // for people: "Secret capt-terraform-state/tfstate-default.demo-capt"
  readonly head: StateHead | 'absent' | 'damaged'
}

export interface StateQuestion {
  readonly known: StateHead | undefined // as the last apply left it
  readonly found: StateFound // before a plan: that begins a new state where there is none
  readonly approve: string | undefined // the user's word on the Workspace
}

export type StateVerdict = { readonly is: 'fine' } | { readonly is: 'gone' | 'damaged'; readonly message: string } // nothing may be applied

const fine: StateVerdict = { is: 'fine' }

// A state that had something in it and is no longer there must not be begun anew: everything would be made a second time.
export function judgeState({ known, found: { where, head }, approve }: StateQuestion): StateVerdict {
  if (head === 'damaged')
    return { is: 'damaged', message: `the state in ${where} cannot be read: restore it from a copy` }
  if (!known || known.isEmpty || !isLost(known, head)) return fine
  const { lineage, serial } = known
  const id = hashOf({ lost: { lineage, serial } }).slice(0, 12)
  if (approve === id) return fine
  return {
    is: 'gone',
    message:
      `the state in ${where} is gone (serial ${serial}, lineage ${lineage}): restore it from a copy, or, if nothing it ` +
      `held exists any more, annotate ${annotations.approve}=${id} to make everything anew`,
  }
}

// One of another lineage that is empty is what a command began where it found none. One with resources in it was put there
// by somebody, and an older one of the same lineage was restored.
function isLost(known: StateHead, head: StateHead | 'absent'): boolean {
  return head === 'absent' || (head.lineage !== known.lineage && head.isEmpty)
}
