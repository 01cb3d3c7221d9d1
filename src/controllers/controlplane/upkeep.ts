// What is asked of each of a control plane's Secrets by itself: whether its name is free for ours, whether it is in order, whether it is
// good, and so which of them are to be written. Pure.
import type { Secret } from '../../api/neighbours.ts'
import type { Effect } from '../../runtime/plan.ts'
import { copyName, isRenewed, type Role, roles, timesOf } from '../../secrets/copies.ts'
import { whyForeign } from '../../secrets/whose.ts'
import { ownedBy } from '../childapply.ts'
import { clusterNameOf } from './eks.ts'
import type { Answer, Copy, Secrets, Seen } from './seen.ts'

type Kept = Pick<Seen, 'controlPlane' | 'now'> & { readonly secrets: Pick<Secrets, 'copies' | 'inTheWay' | 'answer'> }

export function foreignness({ controlPlane }: Pick<Kept, 'controlPlane'>, secret: Secret): string | undefined {
  return whyForeign(secret, { cluster: clusterNameOf(controlPlane), owner: ownedBy(controlPlane) })
}

// Nothing is under its name, or a copy of ours.
export function isFree(seen: Kept, role: Role): boolean {
  const name = copyName(role, clusterNameOf(seen.controlPlane))
  if (seen.secrets.inTheWay.some(({ metadata }) => metadata.name === name)) return false
  const copy = seen.secrets.copies.get(role)
  return copy === undefined || foreignness(seen, copy.secret) === undefined
}

// As it should be, and for a while.
function isFine({ secrets: { copies }, now }: Kept, role: Role): boolean {
  const copy = copies.get(role)
  return copy?.isIntact === true && copy.isCurrent && !(isRenewed(role) && isDue(copy, now))
}

function isDue({ secret }: Copy, now: Date): boolean {
  const { expires, renews = expires } = timesOf(secret)
  return renews !== undefined && renews <= now
}

// The API server has answered with it, as far as we know, and it has not expired: it is not given up for what is not known to be good.
export function isGood({ controlPlane, secrets: { copies }, now }: Kept, role: Role): boolean {
  const copy = copies.get(role)
  if (!copy?.isIntact || controlPlane.status?.initialization?.controlPlaneInitialized !== true) return false
  const { expires } = timesOf(copy.secret)
  return expires === undefined || expires > now
}

// What is kept is rejected, although it should be good, and another may be made: not of the template's, which is as it is.
export function isSpurned({ controlPlane, secrets: { answer } }: Kept): boolean {
  return isRejected(answer) && controlPlane.spec.kubeconfig?.source !== 'Template'
}

export function isRejected(answer: Answer): boolean {
  return answer.is === 'no' && answer.isRejected === true
}

// To be written of something that is good. The two with a token in them have the same one.
export function lacking(seen: Kept): readonly Role[] {
  const free = roles.filter((role) => isFree(seen, role))
  const worn = free.filter((role) => !isFine(seen, role))
  const isTokenDue = isSpurned(seen) || worn.some(isRenewed)
  return free.filter((role) => worn.includes(role) || (isTokenDue && isRenewed(role)))
}

// To be written even of something that nobody has answered to: there is nothing to lose.
export function bare(seen: Kept): readonly Role[] {
  return lacking(seen).filter((role) => !isFine(seen, role) && !isGood(seen, role))
}

// To be renewed even where nothing else is touched: each by itself, whatever the others are.
export function due(seen: Kept): readonly Role[] {
  return roles.filter(isRenewed).filter((role) => {
    const copy = seen.secrets.copies.get(role)
    return copy?.isIntact === true && isFree(seen, role) && isDue(copy, seen.now)
  })
}

// Until the next moment at which a token in the Secrets as they will be is due, or is over.
export function untilRenewal({ controlPlane, secrets, now }: Kept, effects: readonly Effect[]): number | undefined {
  const written = effects.flatMap((each) => (each.do === 'apply' ? [each.object] : []))
  const moments = roles.filter(isRenewed).flatMap((role) => {
    const name = copyName(role, clusterNameOf(controlPlane))
    const secret = written.find(({ metadata }) => metadata.name === name) ?? secrets.copies.get(role)?.secret
    return secret ? Object.values(timesOf(secret)) : []
  })
  const seconds = moments.map((each) => each && Math.ceil((each.getTime() - now.getTime()) / 1000))
  return soonest(seconds.filter((each) => each !== undefined && each > 0))
}

export function soonest(seconds: readonly (number | undefined)[]): number | undefined {
  const known = seconds.filter((each) => each !== undefined)
  return known.length > 0 ? Math.min(...known) : undefined
}
