// Time, passed in: the runtime asks a clock and never the system, so that a test can move it.

export interface Clock {
  now(): number // milliseconds; never goes back
  // Calls once at that time; returns a function that calls it off.
  wakeAt(time: number, call: () => void): () => void
}

const longestMs = 2 ** 31 - 1 // of one timer: Node makes 1 ms of more

export const systemClock: Clock = {
  now: () => performance.now(),
  wakeAt(time, call) {
    let timer: NodeJS.Timeout
    const wait = () => {
      const ms = Math.max(0, Math.ceil(time - performance.now())) // Node cuts fractions off
      timer = ms > longestMs ? setTimeout(wait, longestMs) : setTimeout(call, ms)
    }
    wait()
    return () => clearTimeout(timer)
  },
}
