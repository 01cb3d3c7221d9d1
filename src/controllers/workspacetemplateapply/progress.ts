// What a Workspace's progress means for its apply: conditions, status, and what is worth an event. Pure.
import { type Said, vocabulary, wasSaid } from '../../api/condition.ts'
import { annotations } from '../../api/keys.ts'
import { timeOf } from '../../api/moment.ts'
import { type JsonRecord, mergePatch } from '../../api/record.ts'
import { tellObject } from '../../api/resource.ts'
import type { Workspace } from '../../api/workspace.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Failure } from '../../terraform/failure.ts'
import { type PlanNote, tellChanges } from '../../terraform/plannote.ts'
import { type Progress, progressOf } from '../../terraform/progress.ts'
import { isStateMissing } from '../../terraform/state.ts'
import { commandToApply } from '../../terraform/word.ts'
import { secretsIn } from './secretvars.ts'
import type { Seen, Where } from './seen.ts'
import { guardOf, isOpen } from './wish.ts'

type Apply = WorkspaceTemplateApply

const say = vocabulary(WorkspaceTemplateApply.words)
const mostOutputBytes = 65_536

type Whom = Pick<Seen, 'apply' | 'now' | 'secret'>

export interface Told {
  readonly applied: Said
  readonly others: readonly Said[] // Synced and Drifted, as far as they are known
  readonly status: JsonRecord
}

export function tellProgress({ apply, now, secret }: Whom, where: Where, workspace: Workspace): Told {
  const isGuarded = guardOf(apply, where) === 'policies'
  // Policies that are our own guard are none of the user's: what they hold is told as that.
  const told = isGuarded ? { ...workspace, spec: withoutPolicies(workspace) } : workspace
  const revision = workspace.metadata.annotations?.[annotations.revision]
  const looked = progressOf(told, secretsIn(secret))
  // Once all is done the guard is closed again: that is no change of what was built.
  const isClosing = isGuarded && looked.is === 'applying' && isDone(apply, revision)
  const progress: Progress = isClosing ? { ...looked, is: 'converged' } : looked
  const isHeld = isGuarded && revision !== undefined && revision !== apply.status?.revision && !isOpen(apply, revision)
  const isConverged = progress.is === 'converged' && !isHeld
  const applied =
    isHeld && (progress.is === 'converged' || progress.is === 'applying')
      ? say(
          'Applied',
          'ApprovalRequired',
          `every change waits for approval where Crossplane runs Terraform. ${howToApprove(apply, revision)}`,
        )
      : tellStage(apply, where, workspace, progress, now)
  return {
    applied: isConverged ? withNote(applied, progress) : applied,
    others: [...syncedOf(workspace, progress), ...driftedOf(progress, isDone(apply, revision))],
    status: {
      workspaceName: where.name,
      workspaceAPI: where.api.group,
      ...passingStatus(apply, progress, applied),
      ...(isConverged && convergedStatus(apply, revision, progress, now)),
    },
  }
}

function isDone({ status }: Apply, revision: string | undefined): boolean {
  return status?.applied === true && status.revision === revision
}

// What is true for a while, and goes by itself.
export function passingStatus({ status = {} }: Apply, progress: Progress, said: Said): JsonRecord {
  const { applyingSince, failure } = status
  const failed = 'failure' in progress ? progress.failure : undefined
  // The same failure has another request id each time it is tried.
  const isSame = failure?.class === failed?.class && wasSaid(said, status.conditions)
  return mergePatch(
    { ...(applyingSince !== undefined && { applyingSince }), ...(failure && { failure }) },
    {
      applyingSince: 'since' in progress ? progress.since : undefined,
      failure: isSame ? failure : failed && { class: failed.class, text: failed.text },
    },
  )
}

function withoutPolicies({ spec }: Workspace): Workspace['spec'] {
  const { managementPolicies: _, ...rest } = spec
  return rest
}

const planning = say('Applied', 'Planning', 'Terraform finds out what there is to do')

function tellStage(apply: Apply, where: Where, workspace: Workspace, progress: Progress, now: Date): Said {
  const name = tellObject(workspace)
  switch (progress.is) {
    case 'converged':
      return say('Applied', 'Converged')
    case 'waiting':
      if (where.silentAt === undefined) return planning
      return now.getTime() < where.silentAt
        ? say('Applied', 'Creating', `waits for an engine to begin with ${name}`)
        : say(
            'Applied',
            'EngineSilent',
            `no engine has looked at ${name} for 2 minutes: see whether the one that serves ${where.api.group} runs`,
          )
    case 'planning':
      return planning
    case 'creating':
      return say('Applied', 'Creating', `Terraform builds it for the first time${changesOf(progress)}`)
    case 'applying':
      return say('Applied', 'Applying', `Terraform carries a change out${changesOf(progress)}`)
    case 'failed':
      return say('Applied', 'TerraformFailed', tellFailure(apply, progress.failure))
    case 'stateMissing':
      return say('Applied', 'StateMissing', progress.failure.text)
    case 'held':
      return tellHeld(apply, workspace, progress.note)
    case 'planOnly':
      return say('Applied', 'PlanOnly', 'its managementPolicies forbid to carry out what was planned')
    case 'paused':
      return say('Applied', 'Paused', `${name} is paused (annotation crossplane.io/paused)`)
    case 'leaving':
      return say('Applied', 'Applying', `${name} is being deleted`)
  }
}

