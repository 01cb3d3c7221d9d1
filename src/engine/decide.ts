// What a pass over a Workspace does next, given what it has seen and found so far. One step is done, then it is asked again. No
// I/O, no clock, no memory. Every step may be done again after a crash.
import type { Said } from '../api/condition.ts'
import { annotations as ours } from '../api/keys.ts'
import { crossplane, type Workspace } from '../api/workspace.ts'
import { isSameFailure } from '../terraform/failure.ts'
import { type Interrupted, isDestructive, type Planned } from '../terraform/planned.ts'
import { type Held, type PlanNote, tellChanges, tellSome } from '../terraform/plannote.ts'
import { commandTo } from '../terraform/word.ts'
import { say } from './conditions.ts'
import { type Policies, policiesOf } from './policies.ts'
import { conditionOf, isIncomplete, isMade, isToldDestroyed, isToldLeaving, wasApplied } from './signs.ts'

export interface Seen {
  readonly workspace: Workspace
  readonly plural: string // of its kind, as kubectl wants it: workspaces.tf.upbound.io
  readonly cli: string | undefined // what runs: tofu 1.12.6
  readonly blocked: string | undefined // why nothing can be run at all, as a sentence
  readonly isEnding: boolean // the engine was told to end
  readonly done: Done
}

// What this pass has done and found so far.
export interface Done {
  readonly failed?: Failure
  readonly hasLeft?: true // the Workspace, before it was claimed
  readonly connected?: 'whole' | 'bare' // the folder is furnished
  readonly isInitialised?: boolean // and initialised for what is in it
  readonly plan?: 'same' | Changes
  readonly begun?: 'create' | 'update'
  readonly isApplied?: true
  readonly isPublished?: true
  readonly notShown?: string // why its outputs are not in the status
  readonly isStateKept?: true // there is something in it, although no apply is known of
  readonly isDestroyed?: true
  readonly isForgotten?: true
  readonly isReleased?: true
  readonly handedOver?: 'done' | { readonly why: string } // or why it cannot be moved yet
}

export interface Changes {
  readonly planned: Planned
  readonly interrupted: Interrupted | undefined
  readonly isUnproven?: true // what it would create may be there, and only the state does not know it
  readonly note: PlanNote // nothing held
}

export type Phase = 'connect' | 'observe' | 'create' | 'update' | 'delete'

export interface Failure {
  readonly phase: Phase
  readonly told: string
  readonly isLacking?: true // an input is not there, or the state is another's; nothing was run
}

export interface Happening {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly note: string
}

export type Step =
  | { readonly do: 'name' } // Terraform's workspace
  | { readonly do: 'connect'; readonly how: 'whole' | 'bare' } // bare: without the module, to reach the state alone
  | { readonly do: 'claim' } // our finalizer, before anything is written to a state
  | { readonly do: 'init' | 'plan' }
  | { readonly do: 'begin'; readonly what: 'create' | 'update'; readonly changes: Changes }
  | { readonly do: 'apply'; readonly what: 'create' | 'update' }
  | { readonly do: 'settle'; readonly as: 'succeeded' | 'failed' } // what became of a create
  | { readonly do: 'publish' } // outputs, into the connection Secret
  | { readonly do: 'sign' } // by which command line the state is
  | { readonly do: 'tell'; readonly said: readonly Said[]; readonly event?: Happening }
  | { readonly do: 'destroy' | 'forget' | 'release' }
  | { readonly do: 'handOver' } // it is to be moved to another cluster, with its state
  | Rest

// The pass is over.
export interface Rest {
  readonly do: 'rest'
  readonly said: readonly Said[]
  readonly event?: Happening
  readonly note?: PlanNote | 'none' // of the last plan, when it is to be told or forgotten
  readonly wake: 'poll' | 'retry' | 'onChange'
}

const finalizer = crossplane.finalizer
const quiet: Rest = { do: 'rest', said: [], wake: 'onChange' }

