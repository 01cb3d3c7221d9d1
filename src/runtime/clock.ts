// Time, passed in: the runtime asks a clock and never the system, so that a test can move it.

export interface Clock {
  now(): number // milliseconds; never goes back
  // Calls once at that time; returns a function that calls it off.
  wakeAt(time: number, call: () => void): () => void
}

export const systemClock: Clock = {
  now: () => performance.now(),
  wakeAt(time, call) {
    const timer = setTimeout(call, Math.max(0, Math.ceil(time - performance.now()))) // Node cuts fractions off
    return () => clearTimeout(timer)
  },
}
