// Whether the API server answers, known from the answers to everything that is asked anyway. It asks by itself only when
// somebody wants to know and nothing was heard lately.
import type { Answered, Client } from '../kube/client.ts'
import type { Clock } from './clock.ts'

export interface Pulse {
  heard(answered: Answered): void
  isAnswering(): boolean
}

const freshMs = 5000

export function createPulse(clock: Clock, ask: () => Pick<Client, 'ready'>): Pulse {
  let last: { readonly at: number; readonly isAnswer: boolean } | undefined
  let isAsking = false
  async function refresh(): Promise<void> {
    isAsking = true
    const isAnswer = await ask().ready()
    last = { at: clock.now(), isAnswer }
    isAsking = false
  }
  return {
    // A server that is overloaded or not ready answers with 5xx, and so does a proxy whose server is away.
    heard({ code }) {
      last = { at: clock.now(), isAnswer: code !== undefined && code < 500 }
    },
    isAnswering() {
      if (!isAsking && (!last || clock.now() - last.at > freshMs)) void refresh()
      return last?.isAnswer ?? false
    },
  }
}