// What takes long, and need not be begun.
const beginnings: ReadonlySet<Step['do']> = new Set(['init', 'plan', 'begin', 'destroy'])

export function decide(seen: Seen): Step {
  const step = next(seen)
  return seen.isEnding && beginnings.has(step.do) ? { ...quiet, wake: 'retry' } : step
}

function next(seen: Seen): Step {
  const { metadata, spec } = seen.workspace
  const policies = policiesOf(spec)
  if (seen.done.hasLeft) return quiet
  if (metadata.annotations?.[crossplane.paused] === 'true' || policies.is === 'paused') return paused(seen)
  if (policies.is === 'unsupported') return unsupported(seen, policies.why)
  return metadata.deletionTimestamp === undefined ? living(seen, policies) : leaving(seen, policies)
}

type Allowed = Extract<Policies, { is: 'allowed' }>

function living(seen: Seen, policies: Allowed): Step {
  const { workspace, cli = '', blocked, done } = seen
  const notes = workspace.metadata.annotations ?? {}
  const writer = notes[ours.cli]
  if (done.failed) {
    const isUnsettled = done.begun === 'create' && isIncomplete(workspace)
    return isUnsettled ? { do: 'settle', as: 'failed' } : failing(seen, done.failed)
  }
  if (isMovedAway(workspace)) return movedAway(seen)
  if (!notes[crossplane.externalName]) return { do: 'name' }
  if (blocked !== undefined) return failing(seen, { phase: 'connect', told: blocked })
  if (writer !== undefined && familyOf(writer) !== familyOf(cli)) return anotherCLI(seen, writer)
  if (!done.connected) return { do: 'connect', how: 'whole' }
  if (!workspace.metadata.finalizers?.includes(finalizer)) return { do: 'claim' }
  if (!done.isInitialised) return { do: 'init' }
  if (!done.plan) return { do: 'plan' }
  if (done.plan === 'same' || done.isApplied) {
    if (isIncomplete(workspace)) return { do: 'settle', as: 'succeeded' }
    if (!done.isPublished) return { do: 'publish' }
    return writer === undefined ? { do: 'sign' } : converged(seen)
  }
  const what = done.begun ?? (isThere(seen, done.plan.planned) ? 'update' : 'create')
  if (!policies[what]) {
    // What is there is shown as it is, although it is not as it should be.
    return what === 'update' && !done.isPublished ? { do: 'publish' } : restricted(done.plan, what)
  }
  const held = heldBecause(seen, done.plan)
  if (held) return holding(seen, done.plan, what, held)
  return done.begun ? { do: 'apply', what } : { do: 'begin', what, changes: done.plan }
}

function leaving(seen: Seen, policies: Allowed): Step {
  const { workspace, cli = '', blocked, done } = seen
  const { finalizers = [], annotations } = workspace.metadata
  const writer = annotations?.[ours.cli]
  if (done.isReleased || !finalizers.includes(finalizer)) return quiet
  if (!policies.delete) return done.failed ? failing(seen, done.failed) : { do: 'release' }
  if (isMovedAway(workspace)) return movedAway(seen)
  if (done.isForgotten) return { do: 'release' }
  if (finalizers.some((each) => each !== finalizer)) return quiet // whoever holds it: its going wakes us
  const isBorn = wasApplied(workspace) || done.isStateKept === true
  if (done.failed) return done.failed.isLacking && !isBorn ? { do: 'release' } : failing(seen, done.failed)
  if (blocked !== undefined) return failing(seen, { phase: 'connect', told: blocked })
  if (writer !== undefined && familyOf(writer) !== familyOf(cli)) return anotherCLI(seen, writer)
  const how = isBorn ? 'whole' : 'bare'
  if (done.connected !== how) return { do: 'connect', how }
  if (!done.isInitialised) return { do: 'init' }
  if (!isBorn) return { do: 'forget' }
  if (!isToldLeaving(workspace)) return { do: 'tell', said: [say('Ready', 'Deleting')] }
  if (!done.isDestroyed) return { do: 'destroy' }
  if (!isToldDestroyed(workspace)) {
    return {
      do: 'tell',
      said: [say('Ready', 'Deleting'), say('Synced', 'ReconcileSuccess')],
      event: successful('DeletedExternalResource', 'deletion'),
    }
  }
  return { do: 'forget' }
}

