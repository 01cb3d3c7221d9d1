// How an apply leaves: after those that use it, with everything Terraform built, or leaving that in place. It never has to make
// anything, for in a namespace that goes nothing can be made; and it asks for no template. No I/O, no clock, no memory.
import { vocabulary } from '../../api/condition.ts'
import { annotations, holdFinalizer } from '../../api/keys.ts'
import { Secret } from '../../api/neighbours.ts'
import { beside, keyOf, resourceName, tellObject } from '../../api/resource.ts'
import { listed } from '../../api/text.ts'
import { crossplane, type Workspace } from '../../api/workspace.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Effect, Plan, Ref } from '../../runtime/plan.ts'
import { recordedOn, varsSecretOf } from '../../terraform/identity.ts'
import { isOrphan } from '../../terraform/policies.ts'
import { type Progress, progressOf } from '../../terraform/progress.ts'
import { commandToApply, commandToFind, commandToFindState } from '../../terraform/word.ts'
import { isForced } from '../childapply.ts'
import { builtElsewhere, cameWithoutState, unpacked } from './arriving.ts'
import { unserved } from './engines.ts'
import { finalizer } from './finalizer.ts'
import { isBlocked } from './moving.ts'
import { passingStatus, tellFailure } from './progress.ts'
import { workspaceKey } from './relations.ts'
import { letSecretVarsGo, secretsIn } from './secretvars.ts'
import type { Seen, Where } from './seen.ts'
import { standingOf, wasLeft } from './standing.ts'
import { isPaused, resume } from './stillness.ts'
import { letGo, passOn, release } from './wish.ts'

const say = vocabulary(WorkspaceTemplateApply.words)

export function leaving(seen: Seen): Plan {
  const { apply, where } = seen
  const isRetained = apply.spec.retainOnDelete || apply.spec.retainWorkspaceOnDelete === true
  if (isForced(apply)) return forced(seen)
  const hadOne = recordedOn(apply) !== undefined || apply.status?.workspaceName !== undefined
  if (where.is === 'none') return hadOne ? stuck(apply, where.message) : gone(seen, [])
  if (!where.isServed) return hadOne ? stuck(apply, unserved(where.api.group).message) : gone(seen, [])
  const standing = standingOf(seen, where)
  const self: Ref = { resource: where.api.workspace, key: workspaceKey(where.api, apply, where.name) }
  switch (standing.is) {
    case 'foreign':
      return gone(seen, [])
    case 'absent': {
      const lost = cameWithoutState(seen, where)
      if (lost !== undefined) return stuck(apply, lost)
      if (builtElsewhere(seen))
        return stuck(
          apply,
          `what it built elsewhere, with Terraform's state ${where.externalName}, is left: destroy that`,
        )
      return isSaidDeleted(apply) ? leftBehind(apply, where) : gone(seen, [self])
    }
    case 'frozen': {
      if (isRetained) return gone(seen, [])
      const name = tellObject(standing.workspace)
      const how = commandToApply(apply.metadata, annotations.adopt, 'approved')
      const whose = wasLeft(seen, standing.workspace) ? 'was left behind by a move' : 'was made by somebody else'
      return waiting(`${name} ${whose}. To delete it with all it built: ${how}. To leave it: ${howToForce(apply)}`)
    }
    case 'ours': {
      // What it had before a pause is read below.
      const first = resume(seen, where, standing.workspace)
      if (first.length > 0) return { ...waiting('goes on after a pause'), effects: first }
      if (isRetained) return retained(seen, where, standing.workspace)
      return destroyed(seen, where, standing.workspace)
    }
  }
}

const lookForOwnerSeconds = 60 // one that goes does not wake it

// Said last, when nothing else keeps it: by this word the control plane knows that the cluster is destroyed next.
function awaitCleanup({ apply, isAskedFor }: Seen): Plan {
  const owner = apply.metadata.ownerReferences?.find(({ controller }) => controller)
  const who = owner ? `${owner.kind} ${owner.name}` : 'its CAPTControlPlane'
  const goOn = commandToApply(apply.metadata, annotations.cleanup, 'done')
  const message = isAskedFor
    ? `waits until ${who} has seen to it that nothing is left of what was made inside of the cluster: it says how far that is`
    : `nobody has looked whether a Service of type LoadBalancer is left in the cluster, and ${who}, which would, is not there: see to it, and then have the cluster destroyed: ${goOn}`
  return { ...waiting(message, 'WaitingForCleanup'), wake: { afterSeconds: lookForOwnerSeconds } }
}

