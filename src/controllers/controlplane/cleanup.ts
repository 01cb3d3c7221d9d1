// What was made inside of a cluster and reaches out of it goes before the cluster does: nobody else knows of it, and the network would not
// go with it. How long that takes, and what is said meanwhile. Pure.
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { type Said, vocabulary } from '../../api/condition.ts'
import { annotations } from '../../api/keys.ts'
import { listed } from '../../api/text.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Effect } from '../../runtime/plan.ts'
import { commandToAnnotate } from '../../terraform/word.ts'
import { instruct, isForced } from '../childapply.ts'
import type { Seen } from './seen.ts'

const say = vocabulary(CAPTControlPlane.words)

type Going = Pick<Seen, 'controlPlane' | 'eks'>
type Apply = WorkspaceTemplateApply

// The apply destroys nothing before that: it may be deleted by others, as with a whole namespace.
export const cleanupPending = { [annotations.cleanup]: 'pending' }
const cleanupDone = { [annotations.cleanup]: 'done' }

// It asks for it by itself, when nothing else is in its way: what is not to be destroyed is not looked into.
function isAwaited({ metadata, status }: Apply): boolean {
  const asks = status?.conditions?.some(({ type, reason }) => type === 'Deleting' && reason === 'WaitingForCleanup')
  return asks === true && metadata.annotations?.[annotations.cleanup] !== 'done'
}

// Whether somebody has to look into the cluster.
export function isCleanupDue({ controlPlane, eks }: Going): boolean {
  const isWaived = isSkipped(controlPlane) || isForced(controlPlane) || controlPlane.spec.retainOnDelete
  return eks !== undefined && isAwaited(eks) && !isWaived && wasReached(controlPlane)
}

// By us: nobody else may have been in one whose API server has never answered.
function wasReached({ spec, status }: CAPTControlPlane): boolean {
  return status?.initialization?.controlPlaneInitialized === true || spec.controlPlaneEndpoint !== undefined
}

function isSkipped({ metadata }: CAPTControlPlane): boolean {
  return metadata.annotations?.[annotations.skipCleanup] === 'true'
}

export interface Hold {
  readonly said: Said
  readonly effects: readonly Effect[]
  readonly againAfterSeconds: number
}

const longSeconds = 600
const overdue = ', for more than 10 minutes'

// Undefined: the cluster may go. It never goes by itself while it is not known to be clean: what is left in AWS costs money, and
// keeps the network from going.
export function holdOf(seen: Seen): Hold | undefined {
  const { controlPlane, inside } = seen
  if (!isCleanupDue(seen) || inside.is === 'clean') return undefined
  const { seconds, isLong } = ageOf(seen)
  const what =
    inside.is === 'left'
      ? `waits until Services of type LoadBalancer are gone from the cluster: ${listed(inside.services)}`
      : `waits until it is known that no Service of type LoadBalancer is in the cluster: ${inside.is === 'unknown' ? inside.why : 'nobody has looked yet'}`
  const hint =
    inside.is === 'left'
      ? 'see whether what looks after load balancers there still runs'
      : 'see whether the cluster is still there, and can be reached'
  const skip = commandToAnnotate('captcontrolplane', controlPlane.metadata, annotations.skipCleanup, 'true')
  const long = `${overdue}: ${hint}; or leave in AWS what they made: ${skip}`
  const said = say('Deleting', isLong ? 'CleanupTimeout' : 'WaitingForCleanup', `${what}${isLong ? long : ''}`)
  const wasLong = controlPlane.status?.conditions?.some(({ message }) => message.includes(overdue)) // whichever tells it
  return {
    said,
    effects: isLong && !wasLong ? [{ do: 'tell', type: 'Warning', reason: 'CleanupTimeout', note: said.message }] : [],
    againAfterSeconds: againAfter(seconds, inside.is === 'left' ? 2 : 5),
  }
}

// Since it was told to go.
function ageOf({ controlPlane, eks, now }: Seen): { readonly seconds: number; readonly isLong: boolean } {
  const since = controlPlane.metadata.deletionTimestamp ?? eks?.metadata.deletionTimestamp
  const seconds = Math.max(0, Math.round((now.getTime() - Date.parse(since ?? now.toISOString())) / 1000))
  return { seconds, isLong: seconds >= longSeconds }
}

// No watch tells of it. The longer it takes the less often it is asked, but for the moment when it has taken long.
function againAfter(seconds: number, shortest: number): number {
  const usual = Math.min(60, Math.max(shortest, Math.round(seconds / 10)))
  return seconds < longSeconds ? Math.min(usual, longSeconds - seconds) : usual
}

// What an apply that goes is to know of it, when nothing in the cluster holds it.
export function notesFor(eks: Apply | undefined): Readonly<Record<string, string>> {
  if (eks && isAwaited(eks)) return cleanupDone
  return eks?.metadata.annotations?.[annotations.cleanup] === undefined ? cleanupPending : {}
}

// An event that nobody has looked, while the cluster is still there.
export function tellSkipped({ controlPlane, eks }: Going): readonly Effect[] {
  if (!eks || !isAwaited(eks)) return []
  const isBuilt = eks.status?.applied === true
  const why = isSkipped(controlPlane)
    ? `annotation ${annotations.skipCleanup}`
    : isBuilt && !wasReached(controlPlane)
      ? 'its API server has never answered from here'
      : undefined
  if (why === undefined) return []
  const note = `nobody looked for Services of type LoadBalancer in the cluster (${why}): what they made in AWS is left there, and may keep the network from going`
  return [{ do: 'tell', type: 'Warning', reason: 'CleanupSkipped', note }]
}

// To an apply that somebody else has deleted: whether what it built is to stay, and that it goes on when nothing is in its way any more.
export function goOn(seen: Seen): readonly Effect[] {
  const { controlPlane, eks } = seen
  const hold = holdOf(seen)
  if (hold) return hold.effects
  if (eks?.metadata.deletionTimestamp === undefined) return []
  const notes = {
    ...(isAwaited(eks) && cleanupDone),
    ...(isForced(controlPlane) && { [annotations.forceDelete]: 'true' }),
  }
  return [...tellSkipped(seen), ...instruct(eks, controlPlane.spec.retainOnDelete, notes)]
}
