// capt state export: the state of an apply, or a copy of it, as text for a file.
import { readStateHead } from '../terraform/state.ts'
import { Complaint } from './complaint.ts'
import { type Asked, chosen, findStates, stateNow, tellApply, textOfCopy } from './statefind.ts'

export interface Exported {
  readonly text: string
  readonly serial: number
}

// Without `at`: as it is.
export async function exportState(asked: Asked, at?: string): Promise<Exported> {
  const states = await findStates(asked)
  if (at !== undefined) return withSerial(await textOfCopy(asked, chosen(states, at, asked)))
  if (!states.key) throw new Complaint(`nothing is known of a state of ${tellApply(asked)} in this cluster`)
  const { where, text } = await stateNow(asked, states.key)
  if (text === '') throw new Complaint(`there is no state in ${where} that can be read: export a copy with --at latest`)
  return withSerial(text)
}

function withSerial(text: string): Exported {
  return { text, serial: readStateHead(text)?.serial ?? 0 }
}