// By hand, and not told since that Terraform destroys it.
function isSaidDeleted({ status }: WorkspaceTemplateApply): boolean {
  return status?.conditions?.some(({ type, reason }) => type === 'Applied' && reason === 'WorkspaceDeleted') ?? false
}

function leftBehind(apply: WorkspaceTemplateApply, { externalName }: Where): Plan {
  const why = `its Workspace was deleted by hand, and what it built is left, with Terraform's state ${externalName}`
  return stuck(apply, `${why}: destroy that`)
}

// It cannot go by itself.
function stuck(apply: WorkspaceTemplateApply, why: string): Plan {
  return waiting(`${why}, or leave behind what is there: ${howToForce(apply)}`)
}

function destroyed(seen: Seen, where: Where, workspace: Workspace): Plan {
  const { apply, now, secret } = seen
  // Those that wait for each other would wait for ever.
  const dependents = seen.dependents.filter((each) => !seen.ring?.includes(each))
  if (dependents.length > 0) return waiting(`is still used by ${listed(dependents)}: delete that first`)
  const isLeft = isOrphan(where.api, workspace.spec)
  if (apply.metadata.annotations?.[annotations.cleanup] === 'pending' && !isLeft) return awaitCleanup(seen)
  // Let go while it was thought that the apply would stay: no engine destroys it any more.
  const isHeld = workspace.metadata.finalizers?.includes(holdFinalizer)
  if (isSaidDeleted(apply) && !isHeld && isLeft) return leftBehind(apply, where)
  const isGoing = workspace.metadata.deletionTimestamp !== undefined
  const remove: Effect = { do: 'delete', resource: where.api.workspace, object: workspace }
  const effects = [
    ...passOn(apply, where, workspace),
    ...unpacked(seen, where),
    ...release(where, workspace),
    ...(isGoing ? [] : [remove]),
  ]
  const progress = progressOf(workspace, secretsIn(secret))
  const patience = longMs - (now.getTime() - Date.parse(workspace.metadata.deletionTimestamp ?? now.toISOString()))
  const message = tellDestroying(seen, where, workspace, progress, patience <= 0)
  const { conditions, ...plan } = waiting(message)
  return {
    ...plan,
    conditions: [...conditions, say('Applied', 'Destroying', message)],
    effects,
    status: passingStatus(apply, progress, say('Deleting', 'Deleting', message)),
    wake: isGoing && patience > 0 ? { afterSeconds: Math.ceil(patience / 1000) } : 'onChange',
  }
}

const longMs = 600_000

function tellDestroying(seen: Seen, { api }: Where, workspace: Workspace, progress: Progress, isLong: boolean): string {
  const { apply, pause } = seen
  const name = tellObject(workspace)
  if (progress.is === 'leaving' && progress.failure) {
    return `Terraform cannot destroy what ${name} built: ${tellFailure(apply, progress.failure)}`
  }
  if (isPaused(workspace)) {
    const kept = pause.isKept ? `, and is kept so: ${annotations.keepPaused}` : ''
    return `${name} is paused (annotation ${crossplane.paused}${kept}): nothing is destroyed`
  }
  const long = isLong ? ` for more than 10 minutes: see whether the engine that serves ${api.group} runs` : ''
  return isOrphan(api, workspace.spec)
    ? `waits until the engine has let go of what ${name} built, as its policies say${long}`
    : `waits until Terraform has destroyed what ${name} built${long}`
}

