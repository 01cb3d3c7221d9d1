// What the words of a plan say, where it only creates: then its JSON need not be asked for, which is a call saved for every
// first apply. Undefined whenever there is any doubt. And what of these words is the plan. Pure.
import type { Planned } from './planned.ts'

// Without what was told on the way to it, which comes in another order each time.
export function withoutProgress(text: string): string {
  return text.replace(onTheWay, '')
}

const steps = [
  'Refreshing state',
  'Reading',
  'Still reading',
  'Preparing import',
  'Opening',
  'Still opening',
  'Closing',
]
const ends = ['Read', 'Opening', 'Closing'].map((what) => `${what} complete after`)
// What belongs to the plan is indented.
const onTheWay = new RegExp(`^\\S.*: (?:(?:${steps.join('|')})\\.\\.\\.|${ends.join('|')}).*\\n`, 'gm')

export function readPlanText(text: string): Planned | undefined {
  const summaries = text.match(/^Plan: .*$/gm) ?? []
  const create = [...text.matchAll(/^ {2}# (.+) will be created$/gm)].map(([, address = '']) => address)
  // Twice: one of them is not the plan's own, and which cannot be told.
  if (summaries.length !== 1 || summaries[0] !== `Plan: ${create.length} to add, 0 to change, 0 to destroy.`)
    return undefined
  return { create, update: [], replace: [], delete: [] }
}
