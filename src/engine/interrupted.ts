// What an apply that was killed may have made without anybody knowing. Pure.
import type { Interrupted, Planned } from '../terraform/planned.ts'
import type { Run } from './memory.ts'

export interface Interruption {
  readonly run: Run
  readonly log: string | undefined // what it printed; undefined when that is lost
  readonly planned: Planned // what would be done now
}

// What the killed apply began to make and the plan would make again: it may be there twice. That it said "Creation complete"
// changes nothing, because states are written every 20 seconds: what was written, no plan makes again.
export function inFlight({ run, log, planned }: Interruption): Interrupted | undefined {
  if (run.operation === 'destroy') return undefined // what is gone already is not destroyed again
  const makes = [...planned.create, ...planned.replace]
  const begun = log === undefined ? run.creates : begunIn(log)
  const again = begun === 'many' ? makes : makes.filter((address) => begun.includes(address))
  return again.length === 0 ? undefined : { startedAt: run.startedAt, again }
}

// What the killed apply began to make and is not in the state: a destroy knows nothing of it.
export function strays({ run, log, known }: Omit<Interruption, 'planned'> & { readonly known: readonly string[] }) {
  if (run.operation === 'destroy') return []
  const begun = log === undefined ? run.creates : begunIn(log)
  return begun === 'many' ? begun : begun.filter((address) => !known.includes(address))
}

// Output of a provisioner has its resource in front, and so is no address.
function begunIn(log: string): readonly string[] {
  return [...log.matchAll(/^(.+): Creating\.\.\./gm)].map(([, address = '']) => address)
}
