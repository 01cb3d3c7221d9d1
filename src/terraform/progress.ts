// What a Workspace says of how far it is. Pure: whether an engine is silent is for those who have a clock.
import { annotations } from '../api/keys.ts'
import { crossplane, type Workspace, type WorkspaceCondition } from '../api/workspace.ts'
import { type Failure, readFailure } from './failure.ts'
import { isTime, type PlanNote, readPlanNote } from './plannote.ts'
import { isAllowed } from './policies.ts'
import { isStateMissing } from './state.ts'

export type Stage =
  | { readonly is: 'leaving'; readonly failure: Failure | undefined }
  | { readonly is: 'paused' }
  | { readonly is: 'waiting' } // no engine has left a sign yet
  | { readonly is: 'planning' } // what was asked last is looked at
  | { readonly is: 'creating'; readonly since: string | undefined } // for the first time; undefined: it has ended just now
  | { readonly is: 'applying'; readonly since: string | undefined } // undefined: its engine does not tell whether it still plans
  | { readonly is: 'failed'; readonly failure: Failure }
  | { readonly is: 'stateMissing'; readonly failure: Failure } // nothing is applied: it would be made a second time
  | { readonly is: 'held'; readonly note: PlanNote }
  | { readonly is: 'planOnly' } // its policies forbid to carry out what was planned
  | { readonly is: 'converged' }

export type Progress = Stage & {
  readonly outputs: Readonly<Record<string, unknown>> // those that are not sensitive; of an earlier generation unless converged
  readonly note: PlanNote | undefined // of the last plan
  readonly isDrifted: boolean | undefined // undefined: the engine does not tell
}

// `secrets` are values that must not be seen in what Terraform printed.
export function progressOf(workspace: Workspace, secrets: readonly string[] = []): Progress {
  return {
    outputs: workspace.status?.atProvider?.outputs ?? {},
    note: noteOn(workspace),
    isDrifted: isDrifted(workspace),
    ...stageOf(workspace, secrets),
  }
}

function stageOf(workspace: Workspace, secrets: readonly string[]): Stage {
  const { metadata, spec } = workspace
  const synced = conditionOf(workspace, 'Synced')
  const ready = conditionOf(workspace, 'Ready')
  // One of an earlier generation is old news.
  const trouble = synced?.reason === 'ReconcileError' && !isOld(synced, workspace) ? (synced.message ?? '') : undefined
  const failure = trouble === undefined ? undefined : readFailure(trouble, secrets)
  if (metadata.deletionTimestamp !== undefined) return { is: 'leaving', failure }
  if (isPaused(workspace)) return { is: 'paused' }
  const note = noteOn(workspace)
  // A note stays until there is another plan: it holds as long as the engine says so, and ours is not the last word. What the
  // engine says stays until the run that was approved has ended.
  if (note && failure?.summary.startsWith('held')) {
    const isApproved = metadata.annotations?.[annotations.approve] === note.id
    return note.held && !isApproved ? { is: 'held', note } : working(workspace)
  }
  if (failure) return { is: isStateMissing(failure.text) ? 'stateMissing' : 'failed', failure }
  if (!isAllowed(spec.managementPolicies, 'Create') || !isAllowed(spec.managementPolicies, 'Update'))
    return hasSign(workspace) ? { is: 'planOnly' } : { is: 'waiting' }
  if (ready?.status === 'True') {
    // An old Ready and an old Synced stay until all is done, for many minutes: only the generation tells.
    const isDone = synced?.status === 'True' && synced.observedGeneration === metadata.generation
    return isDone ? { is: 'converged' } : working(workspace)
  }
  if (ready || isBegun(workspace)) return { is: 'creating', since: creatingSince(workspace) }
  return { is: hasSign(workspace) ? 'planning' : 'waiting' }
}

// On a change of what is there already. Our engine notes when it has planned and begins; of another's nothing is seen.
function working(workspace: Workspace): Stage {
  const notes = workspace.metadata.annotations ?? {}
  if (notes[annotations.cli] === undefined) return { is: 'applying', since: undefined }
  const { begun } = noteOn(workspace) ?? {}
  const told = conditionOf(workspace, 'Synced')?.lastTransitionTime ?? ''
  const isNow = begun !== undefined && begun.revision === notes[annotations.revision] && begun.at >= told
  return isNow ? { is: 'applying', since: begun.at } : { is: 'planning' }
}

// No policies at all are a pause, too. That the engine knows of it is not waited for.
function isPaused({ metadata, spec }: Workspace): boolean {
  return metadata.annotations?.[crossplane.paused] === 'true' || spec.managementPolicies?.length === 0
}

function hasSign(workspace: Workspace): boolean {
  const { metadata, status } = workspace
  return (
    metadata.finalizers?.includes(crossplane.finalizer) === true ||
    isBegun(workspace) ||
    (status?.conditions?.length ?? 0) > 0
  )
}

function isBegun({ metadata: { annotations: notes = {} } }: Workspace): boolean {
  return [crossplane.createPending, crossplane.createSucceeded, crossplane.createFailed].some((key) => key in notes)
}

// While the first apply runs this is all that can be seen of it.
export function creatingSince({ metadata: { annotations: notes = {} } }: Workspace): string | undefined {
  const began = notes[crossplane.createPending]
  const ended = [notes[crossplane.createSucceeded], notes[crossplane.createFailed]]
  const isOpen =
    began !== undefined && ended.every((each) => each === undefined || Date.parse(each) < Date.parse(began))
  return isOpen && isTime(began) ? began : undefined
}

// Crossplane's own word for it, which only newer engines and ours say.
function isDrifted(workspace: Workspace): boolean | undefined {
  const upToDate = conditionOf(workspace, 'UpToDate')
  if (!upToDate || upToDate.status === 'Unknown' || isOld(upToDate, workspace)) return undefined
  return upToDate.status === 'False'
}

function noteOn({ metadata }: Workspace): PlanNote | undefined {
  return readPlanNote(metadata.annotations?.[annotations.plan])
}

function conditionOf({ status }: Workspace, type: string): WorkspaceCondition | undefined {
  return status?.conditions?.find((each) => each.type === type)
}

function isOld({ observedGeneration }: WorkspaceCondition, { metadata }: Workspace): boolean {
  return observedGeneration !== undefined && observedGeneration < (metadata.generation ?? 0)
}
