// An event for what an object has not said before: once, not with every pass. Pure.
import { type Condition, type Said, wasSaid } from '../api/condition.ts'
import type { Effect } from '../runtime/plan.ts'

export function news(
  said: readonly Said[],
  before: readonly Condition[] | undefined,
  isWorthTelling: (said: Said) => boolean,
): readonly Effect[] {
  const fresh = said.filter((each) => !wasSaid(each, before) && isWorthTelling(each))
  const done = fresh.findLast(isDone)
  return fresh
    .filter((each) => each === done || !isDone(each)) // what is done at once is one piece of news, and the last sums it up
    .map(({ status, reason, message }): Effect => {
      const type = status === 'True' ? 'Normal' : 'Warning'
      return { do: 'tell', type, reason, note: message || 'what was asked for is there' }
    })
}

function isDone({ status, message }: Said): boolean {
  return status === 'True' && !message
}
