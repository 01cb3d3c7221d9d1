// A state as a backend keeps it, as far as it must be known to keep it safe: whose it is, how old it is, whether anything is
// in it, and whether it is still the one that was there before. Of what is in it only addresses are read. Pure.
import { hashOf } from '../api/canonical.ts'
import { isRecord, readJson } from '../api/record.ts'

export interface StateHead {
  readonly lineage: string // the same through the whole life of a state
  readonly serial: number // grows with every write
  readonly isEmpty: boolean // no resource is in it
}

// Undefined when the text is no state. An encrypted one tells its lineage and serial too, but not that it is empty.
export function readStateHead(text: string): StateHead | undefined {
  const state = readJson(text)
  if (!isRecord(state)) return undefined
  const { lineage, serial, resources } = state
  if (typeof lineage !== 'string' || !isSerial(serial)) return undefined
  return { lineage, serial, isEmpty: Array.isArray(resources) && resources.length === 0 }
}

// One that cannot be counted on from is none.
export function isSerial(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

// What Terraform calls a state that it could not write to where it belongs.
export const leftState = 'errored.tfstate'

// A file that a command would take for a state of its own, or that holds one.
export function isStateFile(path: string): boolean {
  return path.split('/').some((part) => part === leftState || part.startsWith('terraform.tfstate'))
}

// Of everything that is in it and was made, as plans write them; none of an encrypted one.
export function addressesIn(text: string): readonly string[] {
  const state = readJson(text)
  const resources = isRecord(state) && Array.isArray(state['resources']) ? state['resources'].filter(isRecord) : []
  return resources
    .filter(({ mode }) => mode === 'managed')
    .flatMap(({ module, type, name, instances }) => {
      const address = [module, type, name].filter((each) => typeof each === 'string').join('.')
      const all = Array.isArray(instances) ? instances.filter(isRecord) : []
      return all.map(({ index_key: key }) => (key === undefined ? address : `${address}[${JSON.stringify(key)}]`))
    })
}

// How many things are in it; undefined when that cannot be seen, as in an encrypted one.
export function countIn(text: string): number | undefined {
  const state = readJson(text)
  return isRecord(state) && Array.isArray(state['resources']) ? addressesIn(text).length : undefined
}

export interface StateFound {
  readonly where: string // for people: "Secret capt-terraform-state/tfstate-default.demo-capt"
  readonly head: StateHead | 'absent' | 'damaged'
}

export interface StateQuestion {
  readonly known: StateHead | undefined // as the last apply left it
  readonly found: StateFound // before a plan: that begins a new state where there is none
  readonly wasThere: boolean // once, as the Workspace itself says, by whomever it was made
  readonly rival?: StateHead // came with its apply, while another is there
  readonly mayBeAnothers?: boolean // the state that is there, by its name: no word on the apply is enough to take it
  readonly movedSince?: string // what was built with the state that is there, or, absent, may be: it did not come back
  readonly uid: string // of the Workspace: a word on its apply comes along to other clusters
  readonly wish: 'make' | 'destroy'
  readonly approve: string | undefined // the user's word on the Workspace
  command(id: string): string // by which the user gives it
  readonly restore: string | undefined // the command by which the last copy is restored, where there is one
}

export type StateVerdict = { readonly is: 'fine' } | { readonly is: 'gone' | 'damaged'; readonly message: string } // nothing may be applied

const fine: StateVerdict = { is: 'fine' }

// A state that had something in it and is no longer there must not be begun anew: everything would be made a second time, or
// nothing be destroyed. Of one that nobody knows, only its absence tells: whoever makes a Workspace leaves a state, if an empty one.
export function judgeState(question: StateQuestion): StateVerdict {
  const { known, found, wasThere, rival, mayBeAnothers, movedSince, uid, wish, approve, command, restore } = question
  const { where, head } = found
  const fromCopy = `restore it from a copy${restore === undefined ? '' : ` (${restore})`}`
  if (head === 'damaged') return { is: 'damaged', message: `the state in ${where} cannot be read: ${fromCopy}` }
  const isGone = known ? !known.isEmpty && isLost(known, head) : wasThere && head === 'absent'
  if (!isGone && !rival && movedSince === undefined) return fine
  const lostOne = known ? { lineage: known.lineage, serial: known.serial } : where
  const id = hashOf({ lost: lostOne, rival, movedSince, uid }).slice(0, 12)
  const isBarred = rival !== undefined && mayBeAnothers === true
  if (approve === id && !isBarred) return fine
  if (rival) {
    const came = `there is no state in ${where}, although one came with its apply (serial ${rival.serial}, lineage ${rival.lineage})`
    const goOn = isBarred ? '' : `, or go on with what is there with: ${command(id)}`
    const message = `${came}: what is there is of another lineage, and nobody knows which of both is true; ${fromCopy}${goOn}`
    return { is: 'gone', message }
  }
  if (movedSince !== undefined) {
    const is = head === 'absent' ? 'may be' : 'is left'
    const left = `there is no state in ${where}, although one ${is} there: what was built with it was moved to another cluster (${movedSince})`
    const message = `${left}; give the apply another name, or, if this one is to look after that again, or nothing of it is left, go on with: ${command(id)}`
    return { is: 'gone', message }
  }
  const lost = known
    ? `the state in ${where} is gone (serial ${known.serial}, lineage ${known.lineage}): ${fromCopy}`
    : `there is no state in ${where}, although this was made before: ${fromCopy}`
  const then = wish === 'make' ? 'make everything anew' : 'let it go'
  return { is: 'gone', message: `${lost}, or, if nothing it held exists any more, ${then} with: ${command(id)}` }
}

// Whether an engine of ours says so of a Workspace, in the words above.
export function isStateMissing(told: string): boolean {
  return /^(?:the state in \S+ \S+ (?:is gone|cannot be read)|there is no state in \S+ \S+, although)\b/.test(told)
}

// One of another lineage that is empty is what a command began where it found none. One with resources in it was put there
// by somebody, and an older one of the same lineage was restored.
function isLost(known: StateHead, head: StateHead | 'absent'): boolean {
  return head === 'absent' || (head.lineage !== known.lineage && head.isEmpty)
}
