// What an apply needs that is there to stay: its Workspace, as the template and the values say. No I/O, no clock, no memory.
import { type Condition, promise, type Said, vocabulary, wasSaid } from '../../api/condition.ts'
import { annotations, labels } from '../../api/keys.ts'
import { Secret } from '../../api/neighbours.ts'
import { isWithin } from '../../api/record.ts'
import { beside, keyOf, tellKey, tellObject, tellRef } from '../../api/resource.ts'
import { listed } from '../../api/text.ts'
import type { Workspace } from '../../api/workspace.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Effect, Plan, Wake } from '../../runtime/plan.ts'
import { externalNameOf, varsSecretOf, workspaceNameOf } from '../../terraform/identity.ts'
import { type Rendered, render } from '../../terraform/render.ts'
import { complaintsOf, revisionOf } from '../../terraform/template.ts'
import { commandToApply } from '../../terraform/word.ts'
import { news } from '../news.ts'
import { builtElsewhere, cameToAnotherState, cameWithoutState, unpacked } from './arriving.ts'
import { tellDependencies } from './dependencies.ts'
import { unserved } from './engines.ts'
import { barMove, blocked } from './moving.ts'
import { isWorthTelling, tellProgress } from './progress.ts'
import { templateOf } from './relations.ts'
import { keepSecretVars } from './secretvars.ts'
import type { Seen, Where } from './seen.ts'
import { standingOf, wasLeft } from './standing.ts'
import { ours, resume } from './stillness.ts'
import { ask, differencesOf, guardOf, hold, isAsked, letGo, passOn, wishOf } from './wish.ts'

const say = vocabulary(WorkspaceTemplateApply.words)
const longWaitMs = 600_000
const lookAgainSeconds = 15 // a Secret that nobody has labelled comes unseen, and so do a ProviderConfig and a word on a Namespace

export function live(seen: Seen): Plan {
  const { apply, now } = seen
  const before = apply.status?.conditions
  const waited = waitedMs(before, now)
  const dependencies = tellDependencies(seen.dependencies, seen.ring, waited >= longWaitMs)
  const resolved = resolve(seen, dependencies.status === 'True')
  const { effects, applied, others = [], status = {} } = carryOn(seen, resolved)
  const three = [dependencies, ...(resolved.said ? [resolved.said] : []), applied]
  const lacking = three.find((each) => each.status !== 'True')
  const ready = lacking
    ? { type: 'Ready', status: 'False' as const, reason: lacking.reason, message: lacking.message }
    : say('Ready', 'Ready', applied.message)
  return {
    effects: [...listen(seen), ...effects, ...news(three, before, isWorthTelling)],
    conditions: [ready, ...three, ...others, say('Paused', 'NotPaused'), say('Deleting', 'NotDeleting')],
    status,
    wake: wakeOf(seen, dependencies, waited),
  }
}

// How long it has been waiting for others.
function waitedMs(before: readonly Condition[] = [], now: Date): number {
  const told = before.find(({ type }) => type === 'DependenciesReady')
  return told?.status === 'False' ? now.getTime() - Date.parse(told.lastTransitionTime) : 0
}

interface Resolved {
  readonly said?: Said
  readonly rendered?: Rendered
  readonly isPinned?: true // at another revision than the template has
}

function resolve(seen: Seen, areDependenciesReady: boolean): Resolved {
  const { apply, template, where } = seen
  const elsewhere = seen.isCrossNamespaceAllowed ? undefined : namedElsewhere(apply)
  if (elsewhere) return { said: say('VariablesResolved', 'CrossNamespaceReference', elsewhere) }
  const name = tellKey(templateOf(apply))
  if (!template) {
    const message = `there is no WorkspaceTemplate ${name}: make one, or name another`
    return { said: say('VariablesResolved', 'TemplateNotFound', message) }
  }
  const complaints = complaintsOf(template).map(({ message }) => message)
  if (complaints.length > 0) {
    const message = `WorkspaceTemplate ${name}: ${listed(complaints, 3, '; ')}`
    return { said: say('VariablesResolved', 'TemplateNotReady', message) }
  }
  const { revision } = apply.spec.templateRef
  if (revision !== undefined && revision !== revisionOf(template)) return { isPinned: true }
  if (!areDependenciesReady || where.is === 'none') return {}
  const rendered = render({ ...seen, template, api: where.api, workspace: where.name })
  if (rendered.is === 'refused') return { said: say('VariablesResolved', rendered.reason, rendered.message) }
  return { rendered, said: say('VariablesResolved', 'Resolved') }
}