// Of the run that is under way.
function changesOf({ note }: Progress): string {
  return note?.begun ? `: ${tellChanges(note)}` : ''
}

export function tellFailure(apply: Apply, { summary, class: kind, hint, lock, text }: Failure): string {
  if (isStateMissing(text)) return text // the whole of it: the end is a command
  const how = lock === undefined ? '' : `: ${commandToApply(apply.metadata, annotations.unlock, lock)}`
  return `${summary} (${kind === 'unknown' ? '' : `${kind}: `}${hint}${how})`
}

function tellHeld(apply: Apply, workspace: Workspace, note: PlanNote): Said {
  const how = howToApprove(apply, note.id)
  if (note.held === 'Interrupted') {
    const again = note.again?.join(', ') || 'what it had begun'
    const goes = note.gone.length > 0 ? ` The plan has ${tellChanges(note)}.` : ''
    const message = `a run was killed, and would build again what may be there already: ${again}. Look whether it is.${goes} ${how}`
    return say('Applied', 'ApplyInterrupted', message)
  }
  if (note.held === 'Unproven') {
    const again = note.again?.join(', ') || 'what was built before'
    const message = `its state came from elsewhere, or is in another backend than it was, and the plan would build again what may be there already: ${again}. Look whether it is. ${how}`
    return say('Applied', 'ApprovalRequired', message)
  }
  if (note.held === 'AnotherCLI') {
    const cli = workspace.metadata.annotations?.[annotations.cli] ?? 'another command line'
    const message = `its state was written by ${cli}, which the engine does not run: let it, or convert the state with state replace-provider and remove the annotation ${annotations.cli} of the Workspace`
    return say('Applied', 'ApprovalRequired', message)
  }
  return say('Applied', 'ApprovalRequired', `the plan has ${tellChanges(note)}. ${how}`)
}

function howToApprove(apply: Apply, id: string): string {
  return `To approve: ${commandToApply(apply.metadata, annotations.approve, id)}`
}

function syncedOf({ status }: Workspace, progress: Progress): readonly Said[] {
  const synced = status?.conditions?.find(({ type }) => type === 'Synced')
  switch (synced?.reason) {
    case 'ReconcileSuccess':
    case 'ReconcilePaused':
      return [say('Synced', synced.reason)]
    case 'ReconcileError':
      return [say('Synced', 'ReconcileError', 'failure' in progress ? (progress.failure?.summary ?? '') : '')]
    case undefined:
    default:
      return []
  }
}

// A change of our own that waits for approval is no drift.
function driftedOf({ is, isDrifted, note }: Progress, isDoneBefore: boolean): readonly Said[] {
  if (isDrifted === undefined || (is === 'held' && !isDoneBefore)) return []
  return [isDrifted ? say('Drifted', 'Drifted', note ? tellChanges(note) : '') : say('Drifted', 'InSync')]
}

function convergedStatus({ status }: Apply, revision: string | undefined, progress: Progress, now: Date): JsonRecord {
  const isNew = status?.revision !== revision || !status?.applied
  const outputs = isTooLarge(progress) ? {} : progress.outputs
  return {
    applied: true,
    ...(revision !== undefined && { revision }),
    ...(isNew && { lastAppliedTime: timeOf(now) }),
    outputs: mergePatch(status?.outputs ?? {}, outputs),
  }
}

function isTooLarge({ outputs }: Progress): boolean {
  return Buffer.byteLength(JSON.stringify(outputs)) > mostOutputBytes
}

function withNote(applied: Said, progress: Progress): Said {
  if (!isTooLarge(progress)) return applied
  return { ...applied, message: 'its outputs are larger than 64 KiB: they are in the connection Secret only' }
}

// What is worth an event.
export const isWorthTelling = ({ reason }: Said) => worthTelling.has(reason)

const worthTelling = new Set([
  'Converged',
  'TerraformFailed',
  'StateMissing',
  'ApprovalRequired',
  'ApplyInterrupted',
  'AdoptionFrozen',
  'EngineSilent',
  'NameTaken',
  'WorkspaceDeleted',
  'NoEngine',
  'AmbiguousEngine',
  'DependencyFailed',
  'DependencyCycle',
  'MissingVariables',
  'UnknownVariables',
  'InvalidVariables',
  'UnsafeValue',
  'CrossNamespaceReference',
])
