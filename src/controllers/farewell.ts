// How the owner of an apply leaves: after its apply, which leaves after its Workspace. Where somebody has taken the apply from between them, it
// tells what is left. Pure.
import { annotations } from '../api/keys.ts'
import { type Resource, resourceName, tellObject, tellRef } from '../api/resource.ts'
import { crossplane, type Workspace } from '../api/workspace.ts'
import { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import type { Effect } from '../runtime/plan.ts'
import { commandToAnnotate, commandToDestroy } from '../terraform/word.ts'
import { type Asker, cameWithoutApply, type Found, isForced, letGo, type Notes, refTo } from './childapply.ts'

export interface Leaving extends Found {
  readonly left: Workspace | undefined // as src/controllers/leftworkspace.ts finds it
  readonly resource: Resource // of the owner
  readonly name: string // of the apply
  readonly isRetained: boolean
  readonly notes?: Notes // for the apply
  readonly finalizers: readonly string[]
}

interface Farewell {
  readonly effects: readonly Effect[]
  readonly why: string
  readonly againAfterSeconds?: number // nothing wakes it
}

export function leave(owner: Asker, leaving: Leaving): Farewell {
  const { resource, name, apply, isRetained, notes = {} } = leaving
  const lost = cameWithoutApply(resource, owner, name)
  if (!apply) return leaveAlone(owner, leaving, lost ?? tellLeft(owner, leaving))
  const deleting = apply.status?.conditions?.find(({ type }) => type === 'Deleting')
  const told = deleting?.status === 'True' ? deleting.message : ''
  const why = `waits for ${tellObject(apply)}: ${told || 'it is told to go'}`
  const seen = lost === undefined ? [] : noteNothing(resource, owner)
  if (!isForced(owner)) return { effects: [...seen, ...letGo(apply, isRetained, notes)], why }
  const effects = [...seen, ...letGo(apply, isRetained, { ...notes, [annotations.forceDelete]: 'true' })]
  return { effects: isForced(apply) ? effects : [tellForced(apply), ...effects], why }
}

// Without an apply there is nobody to destroy anything. `remains` is what it may have left.
function leaveAlone(
  owner: Asker,
  { resource, name, taken, finalizers }: Leaving,
  remains: string | undefined,
): Farewell {
  if (remains !== undefined && !isForced(owner)) {
    const force = commandToAnnotate(resourceName(resource), owner.metadata, annotations.forceDelete, 'true')
    return {
      effects: [],
      why: `${remains}, or leave behind what is there: ${force}`,
      againAfterSeconds: lookAgainSeconds,
    }
  }
  const noted = owner.metadata.annotations?.[annotations.workspace]
  const note = `Workspace ${noted} and all it built are left to themselves: ${tellRef(WorkspaceTemplateApply, refTo(owner, name).key)} is not there to tell more`
  const told: readonly Effect[] =
    remains === undefined ? [] : [{ do: 'tell', type: 'Warning', reason: 'ForceDeleted', note }]
  const onceGone = taken ? [] : [refTo(owner, name)]
  return {
    effects: [...told, ...finalizers.map((finalizer): Effect => ({ do: 'removeFinalizer', finalizer, onceGone }))],
    why: remains === undefined ? 'everything is gone' : 'what is there is left behind',
  }
}

// Somebody has taken the finalizer from its apply.
function tellLeft(owner: Asker, { name, left, isRetained }: Leaving): string | undefined {
  if (!left || isRetained) return undefined
  const lost = `${tellRef(WorkspaceTemplateApply, refTo(owner, name).key)} is gone, but ${tellObject(left)} is not`
  const { deletionTimestamp, annotations: notes = {} } = left.metadata
  if (deletionTimestamp !== undefined) return `${lost} yet: waits until Terraform has destroyed what that built`
  // It may have been moved.
  if (notes[crossplane.paused] === 'true') return `${lost}, nor what that built, and it is paused: bring the apply back`
  return `${lost}, nor what that built: have it destroyed (${commandToDestroy(left)})`
}

const lookAgainSeconds = 15

// It is here after all, and its going is none to be wondered at.
function noteNothing(resource: Resource, object: Asker): readonly Effect[] {
  return [{ do: 'patch', resource, object, change: { metadata: { annotations: { [annotations.workspace]: null } } } }]
}

function tellForced(apply: WorkspaceTemplateApply): Effect {
  const { name, namespace = '' } = apply.metadata
  const where = `kubectl events --namespace ${namespace} --for workspacetemplateapply/${name}`
  const note = `${tellObject(apply)} is given up, and what it built is left to itself: its events name the Workspace and Terraform's state, see ${where}`
  return { do: 'tell', type: 'Warning', reason: 'ForceDeleted', note }
}
