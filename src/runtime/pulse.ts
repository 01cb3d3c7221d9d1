// Whether the API server answers, known from the answers to everything that is asked anyway. It asks by itself only when
// somebody wants to know and nothing was heard lately.
import type { Answered, Client } from '../kube/client.ts'
import type { Clock } from './clock.ts'

export interface Pulse {
  heard(answered: Answered): void
  isAnswering(): boolean
  answeringSince(): number // by the clock; before it there was trouble
}

const freshMs = 5000

export function createPulse(clock: Clock, ask: () => Pick<Client, 'ready'>): Pulse {
  let last: { readonly at: number; readonly isAnswer: boolean } | undefined
  let since = clock.now()
  let isAsking = false
  function note(isAnswer: boolean): void {
    if (isAnswer && !last?.isAnswer) since = clock.now()
    last = { at: clock.now(), isAnswer }
  }
  async function refresh(): Promise<void> {
    isAsking = true
    note(await ask().ready())
    isAsking = false
  }
  return {
    // A server that is overloaded or not ready answers with 5xx, and so does a proxy whose server is away.
    heard: ({ code }) => note(code !== undefined && code < 500),
    isAnswering() {
      if (!isAsking && (!last || clock.now() - last.at > freshMs)) void refresh()
      return last?.isAnswer ?? false
    },
    answeringSince: () => since,
  }
}
