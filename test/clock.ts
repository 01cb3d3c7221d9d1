// Time as something one can hold: the real clock, and one that stands still until a test moves it.
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock as RuntimeClock } from '../src/runtime/clock.ts'

export interface Clock {
  now(): number // milliseconds
  sleep(ms: number): Promise<void>
}

export const realClock: Clock = {
  now: () => performance.now(),
  sleep: async (ms) => wait(ms),
}

export interface VirtualClock extends Clock, RuntimeClock {
  // Moves time on. Sleepers wake in the order of their hours, each seeing its own hour, and may sleep again on the way.
  advance(ms: number): Promise<void>
}

export function virtualClock(startAt = 0): VirtualClock {
  let now = startAt
  let sleepers: readonly { readonly at: number; readonly wake: () => void }[] = []
  const wakeAt = (at: number, wake: () => void) => {
    const sleeper = { at, wake }
    sleepers = [...sleepers, sleeper].toSorted((a, b) => a.at - b.at)
    return () => {
      sleepers = sleepers.filter((each) => each !== sleeper)
    }
  }
  return {
    now: () => now,
    wakeAt,
    sleep: async (ms) =>
      new Promise((wake) => {
        wakeAt(now + ms, wake)
      }),
    async advance(ms) {
      const end = now + ms
      await settle()
      for (let next = sleepers[0]; next && next.at <= end; next = sleepers[0]) {
        sleepers = sleepers.slice(1)
        now = Math.max(now, next.at)
        next.wake()
        await settle()
      }
      now = end
    },
  }
}

// Lets everything that can run without time passing run.
async function settle(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve)
  })
}
