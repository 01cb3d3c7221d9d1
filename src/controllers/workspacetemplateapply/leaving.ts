// How an apply leaves: after those that use it, with everything Terraform built, or leaving that in place. It never has to make
// anything, for in a namespace that goes nothing can be made; and it asks for no template. No I/O, no clock, no memory.
import { vocabulary } from '../../api/condition.ts'
import { annotations, holdFinalizer } from '../../api/keys.ts'
import { Secret } from '../../api/neighbours.ts'
import { beside, tellObject } from '../../api/resource.ts'
import { listed } from '../../api/text.ts'
import { crossplane, type Workspace } from '../../api/workspace.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Effect, Plan, Ref } from '../../runtime/plan.ts'
import { varsSecretOf } from '../../terraform/identity.ts'
import { type Progress, progressOf } from '../../terraform/progress.ts'
import { commandToApply } from '../../terraform/word.ts'
import { unserved } from './engines.ts'
import { finalizer } from './finalizer.ts'
import { resume } from './live.ts'
import { passingStatus, tellFailure } from './progress.ts'
import { recordedOn, workspaceKey } from './relations.ts'
import { letSecretVarsGo, secretsIn } from './secretvars.ts'
import type { Seen, Where } from './seen.ts'
import { standingOf } from './standing.ts'
import { isOrphan, letGo, passOn, release } from './wish.ts'

const say = vocabulary(WorkspaceTemplateApply.words)

export function leaving(seen: Seen): Plan {
  const { apply, where } = seen
  const isRetained = apply.spec.retainOnDelete || apply.spec.retainWorkspaceOnDelete === true
  if (apply.metadata.annotations?.[annotations.forceDelete] !== undefined) return forced(seen)
  const hadOne = recordedOn(apply) !== undefined || apply.status?.workspaceName !== undefined
  if (where.is === 'none') return hadOne ? stuck(apply, where.message) : gone(seen, [])
  if (!where.isServed) return hadOne ? stuck(apply, unserved(where.api.group).message) : gone(seen, [])
  const standing = standingOf(apply, where)
  const self: Ref = { resource: where.api.workspace, key: workspaceKey(where.api, apply, where.name) }
  switch (standing.is) {
    case 'foreign':
      return gone(seen, [])
    case 'absent':
      return isSaidDeleted(apply) ? leftBehind(apply, where) : gone(seen, [self])
    case 'frozen': {
      if (isRetained) return gone(seen, [])
      const name = tellObject(standing.workspace)
      const how = commandToApply(apply.metadata, annotations.adopt, 'approved')
      return waiting(
        `${name} was made by somebody else. To delete it with all it built: ${how}. To leave it: ${howToForce(apply)}`,
      )
    }
    case 'ours':
      if (isRetained) return retained(seen, where, standing.workspace)
      return destroyed(seen, where, standing.workspace)
  }
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
  // Let go while it was thought that the apply would stay: no engine destroys it any more.
  const isHeld = workspace.metadata.finalizers?.includes(holdFinalizer)
  if (isSaidDeleted(apply) && !isHeld && isOrphan(where, workspace)) return leftBehind(apply, where)
  const isGoing = workspace.metadata.deletionTimestamp !== undefined
  const remove: Effect = { do: 'delete', resource: where.api.workspace, object: workspace }
  const effects = [
    ...passOn(apply, where, workspace),
    ...resume(apply, where, workspace),
    ...release(where, workspace),
    ...(isGoing ? [] : [remove]),
  ]
  const progress = progressOf(workspace, secretsIn(secret))
  const patience = longMs - (now.getTime() - Date.parse(workspace.metadata.deletionTimestamp ?? now.toISOString()))
  const long =
    patience > 0 ? '' : ` for more than 10 minutes: see whether the engine that serves ${where.api.group} runs`
  const message = `${tellDestroying(apply, where, workspace, progress)}${long}`
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

function tellDestroying(apply: WorkspaceTemplateApply, where: Where, workspace: Workspace, progress: Progress): string {
  const name = tellObject(workspace)
  if (progress.is === 'leaving' && progress.failure) {
    return `Terraform cannot destroy what ${name} built: ${tellFailure(apply, progress.failure)}`
  }
  if (workspace.metadata.annotations?.[crossplane.paused] === 'true') {
    return `${name} is paused (annotation ${crossplane.paused}): nothing is destroyed`
  }
  if (isOrphan(where, workspace)) return `waits until the engine has let go of what ${name} built, as its policies say`
  return `waits until Terraform has destroyed what ${name} built`
}

function retained(seen: Seen, where: Where, workspace: Workspace): Plan {
  const effects = letGo(where, workspace)
  if (effects.length > 0) {
    const note = `${tellObject(workspace)} and all it built are left in place, with Terraform's state ${where.externalName}`
    const event: Effect = { do: 'tell', type: 'Normal', reason: 'Retained', note }
    return { ...waiting('leaves in place what was built'), effects: [...effects, event] }
  }
  return farewell([...letSecretVarsGo(seen.secret, true)], [])
}

// The last resort: whatever is there stays there, and nobody looks after it.
function forced({ apply, where, secret }: Seen): Plan {
  const standing = where.is === 'known' ? standingOf(apply, where) : undefined
  const workspace = standing?.is === 'ours' ? standing.workspace : undefined
  const isGoing = workspace?.metadata.deletionTimestamp !== undefined
  const leave = isGoing ? letGo : release
  const left = workspace && where.is === 'known' ? leave(where, workspace) : []
  const note = workspace
    ? `${tellObject(workspace)} and all it built are left to themselves`
    : 'whatever was built is left to itself'
  const event: Effect = { do: 'tell', type: 'Warning', reason: 'ForceDeleted', note }
  return farewell([...left, ...letSecretVarsGo(secret, workspace !== undefined), event], [])
}

function gone({ apply, secret, isSecretTaken }: Seen, others: readonly Ref[]): Plan {
  const vars: Ref = { resource: Secret, key: beside(apply, varsSecretOf(apply.metadata)) }
  return farewell(letSecretVarsGo(secret, false), isSecretTaken ? others : [...others, vars])
}

function farewell(effects: readonly Effect[], onceGone: readonly Ref[]): Plan {
  const conditions = [say('Ready', 'Deleting'), say('Deleting', 'DeletionCompleted')]
  return { effects: [...effects, ...dropFinalizers(onceGone)], conditions, others: 'stay', wake: 'onChange' }
}

function dropFinalizers(onceGone: readonly Ref[]): readonly Effect[] {
  return [finalizer.old, finalizer.ours].map((each): Effect => ({ do: 'removeFinalizer', finalizer: each, onceGone }))
}

export function waiting(message: string): Plan {
  const conditions = [say('Ready', 'Deleting', message), say('Deleting', 'Deleting', message)]
  return { effects: [], conditions, others: 'stay', wake: 'onChange' }
}

function howToForce(apply: WorkspaceTemplateApply): string {
  return commandToApply(apply.metadata, annotations.forceDelete, 'true')
}
