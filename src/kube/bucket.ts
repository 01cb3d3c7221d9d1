// A bucket of tokens: so many questions a second, and as many at once as have been saved up. Who comes to an empty
// bucket waits; those who wait are served in order.

export interface Bucket {
  // Resolves when it is one's turn.
  take(signal?: AbortSignal): Promise<void>
}

export interface BucketOptions {
  readonly perSecond: number
  readonly burst: number
  readonly now?: () => number // milliseconds
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>
}

export function createBucket({ perSecond, burst, now = () => performance.now(), sleep = wait }: BucketOptions): Bucket {
  let tokens = burst // negative: promised to those who wait
  let filledAt = now()
  return {
    async take(signal) {
      const time = now()
      tokens = Math.min(burst, tokens + ((time - filledAt) / 1000) * perSecond)
      filledAt = time
      tokens -= 1
      if (tokens >= 0) return
      await sleep((-tokens / perSecond) * 1000, signal)
    },
  }
}

async function wait(ms: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const callOff = () => {
      clearTimeout(timer)
      reject(signal?.reason instanceof Error ? signal.reason : new Error('called off'))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', callOff)
      resolve()
    }, ms)
    signal?.addEventListener('abort', callOff, { once: true })
  })
}
