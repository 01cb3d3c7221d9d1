// How long the process was too busy to turn to anything new. It measures and tells; it ends nothing.
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

const tickMs = 500
const longMs = 2000

export interface EventLoop {
  // The longest lag since this was last asked.
  lagSeconds(): number
  stop(): void
}

export function startEventLoop({ clock, log }: { readonly clock: Clock; readonly log: Log }): EventLoop {
  let longest = 0
  let callOff = wait()

  function wait(): () => void {
    const due = clock.now() + tickMs
    return clock.wakeAt(due, () => {
      const lag = Math.max(0, clock.now() - due)
      longest = Math.max(longest, lag)
      if (lag >= longMs) log.warn('the event loop was stuck', { seconds: lag / 1000 })
      callOff = wait()
    })
  }

  return {
    lagSeconds() {
      const seconds = longest / 1000
      longest = 0
      return seconds
    },
    stop: () => callOff(),
  }
}
