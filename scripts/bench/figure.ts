// What was measured, once or several times, and what it may be at most.
import { table } from '../table.ts'

export interface Figure {
  readonly what: string
  readonly unit: string
  readonly values: readonly number[]
  readonly atMost?: number
  readonly known?: string // why it is missed, where that is known and lived with
  readonly others?: string // the same of another program, as it was measured on two cores: whose, and how much
}

export function figureTable(figures: readonly Figure[]): string {
  return table(['what', 'median', 'spread', 'budget', '', 'others'], figures.map(rowOf))
}

// What nobody knows of yet.
export function missedIn(figures: readonly Figure[]): readonly Figure[] {
  return figures.filter((figure) => isMissed(figure) && figure.known === undefined)
}

function medianOf({ values }: Figure): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function isMissed(figure: Figure): boolean {
  return figure.atMost !== undefined && !(medianOf(figure) <= figure.atMost)
}

function rowOf(figure: Figure): string[] {
  const { what, unit, values, atMost, known, others = '' } = figure
  const median = medianOf(figure)
  const tell = (value: number) => (value >= 10 ? value.toFixed(0) : value.toFixed(2))
  const spread = values.length > 1 ? `${tell(Math.min(...values))} – ${tell(Math.max(...values))} ${unit}` : ''
  const budget = atMost === undefined ? '' : `≤ ${atMost} ${unit}`
  const missed = known === undefined ? 'MISSED' : `missed: ${known}`
  const verdict = atMost === undefined ? '' : isMissed(figure) ? missed : 'kept'
  return [what, `${tell(median)} ${unit}`, spread, budget, verdict, others]
}

export async function timed<T>(work: () => Promise<T>): Promise<[seconds: number, result: T]> {
  const began = performance.now()
  const result = await work()
  return [(performance.now() - began) / 1000, result]
}