function namedElsewhere({ metadata: { namespace }, spec }: WorkspaceTemplateApply): string | undefined {
  const named = [
    { at: 'spec.templateRef', namespace: spec.templateRef.namespace },
    ...(spec.waitForSecrets ?? []).map((each) => ({ at: `spec.waitForSecrets[${each.name}]`, ...each })),
  ]
  const other = named.find((each) => each.namespace !== undefined && each.namespace !== namespace)
  return (
    other && `${other.at} is in namespace ${other.namespace}: only what is in namespace ${namespace} can be used here`
  )
}

interface Course {
  readonly effects: readonly Effect[]
  readonly applied: Said
  readonly others?: readonly Said[]
  readonly status?: Plan['status']
}

function carryOn(seen: Seen, resolved: Resolved): Course {
  const { apply, where } = seen
  if (where.is === 'none') return { effects: [], applied: say('Applied', where.reason, where.message) }
  if (!where.isServed) return { effects: [], applied: say('Applied', 'NoEngine', unserved(where.api.group).message) }
  if (seen.isSecretTaken && resolved.rendered?.secretVars) {
    const secret = tellRef(Secret, beside(apply, varsSecretOf(apply.metadata)))
    const message = `${secret} is not of this apply, and is left alone: give the apply another name`
    return { effects: [], applied: say('Applied', 'NameTaken', message) }
  }
  const standing = standingOf(seen, where)
  switch (standing.is) {
    case 'foreign': {
      const message = `${tellObject(standing.workspace)} is not of this apply, and is left alone: give the apply another name`
      return { effects: [], applied: say('Applied', 'NameTaken', message) }
    }
    case 'frozen':
      return frozen(seen, where, standing.workspace, resolved)
    case 'absent':
      return absent(seen, where, resolved)
    case 'ours':
      return standing.workspace.metadata.deletionTimestamp === undefined
        ? kept(seen, where, standing.workspace, resolved)
        : deletedByHand(seen, where, standing.workspace)
  }
}

function absent(seen: Seen, where: Where, { rendered, isPinned }: Resolved): Course {
  if (isPinned) {
    const message =
      'the template has another revision than the one that templateRef pins, and nothing was made of that one'
    return { effects: [], applied: say('Applied', 'RevisionGone', message) }
  }
  const lost = cameWithoutState(seen, where)
  if (lost !== undefined) return { effects: [], applied: say('Applied', 'StateMissing', lost) }
  if (!rendered) return { effects: [], applied: say('Applied', 'Waiting', 'Terraform was not asked for anything yet') }
  const other = cameToAnotherState(seen, where)
  if (other !== undefined) return { effects: [], applied: say('Applied', 'StateMissing', other) }
  return {
    effects: asking(seen, where, rendered),
    applied: promise(say('Applied', 'Creating', 'Terraform is asked to build it')),
  }
}

function kept(seen: Seen, where: Where, workspace: Workspace, { rendered, isPinned }: Resolved): Course {
  const { apply } = seen
  const course = tellProgress(seen, where, workspace)
  if (!rendered) {
    const message = 'the template has a newer revision than the one that templateRef pins'
    const isSettled = isPinned && course.applied.reason === 'Converged'
    const applied = isSettled ? say('Applied', 'RevisionPinned', message) : course.applied
    return {
      ...course,
      applied,
      effects: [
        ...record(apply, where),
        ...hold(apply, where, workspace),
        ...passOn(apply, where, workspace),
        ...resume(seen, where, workspace),
        ...unpacked(seen, where),
      ],
    }
  }
  const effects = [
    ...asking(seen, where, rendered),
    ...resume(seen, where, workspace, wanted(seen, where, rendered).spec),
    ...unpacked(seen, where),
  ]
  const isDone = apply.status?.revision === rendered.revision && guardOf(apply, where) === 'policies' // only the guard moves
  if (isDone || isAsked(wanted(seen, where, rendered), workspace)) return { ...course, effects }
  return {
    ...course,
    effects,
    applied: promise(say('Applied', 'Applying', 'Terraform is asked for a change')),
    status: {},
  }
}

// What it takes to have the Workspace as it should be. Where it is is written down first: a crash must not make us forget it.
function asking(seen: Seen, where: Where, rendered: Rendered): readonly Effect[] {
  const { apply } = seen
  const wish = wanted(seen, where, rendered)
  // What an engine may still be reading.
  const last = [where.workspace?.metadata.annotations?.[annotations.revision], apply.status?.revision]
  const others = last.filter((each) => each !== undefined)
  return [...record(apply, where), ...keepSecretVars(seen, rendered, others), ...ask(where, wish)]
}