function retained(seen: Seen, where: Where, workspace: Workspace): Plan {
  const effects = letGo(where, workspace)
  if (effects.length > 0) {
    const note = `${tellObject(workspace)} and all it built are left in place, ${tellState(where, workspace)}`
    const event: Effect = { do: 'tell', type: 'Normal', reason: 'Retained', note }
    // Told first: after the other nothing would remind us of it.
    return { ...waiting('leaves in place what was built'), effects: [event, ...effects] }
  }
  return farewell([...letSecretVarsGo(seen.secret, true)], [])
}

// The last resort: whatever is there stays there, and nobody looks after it.
function forced(seen: Seen): Plan {
  const { where, secret } = seen
  const standing = where.is === 'known' ? standingOf(seen, where) : undefined
  const workspace = standing?.is === 'ours' ? standing.workspace : undefined
  const isGoing = workspace?.metadata.deletionTimestamp !== undefined
  if (workspace && mayBeMoved(seen.apply, workspace)) return leftToMove(seen, workspace)
  const first = workspace && where.is === 'known' && !isGoing ? resume(seen, where, workspace) : []
  if (first.length > 0) return { ...waiting('goes on after a pause'), effects: first }
  const leave = isGoing ? letGo : release
  const left = workspace && where.is === 'known' ? leave(where, workspace) : []
  const event: Effect = { do: 'tell', type: 'Warning', reason: 'ForceDeleted', note: tellForced(where, workspace) }
  return farewell([...left, ...letSecretVarsGo(secret, workspace !== undefined), event], [])
}

function mayBeMoved(apply: WorkspaceTemplateApply, { metadata }: Workspace): boolean {
  return metadata.annotations?.[annotations.moved] !== undefined && !isBlocked(apply)
}

// It was let go, and another cluster may look after what it built: it stays as still as it is.
function leftToMove({ secret }: Seen, workspace: Workspace): Plan {
  const note = `${tellObject(workspace)} stays paused, for what it built may have been moved to another cluster: remove it with capt cleanup moved, when it was`
  const event: Effect = { do: 'tell', type: 'Warning', reason: 'ForceDeleted', note }
  return farewell([...letSecretVarsGo(secret, true), event], [])
}

function tellForced(where: Seen['where'], workspace: Workspace | undefined): string {
  if (where.is !== 'known') return 'whatever was built is left to itself'
  return workspace
    ? `${tellObject(workspace)} and all it built are left to themselves, ${tellState(where, workspace)}`
    : `whatever was built is left to itself, ${tellState(where, undefined)}`
}

// One that goes is not there for long.
function tellState({ api, externalName }: Where, workspace: Workspace | undefined): string {
  const isThere = workspace && workspace.metadata.deletionTimestamp === undefined
  const commands = [
    ...(isThere ? [commandToFind(resourceName(api.workspace), keyOf(workspace))] : []),
    commandToFindState(externalName),
  ]
  return `with Terraform's state ${externalName}: see ${commands.join(' and ')}`
}

function gone({ apply, secret, isSecretTaken }: Seen, others: readonly Ref[]): Plan {
  const vars: Ref = { resource: Secret, key: beside(apply, varsSecretOf(apply.metadata)) }
  return farewell(letSecretVarsGo(secret, false), isSecretTaken ? others : [...others, vars])
}

function farewell(effects: readonly Effect[], onceGone: readonly Ref[]): Plan {
  const conditions = [say('Ready', 'Deleting'), say('Deleting', 'DeletionCompleted'), say('Paused', 'NotPaused')]
  return { effects: [...effects, ...dropFinalizers(onceGone)], conditions, others: 'stay', wake: 'onChange' }
}

function dropFinalizers(onceGone: readonly Ref[]): readonly Effect[] {
  return [finalizer.old, finalizer.ours].map((each): Effect => ({ do: 'removeFinalizer', finalizer: each, onceGone }))
}

function waiting(message: string, reason: 'Deleting' | 'WaitingForCleanup' = 'Deleting'): Plan {
  const conditions = [say('Ready', 'Deleting', message), say('Deleting', reason, message), say('Paused', 'NotPaused')]
  return { effects: [], conditions, others: 'stay', wake: 'onChange' }
}

function howToForce(apply: WorkspaceTemplateApply): string {
  return commandToApply(apply.metadata, annotations.forceDelete, 'true')
}
