// Waiting for the world: look again and again until what is seen will do, and say what was seen last when it will not.
import { type Clock, realClock } from './clock.ts'

export interface Patience {
  readonly withinSeconds?: number
  readonly everyMs?: number
  readonly clock?: Clock
  readonly giveUp?: () => string | undefined // a reason why waiting on is of no use
}

// Looks until `look` yields something that is not undefined. An error while looking is a thing seen, not an end.
export async function until<T>(what: string, look: () => Promise<T | undefined>, patience: Patience = {}): Promise<T> {
  const { withinSeconds = 30, everyMs = 50, clock = realClock, giveUp } = patience
  const deadline = clock.now() + withinSeconds * 1000
  let trouble: Error | undefined
  for (;;) {
    try {
      const seen = await look()
      if (seen !== undefined) return seen
      trouble = undefined
    } catch (error) {
      trouble = error as Error
    }
    const hopeless = giveUp?.()
    const late = clock.now() >= deadline
    if (hopeless !== undefined || late) {
      const why = hopeless ?? `not within ${withinSeconds} s`
      throw new Error(`${what}: ${why}${trouble ? `\nlast trouble: ${trouble.message}` : ''}`, { cause: trouble })
    }
    await clock.sleep(everyMs)
  }
}
