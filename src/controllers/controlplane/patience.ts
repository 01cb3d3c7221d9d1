// How long to wait before something is tried again for which nothing will wake us. Pure.
import type { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { timesOf } from '../../secrets/copies.ts'
import type { Seen } from './seen.ts'

export type Again =
  | 'atOnce' // a moment, and it can go on
  | 'patiently' // the longer it has been so, the less often
  | 'eachMinute' // somebody has to mend it where we cannot see it

const [shortest, longest] = [5, 60]

// `told` is the condition that tells of the trouble.
export function secondsUntil(again: Again, seen: Seen, told: keyof typeof CAPTControlPlane.words): number {
  switch (again) {
    case 'atOnce':
      return 1
    case 'patiently':
      return patienceOf(seen, told)
    case 'eachMinute':
      return longest
  }
}

// A condition dates from when its status changed, which may be long before this trouble: it began when Terraform was done, or when a token
// was due, if that is later.
function patienceOf({ controlPlane, eks, secrets: { copies }, now }: Seen, type: string): number {
  const told = controlPlane.status?.conditions?.find((each) => each.type === type)
  const isFalse = told?.status === 'False'
  const isOld = isFalse || (type !== 'Available' && told !== undefined && told.message !== '')
  if (!isOld) return shortest
  const copy = copies.get('kubeconfig')
  const moments = [
    isFalse ? Date.parse(told.lastTransitionTime) : Number.NaN,
    Date.parse(eks?.status?.lastAppliedTime ?? ''),
    (copy && timesOf(copy.secret).renews?.getTime()) ?? Number.NaN,
  ]
  const since = Math.max(0, ...moments.filter((each) => each <= now.getTime()))
  return Math.min(longest, Math.max(shortest, Math.round((now.getTime() - since) / 1000)))
}
