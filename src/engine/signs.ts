// What a Workspace itself says of its past: its conditions, and annotations, most of which Crossplane's providers write, too. Pure.
import { annotations } from '../api/keys.ts'
import { crossplane, type Workspace, type WorkspaceCondition } from '../api/workspace.ts'

export function conditionOf({ status }: Workspace, type: string): WorkspaceCondition | undefined {
  return status?.conditions?.find((each) => each.type === type)
}

// It was there, whoever made it.
export function isMade(workspace: Workspace): boolean {
  const succeeded = workspace.metadata.annotations?.[crossplane.createSucceeded]
  return succeeded !== undefined || isSigned(workspace) || conditionOf(workspace, 'Ready')?.status === 'True'
}

// Where nothing was left to make, as where it was moved to, no create is noted, and a backup brings no conditions back: what says then
// that it was there is by which command line its state is. Beside a create that was begun, that says nothing: nobody knows what became of it.
function isSigned({ metadata: { annotations: notes = {} } }: Workspace): boolean {
  return notes[annotations.cli] !== undefined && notes[crossplane.createPending] === undefined
}

// Whether an apply may ever have run for it.
export function wasApplied(workspace: Workspace): boolean {
  const pending = workspace.metadata.annotations?.[crossplane.createPending]
  return pending !== undefined || isMade(workspace) || conditionOf(workspace, 'Ready') !== undefined
}

// A create was begun, and what became of it is not written down: a Crossplane provider would refuse to go on.
export function isIncomplete({ metadata: { annotations: notes = {} } }: Workspace): boolean {
  const pending = notes[crossplane.createPending]
  const ended = [notes[crossplane.createSucceeded], notes[crossplane.createFailed]]
  return pending !== undefined && ended.every((each) => each === undefined || each < pending)
}

// That it goes was told for just this generation of it: its deletion makes a new one.
export function isToldLeaving(workspace: Workspace): boolean {
  const ready = conditionOf(workspace, 'Ready')
  return ready?.reason === 'Deleting' && ready.observedGeneration === workspace.metadata.generation
}

// That everything is destroyed is told before its state is forgotten.
export function isToldDestroyed(workspace: Workspace): boolean {
  const synced = conditionOf(workspace, 'Synced')
  const isTold = synced?.reason === 'ReconcileSuccess' && synced.observedGeneration === workspace.metadata.generation
  return isTold && isToldLeaving(workspace)
}
