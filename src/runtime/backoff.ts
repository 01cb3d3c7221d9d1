// How long to wait before the next try. It does not wait.

export interface Backoff {
  next(): number // milliseconds
  reset(): void // the next wait is the first again
}

export interface BackoffOptions {
  readonly firstMs: number
  readonly longestMs: number
  readonly random: () => number // from 0 up to 1
}

// Doubles each time, and is drawn from the upper half, so that those who failed together part.
export function createBackoff({ firstMs, longestMs, random }: BackoffOptions): Backoff {
  let span = firstMs
  return {
    next() {
      const wait = Math.min(longestMs, span) * (0.5 + random() / 2)
      span = Math.min(longestMs, span * 2)
      return wait
    },
    reset() {
      span = firstMs
    },
  }
}