function paused(seen: Seen): Step {
  const { handedOver, failed } = seen.done
  if (isMovedAway(seen.workspace) && !handedOver && !failed) return { do: 'handOver' }
  const why = typeof handedOver === 'object' ? handedOver.why : failed?.told
  const isNews = conditionOf(seen.workspace, 'Synced')?.reason !== 'ReconcilePaused'
  const note = 'Reconciliation is paused either through the `spec.managementPolicies` or the pause annotation'
  return {
    do: 'rest',
    said: [say('Synced', 'ReconcilePaused', why && `cannot be moved yet: ${why}`)],
    ...(isNews && { event: { type: 'Normal', reason: 'ReconciliationPaused', note } }),
    wake: why === undefined ? 'onChange' : 'retry',
  }
}

function isMovedAway({ metadata }: Workspace): boolean {
  return metadata.annotations?.[ours.moved] !== undefined
}

// Whoever goes on with it takes that word back in the same write as the pause: somebody has only lifted the pause.
function movedAway(seen: Seen): Rest {
  const since = seen.workspace.metadata.annotations?.[ours.moved]
  const told = `it may have been moved to another cluster since ${since}, and be looked after there: remove what is left here with capt cleanup moved, or let its apply go on`
  return failing(seen, { phase: 'connect', told })
}

function unsupported({ workspace }: Seen, why: string): Rest {
  const isNews = conditionOf(workspace, 'Synced')?.message !== why
  return {
    do: 'rest',
    said: [say('Synced', 'ReconcileError', why)],
    ...(isNews && { event: { type: 'Warning', reason: 'CannotUseInvalidManagementPolicy', note: why } }),
    wake: 'onChange',
  }
}

const cannot: Readonly<Record<Phase, string>> = {
  connect: 'CannotConnectToProvider',
  observe: 'CannotObserveExternalResource',
  create: 'CannotCreateExternalResource',
  update: 'CannotUpdateExternalResource',
  delete: 'CannotDeleteExternalResource',
}

// What is said beside Synced.
const besides: Readonly<Record<Phase, readonly Said[]>> = {
  connect: [],
  observe: [],
  create: [say('Ready', 'Creating')],
  update: [say('UpToDate', 'UpdateFailed')],
  delete: [say('Ready', 'Deleting')],
}

// An event only when the failure is a new one: what comes again every minute is told as it was first.
function failing({ workspace }: Seen, { phase, told }: Failure): Rest {
  const { message: last = '' } = conditionOf(workspace, 'Synced') ?? {}
  const isNews = !isSameFailure(last, `${phase} failed: ${told}`)
  const message = isNews ? `${phase} failed: ${told}` : last
  return {
    do: 'rest',
    said: [say('Synced', 'ReconcileError', message), ...besides[phase]],
    ...(isNews && { event: { type: 'Warning', reason: cannot[phase], note: told } }),
    wake: 'retry',
  }
}

function converged({ workspace, done }: Seen): Rest {
  // A plan that was held or not allowed and has nothing left to do is no news any more.
  const isOldNews = conditionOf(workspace, 'UpToDate')?.status === 'False' && !done.isApplied
  const event =
    done.begun === 'create'
      ? successful('CreatedExternalResource', 'creation')
      : successful('UpdatedExternalResource', 'update')
  return {
    do: 'rest',
    said: [
      say('Ready', 'Available'),
      say('Synced', 'ReconcileSuccess'),
      say('UpToDate', 'ObserveMatched', done.notShown),
    ],
    ...(done.isApplied && { event }),
    ...(isOldNews && { note: 'none' }),
    wake: 'poll',
  }
}

