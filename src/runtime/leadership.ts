// Leading with several Leases: one for each part of the manager that runs here, taken in the same order by everybody, so
// that two processes never hold one each and wait for the other. Leads while it holds all of them.
import type { Provider } from '../api/provider.ts'
import type { Election } from './election.ts'

// One for each part of the manager that can run apart.
export const leases: Readonly<Record<Provider, string>> = {
  infrastructure: 'capt-infrastructure',
  'control-plane': 'capt-control-plane',
}

export interface Leadership {
  start(): void
  holds(): boolean
  stop(): Promise<void>
}

export interface Candidacy {
  readonly elections: readonly ((onLeading: () => void) => Election)[]
  readonly isElected: boolean // else it leads without asking
  onLeading(): void
}

export function createLeadership({ elections, isElected, onLeading }: Candidacy): Leadership {
  if (!isElected) return { start: onLeading, holds: () => true, stop: async () => {} }
  const all: Election[] = []
  for (const make of elections.toReversed()) {
    const [next] = all
    all.unshift(make(() => (next ? next.start() : onLeading())))
  }
  return {
    start: () => all[0]?.start(),
    holds: () => all.every((election) => election.holds()),
    // The last taken goes first: who waits for the first then finds the others free.
    async stop() {
      for (const election of all.toReversed()) await election.stop()
    },
  }
}
