// Why an apply cannot be moved yet, for people who wait for clusterctl. And, where Crossplane runs Terraform, the answer that our
// engine gives else: that nothing is at work, and where the state is. No I/O, no clock, no memory.
import { blockMoveAnnotation } from '../../api/contract.ts'
import { annotations } from '../../api/keys.ts'
import { Secret } from '../../api/neighbours.ts'
import { tellObject } from '../../api/resource.ts'
import { crossplane, type Workspace } from '../../api/workspace.ts'
import type { Effect, Wake } from '../../runtime/plan.ts'
import { type Luggage, packed } from '../../terraform/luggage.ts'
import { creatingSince } from '../../terraform/progress.ts'
import { commandToForget } from '../../terraform/word.ts'
import { unserved } from './engines.ts'
import { isBlocked, isBuiltUnseen } from './moving.ts'
import type { Seen, Where } from './seen.ts'
import { standingOf } from './standing.ts'

const momentMs = 3000 // in which an engine answers that has nothing else to do
const skewMs = 5000 // between two clocks
const lookAgainSeconds = 30 // nobody watches ProviderConfigs

// On the Secret that is moved with it, in the engine's place. A state that is bound to this cluster cannot be answered for.
export function answerFor({ luggage, home }: Seen, where: Where, workspace: Workspace): readonly Effect[] {
  const asked = workspace.metadata.annotations?.[annotations.moved]
  const isAnswered = luggage?.metadata.annotations?.[annotations.moved] === asked
  if (!where.isCrossplane || !luggage || asked === undefined || isAnswered) return []
  if (home?.is !== 'elsewhere' || whyBusy(workspace, asked) !== undefined) return []
  const { group } = where.api
  const said: Luggage = { backend: 'other', group, externalName: where.externalName, place: home.place }
  const { metadata, data } = packed(said, undefined)
  const change = { data, metadata: { annotations: { ...metadata.annotations, [annotations.moved]: asked } } }
  const object = { apiVersion: 'v1', kind: Secret.kind, metadata: luggage.metadata }
  return [{ do: 'patch', resource: Secret, object, change }]
}

// Crossplane says that it is paused only between two runs. The generation tells an earlier pause from this one, for a pause changes
// the policies; where it does not, because they were so before, the hour does.
function whyBusy(workspace: Workspace, asked: string): string | undefined {
  const { metadata, status } = workspace
  const synced = status?.conditions?.find(({ type }) => type === 'Synced')
  const isSaid = synced?.reason === 'ReconcilePaused' && synced.observedGeneration === metadata.generation
  if (!isSaid || Date.parse(synced.lastTransitionTime) < Date.parse(asked) - skewMs)
    return `Terraform may still be at work: Crossplane has not said since ${asked} that ${tellObject(workspace)} rests (Synced=False, ReconcilePaused)`
  const since = creatingSince(workspace)
  return (
    since &&
    `what became of the apply that began at ${since} is not known: look, and take the annotation ${crossplane.createPending} from ${tellObject(workspace)}`
  )
}

export interface Blocked {
  readonly why?: string
  readonly wake: Wake
}

const unseen =
  'cannot be moved: its Workspace is away, and nothing tells of the state it was on: let it go on for a moment, and it is made again'

// Told with the pause, which is what clusterctl waits in. What passes by itself in a moment is not told.
export function blockedBy(seen: Seen): Blocked {
  const { apply, now, where, luggage, home } = seen
  const quiet: Blocked = { wake: 'onChange' }
  if (!isBlocked(apply)) return quiet
  if (where.is === 'none') return { ...quiet, why: `cannot be moved: ${where.message}` }
  if (!where.isServed) return { ...quiet, why: `cannot be moved: ${unserved(where.api.group).message}` }
  const standing = standingOf(seen, where)
  if (standing.is === 'absent') return isBuiltUnseen(apply, luggage) ? { ...quiet, why: unseen } : quiet
  const { workspace } = standing
  if (standing.is !== 'ours')
    return { ...quiet, why: `cannot be moved: ${tellObject(workspace)} is left alone, see condition Applied` }
  if (workspace.metadata.deletionTimestamp !== undefined)
    return { ...quiet, why: `cannot be moved: ${tellObject(workspace)} is being deleted: let it go on first` }
  if (where.isCrossplane && home?.is === 'bound')
    return { why: tellBound(seen, where, home.why), wake: { afterSeconds: lookAgainSeconds } }
  const asked = workspace.metadata.annotations?.[annotations.moved]
  const told = toldBy(workspace)
  if (told !== undefined) return { ...quiet, why: told }
  const leftMs = asked === undefined ? momentMs : Date.parse(asked) + momentMs - now.getTime()
  if (leftMs > 0 || asked === undefined) return { wake: { afterSeconds: Math.ceil(leftMs / 1000) } }
  if (luggage?.metadata.annotations?.[annotations.moved] === asked) return quiet
  const none = 'its Secret for the state is not there: let it go on for a moment, and it is made'
  const busy = where.isCrossplane
    ? whyBusy(workspace, asked)
    : `Terraform may still be at work, for the engine that serves ${where.api.group} has not answered since ${asked}`
  const why = luggage ? busy : none
  return { ...quiet, ...(why !== undefined && { why: `cannot be moved yet: ${why}` }) }
}

// What our engine says of it.
function toldBy({ metadata, status }: Workspace): string | undefined {
  const { reason, message = '', observedGeneration } = status?.conditions?.find(({ type }) => type === 'Synced') ?? {}
  const isNow = reason === 'ReconcilePaused' && observedGeneration === metadata.generation
  return isNow && message.startsWith('cannot be moved') ? message : undefined
}

function tellBound({ apply }: Seen, { api }: Where, why: string): string {
  const letGo = commandToForget('workspacetemplateapply', apply.metadata, blockMoveAnnotation)
  return `cannot be moved: its state ${why}; bring it to a backend outside of the cluster such as s3, or have capt-engine serve ${api.group}, or copy it yourself and then let it go: ${letGo}`
}
