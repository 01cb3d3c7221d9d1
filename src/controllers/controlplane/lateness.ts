// Whether something takes longer than a user would think. Nothing is given up for it. Pure.

export interface Lateness {
  readonly isLate: boolean
  readonly inSeconds: number // until it is
}

// Since when is not always known: then it begins now.
export function latenessOf(sinceMs: number | undefined, minutes: number, now: Date): Lateness {
  const isKnown = sinceMs !== undefined && !Number.isNaN(sinceMs)
  const left = (isKnown ? sinceMs : now.getTime()) + minutes * 60_000 - now.getTime()
  return { isLate: left <= 0, inSeconds: Math.max(1, Math.ceil(left / 1000)) }
}
