// What is done for the tokens of a control plane that is paused or leaves: one that is due is renewed where one is, and nothing else is
// touched. Pure.
import type { Effect } from '../../runtime/plan.ts'
import { runOf } from '../childapply.ts'
import { type Fault, put, troubleOf } from './kubeconfigs.ts'
import { secondsUntil } from './patience.ts'
import type { Seen } from './seen.ts'
import { due, isGood, soonest, untilRenewal } from './upkeep.ts'

interface Renewal {
  readonly effects: readonly Effect[]
  readonly trouble: { readonly why: string; readonly fault: Fault } | undefined // one is due, and cannot be had
  readonly againAfterSeconds: number | undefined
}

// `told` is the condition that tells of the trouble.
export function renewalOf(seen: Seen, told: 'Paused' | 'Deleting'): Renewal {
  const { eks, secrets } = seen
  const wanted = due(seen)
  const trouble = wanted.length > 0 ? troubleOf(seen, eks && runOf(eks)) : undefined
  const better = trouble ? wanted.filter((role) => !isGood(seen, role)) : wanted
  const effects = secrets.credential.is === 'fresh' ? put(seen, better, secrets.credential.material) : []
  return {
    effects,
    trouble: trouble && { why: trouble.said.message, fault: trouble.fault ?? 'Incomplete' },
    againAfterSeconds: soonest([
      trouble?.again && effects.length < wanted.length ? secondsUntil(trouble.again, seen, told) : undefined,
      untilRenewal(seen, effects),
    ]),
  }
}
