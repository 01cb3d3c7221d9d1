// How a process ends: in good order when it is told to; in a hurry when it is told again, has had its time, or must not go on.
// What has to end is its own business.
import type { Clock } from '../runtime/clock.ts'
import type { Process } from '../runtime/process.ts'

// `hurry` interrupts what runs, in good order; one without it has nothing that must not be cut off.
export type Ended = Process & { hurry?(): void }

export interface Times {
  readonly drainMs: number // for what runs, once it is told to end
  readonly hurryMs: number // for what is interrupted
}

export interface Ending {
  // Told to end: what runs may come to its end. Told again: it is interrupted.
  told(): void
  // It must not go on: another leads by now, or it has a bug.
  atOnce(code: number): void
}

export interface EndingOptions extends Times {
  readonly clock: Clock
  served(): Ended | undefined // undefined: it has not begun yet
  exit(code: number): void
}

export function createEnding({ clock, drainMs, hurryMs, served, exit }: EndingOptions): Ending {
  let isEnding = false

  function end(code: number): void {
    isEnding = true
    clock.wakeAt(clock.now() + drainMs, hurry)
    const stopped = served()?.stop() ?? Promise.resolve()
    stopped.then(
      () => exit(code),
      () => exit(1),
    )
  }

  function hurry(): void {
    const ended = served()
    if (!ended?.hurry) return exit(1)
    clock.wakeAt(clock.now() + hurryMs, () => exit(1))
    ended.hurry()
  }

  return {
    told: () => (isEnding ? hurry() : end(0)),
    // In a container our exit is the end of every process in it: what runs is interrupted first, and what it wrote is waited for.
    atOnce(code) {
      if (!served()?.hurry) return exit(code)
      hurry()
      if (!isEnding) end(code)
    },
  }
}
