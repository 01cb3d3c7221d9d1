// Whether a state may be put in the place of the one that is there, and as what: by the rules of `terraform state push`, told to
// whoever has to decide. Pure.
import { isRecord, readJson } from '../api/record.ts'
import { countIn, readStateHead, type StateHead } from './state.ts'

type Numbered = Pick<StateHead, 'lineage' | 'serial'>

export interface RestoreQuestion {
  readonly text: string // of the state that is to be restored
  readonly found: StateHead | 'absent' | 'damaged' // where it is to be put
  readonly foundText: string
  readonly lineage: string | undefined // that it had as far as anybody knows, where none can be seen
  readonly known: readonly Numbered[] // all that there are or were, as far as anybody knows
  readonly isForced: boolean // another lineage is meant
}

export type RestoreVerdict =
  | { readonly is: 'refused'; readonly why: string }
  | { readonly is: 'same'; readonly head: StateHead } // it is what is there
  | {
      readonly is: 'fine'
      readonly text: string
      readonly head: StateHead // with the serial that it is to have
      readonly resources: number | undefined
      readonly warning: string | undefined
    }

export function judgeRestore(question: RestoreQuestion): RestoreVerdict {
  const { text, found, foundText, isForced } = question
  const head = readStateHead(text)
  if (!head)
    return { is: 'refused', why: 'what is to be restored is no state of Terraform: it has no lineage and serial' }
  if (text === foundText) return { is: 'same', head }
  const lineage = lineageOf(question)
  if (lineage !== undefined && lineage !== head.lineage && !isForced) {
    const why = `it is of another lineage (${head.lineage}, and here was ${lineage}): it may be the state of something else; with --force it is restored nevertheless`
    return { is: 'refused', why }
  }
  // A serial that was there already would make an old plan pass for a fresh one.
  const newest = newestOf(question, head)
  const isOld = newest !== undefined && newest > head.serial
  const there = typeof found === 'object' && found.lineage === head.lineage ? found.serial : -1
  const isSealed = withSerial(text, 0) === undefined // an encrypted one is put back as it is, where that can be
  const last = Math.max(there, isOld && !isSealed ? newest : -1)
  const serial = head.serial > last ? head.serial : last + 1
  const written = serial === head.serial ? text : withSerial(text, serial)
  if (written === undefined) {
    const why = `it needs another serial than ${head.serial}, for ${last} is there, and it is encrypted: export it, and push it with tofu state push -force`
    return { is: 'refused', why }
  }
  const resources = countIn(text)
  return { is: 'fine', text: written, head: { ...head, serial }, resources, warning: warningOf(head, newest) }
}

function warningOf({ serial }: StateHead, newest: number | undefined): string | undefined {
  const again = 'what was made since is not in it, and would be made again'
  if (newest === undefined) return `nobody knows whether it is the last one: if it is not, ${again}`
  return newest > serial ? `it is older than serial ${newest}: ${again}` : undefined
}

// The greatest serial of its lineage; undefined: of that lineage nothing is known.
function newestOf({ known }: RestoreQuestion, { lineage }: StateHead): number | undefined {
  const serials = known.filter((each) => each.lineage === lineage).map(({ serial }) => serial)
  return serials.length === 0 ? undefined : Math.max(...serials)
}

// One that is empty is what a command began where it found none: it says nothing.
function lineageOf({ found, lineage }: RestoreQuestion): string | undefined {
  return typeof found === 'object' && !found.isEmpty ? found.lineage : lineage
}

// Undefined of an encrypted one: what is outside and inside of it would differ.
function withSerial(text: string, serial: number): string | undefined {
  const state = readJson(text)
  return isRecord(state) && Array.isArray(state['resources'])
    ? JSON.stringify({ ...state, serial }, null, 2)
    : undefined
}