function successful(reason: string, what: string): Happening {
  return { type: 'Normal', reason, note: `Successfully requested ${what} of external resource` }
}

function restricted({ note }: Changes, what: 'create' | 'update'): Rest {
  const right = what === 'create' ? 'Create' : 'Update'
  const message = `not applied, because managementPolicies do not allow ${right}: ${tellChanges(note)}`
  const said = [say('Synced', 'ReconcileSuccess'), say('UpToDate', 'UpdateRestricted', message)]
  return { do: 'rest', said, note, wake: 'poll' }
}

function heldBecause({ workspace }: Seen, { planned, interrupted, isUnproven, note }: Changes): Held | undefined {
  if (workspace.metadata.annotations?.[ours.approve] === note.id) return undefined
  if (interrupted && interrupted.again.length > 0) return 'Interrupted'
  if (isUnproven && planned.create.length > 0) return 'Unproven'
  return isGuardedAgainst(planned, workspace) ? 'Destructive' : undefined
}

function isGuardedAgainst(planned: Planned, { metadata }: Workspace): boolean {
  return metadata.annotations?.[ours.guard] === 'Hold' && isDestructive(planned)
}

// One word approves all of it.
function holding(seen: Seen, { note, planned, interrupted }: Changes, phase: Phase, held: Held): Rest {
  const { again = [] } = note
  const look = 'look whether that is there, then'
  const goes = `this plan deletes ${note.delete} and replaces ${note.replace}: ${tellSome(note.gone, note.delete + note.replace)};`
  const doubtful = {
    Interrupted: `the apply that began at ${interrupted?.startedAt} was interrupted, and this plan would create again what it may have made: ${tellSome(again, interrupted?.again.length)}; ${look}`,
    Unproven: `the state came from elsewhere, or is in another backend than it was, and this plan would create what may have been made before: ${tellSome(again, planned.create.length)}; ${look}`,
  }
  const isGuarded = isGuardedAgainst(planned, seen.workspace)
  const why = held === 'Interrupted' || held === 'Unproven' ? [...(isGuarded ? [goes] : []), doubtful[held]] : [goes]
  const how = commandTo(seen.plural, seen.workspace, ours.approve, note.id)
  return waiting(seen, { ...note, held }, phase, `held for approval: ${why.join(' and ')} approve with: ${how}`)
}

function anotherCLI(seen: Seen, writer: string): Rest {
  const note = { id: 'another-cli', create: 0, update: 0, replace: 0, delete: 0, gone: [], held: 'AnotherCLI' } as const
  const told = `held: the state was written by ${writer}, and this engine runs ${seen.cli}, which names providers otherwise; run the engine with --terraform-binary=${familyOf(writer)}, or convert the state with \`${familyOf(seen.cli ?? '')} state replace-provider\` and remove the annotation ${ours.cli}`
  return waiting(seen, note, 'connect', told)
}

function waiting(seen: Seen, note: PlanNote, phase: Phase, told: string): Rest {
  const restrictedBy = say('UpToDate', 'UpdateRestricted', tellChanges(note))
  const { said, ...failed } = failing(seen, { phase, told })
  const others = said.filter(({ type }) => type !== 'UpToDate')
  return { ...failed, said: [...others, ...(note.held === 'AnotherCLI' ? [] : [restrictedBy])], note, wake: 'poll' }
}

// "tofu 1.12.6" to "tofu"
export function familyOf(cli: string): string {
  return cli.split(' ')[0] ?? ''
}

// Whether there was anything before this plan. What it would change, replace or delete is there.
function isThere({ workspace }: Seen, planned: Planned): boolean {
  return isMade(workspace) || planned.update.length + planned.replace.length + planned.delete.length > 0
}
