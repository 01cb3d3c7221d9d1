// How an apply leaves: after those that use it, with everything Terraform built, or leaving that in place. It never has to make
// anything, for in a namespace that goes nothing can be made; and it asks for no template. No I/O, no clock, no memory.
import { vocabulary } from '../../api/condition.ts'
import { annotations } from '../../api/keys.ts'
import { Secret } from '../../api/neighbours.ts'
import { tellObject } from '../../api/resource.ts'
import { crossplane, type Workspace } from '../../api/workspace.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Effect, Plan, Ref } from '../../runtime/plan.ts'
import { varsSecretOf } from '../../terraform/identity.ts'
import { type Progress, progressOf } from '../../terraform/progress.ts'
import { unserved } from './engines.ts'
import { finalizer } from './finalizer.ts'
import { resume } from './live.ts'
import { commandTo, passingStatus, tellFailure } from './progress.ts'
import { beside, recordedOn, workspaceKey } from './relations.ts'
import { letSecretVarsGo, secretsIn } from './secretvars.ts'
import type { Seen, Where } from './seen.ts'
import { standingOf } from './standing.ts'
import { letGo, release } from './wish.ts'

const say = vocabulary(WorkspaceTemplateApply.words)

export function leaving(seen: Seen): Plan {
  const { apply, where } = seen
  const { retainOnDelete, retainWorkspaceOnDelete } = apply.spec
  if (apply.metadata.annotations?.[annotations.forceDelete] !== undefined) return forced(seen)
  if (where.is === 'none') return gone(seen, [])
  if (!where.isServed) {
    const { message } = unserved(where.api.group)
    return recordedOn(apply)
      ? waiting(`${message}, or leave behind what is there: ${howToForce(apply)}`)
      : gone(seen, [])
  }
  const standing = standingOf(apply, where)
  const self: Ref = { resource: where.api.workspace, key: workspaceKey(where.api, apply, where.name) }
  switch (standing.is) {
    case 'foreign':
      return gone(seen, [])
    case 'absent':
      return gone(seen, [self])
    case 'frozen': {
      const name = tellObject(standing.workspace)
      const how = commandTo(apply, annotations.adopt, 'approved')
      return waiting(
        `${name} was made by somebody else. To delete it with all it built: ${how}. To leave it: ${howToForce(apply)}`,
      )
    }
    case 'ours':
      if (retainOnDelete || retainWorkspaceOnDelete) return retained(seen, where, standing.workspace)
      return destroyed(seen, where, standing.workspace)
  }
}

function destroyed({ apply, dependents, ring, secret }: Seen, where: Where, workspace: Workspace): Plan {
  // Those that wait for each other would wait for ever.
  if (dependents.length > 0 && !ring) return waiting(`is still used by ${dependents.join(', ')}: delete that first`)
  const isGoing = workspace.metadata.deletionTimestamp !== undefined
  const remove: Effect = { do: 'delete', resource: where.api.workspace, object: workspace }
  const effects = [...resume(apply, where, workspace), ...release(where, workspace), ...(isGoing ? [] : [remove])]
  const progress = progressOf(workspace, secretsIn(secret))
  return { ...waiting(tellDestroying(workspace, progress)), effects, status: passingStatus(apply, progress) }
}

function tellDestroying(workspace: Workspace, progress: Progress): string {
  const name = tellObject(workspace)
  if (progress.is === 'leaving' && progress.failure) {
    return `Terraform cannot destroy what ${name} built: ${tellFailure(progress.failure)}`
  }
  if (workspace.metadata.annotations?.[crossplane.paused] === 'true') {
    return `${name} is paused (annotation ${crossplane.paused}): nothing is destroyed`
  }
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
  const left = workspace && where.is === 'known' ? release(where, workspace) : []
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
  return commandTo(apply, annotations.forceDelete, 'true')
}
