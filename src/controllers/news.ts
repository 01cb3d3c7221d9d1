// An event for what an object has not said before: once, not with every pass. Pure.
import { type Condition, type Said, wasSaid } from '../api/condition.ts'
import type { Effect } from '../runtime/plan.ts'

export function news(
  said: readonly Said[],
  before: readonly Condition[] | undefined,
  isWorthTelling: (said: Said) => boolean,
): readonly Effect[] {
  return said.flatMap((each): readonly Effect[] => {
    if (wasSaid(each, before) || !isWorthTelling(each)) return []
    const type = each.status === 'True' ? 'Normal' : 'Warning'
    return [{ do: 'tell', type, reason: each.reason, note: each.message || 'what was asked for is there' }]
  })
}