// What was paused where it came from, and is to be kept so, is made so here: what was changed meanwhile waits.
function wanted(seen: Seen, where: Where, rendered: Rendered): Workspace {
  const wish = wishOf(seen.apply, where, rendered)
  const notes = where.workspace?.metadata.annotations
  const isStill = notes ? notes[annotations.paused] !== undefined : builtElsewhere(seen) !== undefined
  if (!seen.pause.isKept || !isStill) return wish
  const { metadata } = wish
  return { ...wish, metadata: { ...metadata, annotations: { ...metadata.annotations, ...ours } } }
}

function record(apply: WorkspaceTemplateApply, { api, name, externalName }: Where): readonly Effect[] {
  const isUsual = name === workspaceNameOf(api, keyOf(apply)) && externalName === externalNameOf(keyOf(apply))
  const notes = {
    [annotations.workspace]: `${api.group}/${name}`,
    ...(!isUsual && { [annotations.externalName]: externalName }),
    ...blocked,
  }
  if (isWithin(notes, apply.metadata.annotations ?? {})) return []
  return [
    { do: 'patch', resource: WorkspaceTemplateApply, object: apply, change: { metadata: { annotations: notes } } },
  ]
}

function frozen(seen: Seen, where: Where, workspace: Workspace, { rendered }: Resolved): Course {
  const { apply } = seen
  const { others } = tellProgress(seen, where, workspace)
  const changes = rendered ? differencesOf(wishOf(apply, where, rendered), workspace) : undefined
  const what =
    changes === undefined
      ? 'what would change is not known yet'
      : changes.length > 0
        ? `it would change ${changes.join(', ')}`
        : 'nothing would change'
  const command = commandToApply(apply.metadata, annotations.adopt, 'approved')
  const whose = wasLeft(seen, workspace)
    ? 'was left behind by a move, and what it built may be looked after in another cluster: it is left as it is'
    : 'was made by somebody else and is left as it is'
  const message = `${tellObject(workspace)} ${whose}; ${what}. To take it over: ${command}`
  return { effects: barMove(apply), applied: say('Applied', 'AdoptionFrozen', message), others }
}

// Nothing is destroyed: the engine is made to leave everything, and the Workspace is made again on the same state. But in a
// namespace that goes, the apply goes too, and then all of it is torn down in order.
function deletedByHand(seen: Seen, where: Where, workspace: Workspace): Course {
  const name = tellObject(workspace)
  if (seen.isNamespaceLeaving) {
    return { effects: [], applied: say('Applied', 'Applying', `${name} is being deleted with its namespace`) }
  }
  const note = `${name} was deleted by hand: nothing is destroyed, and it is made again on the same state`
  const applied = say('Applied', 'WorkspaceDeleted', note)
  // Who deletes both means both: then the apply comes within a moment, and all is destroyed. And should it come later, it must
  // be known that nothing was.
  const isMeant = mayComeMs(workspace, seen.now) <= 0 && wasSaid(applied, seen.apply.status?.conditions)
  return { effects: isMeant ? letGo(where, workspace) : [], applied }
}

const patienceMs = 10_000

// For how long it is waited whether the apply is deleted, too.
function mayComeMs({ metadata: { deletionTimestamp } }: Workspace, now: Date): number {
  return deletionTimestamp === undefined ? 0 : Date.parse(deletionTimestamp) + patienceMs - now.getTime()
}

// So that a change of what variables come from wakes us.
function listen({ sources }: Seen): readonly Effect[] {
  return sources
    .filter(({ object: { metadata } }) => metadata.labels?.[labels.watch] === undefined)
    .map(({ resource, object }) => ({
      do: 'patch',
      resource,
      object,
      change: { metadata: { labels: { [labels.watch]: 'true' } } },
    }))
}

function isUnproven(where: Seen['where']): boolean {
  return where.is === 'none' && where.reason === 'StateMissing'
}

function wakeOf({ apply, where, found, dependencies, home, now }: Seen, told: Said, waited: number): Wake {
  const isMissing = (apply.spec.variablesFrom ?? []).some(
    ({ name, optional, apply: other }) => !optional && !other && found.get(name)?.is === 'missing',
  )
  const waitsForSecret = isMissing || dependencies.some(({ what, is }) => what === 'Secret' && is === 'waiting')
  const silence = where.is === 'known' && where.silentAt !== undefined ? where.silentAt - now.getTime() : 0
  const seconds = [
    waitsForSecret || home !== undefined || isUnproven(where) ? lookAgainSeconds : 0,
    told.reason.startsWith('WaitingFor') ? (longWaitMs - waited) / 1000 : 0,
    silence / 1000,
    where.is === 'known' && where.workspace ? mayComeMs(where.workspace, now) / 1000 : 0,
  ].filter((each) => each > 0)
  return seconds.length > 0 ? { afterSeconds: Math.ceil(Math.min(...seconds)) } : 'onChange'
}
