// What was measured, once or several times, and what it may be at most.
import { table } from '../table.ts'

export interface Figure {
  readonly what: string
  readonly unit: string
  readonly values: readonly number[]
  readonly atMost?: number
}

export function figureTable(figures: readonly Figure[]): string {
  return table(['what', 'median', 'spread', 'budget', ''], figures.map(rowOf))
}

function rowOf({ what, unit, values, atMost }: Figure): string[] {
  const sorted = values.toSorted((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const tell = (value: number) => (value >= 10 ? value.toFixed(0) : value.toFixed(2))
  const spread = sorted.length > 1 ? `${tell(sorted[0] ?? median)} – ${tell(sorted.at(-1) ?? median)} ${unit}` : ''
  const verdict = atMost === undefined ? ['', ''] : [`≤ ${atMost} ${unit}`, median <= atMost ? 'kept' : 'MISSED']
  return [what, `${tell(median)} ${unit}`, spread, ...verdict]
}

export async function timed<T>(work: () => Promise<T>): Promise<[seconds: number, result: T]> {
  const began = performance.now()
  const result = await work()
  return [(performance.now() - began) / 1000, result]
}
