// An apply that a controller makes for its own object: how it is asked for, whose it is, and how far it is. Pure.
import { hashOf } from '../api/canonical.ts'
import { clusterNameLabel, watchFilterLabel } from '../api/contract.ts'
import { annotations, labels } from '../api/keys.ts'
import { type JsonRecord, mergePatch } from '../api/record.ts'
import {
  apiVersionOf,
  beside,
  groupOf,
  type KubeObject,
  type OwnerReference,
  type Resource,
  resourceName,
  tellObject,
  tellRef,
} from '../api/resource.ts'
import { applyFailures, applyHolds, WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import type { Effect, Ref } from '../runtime/plan.ts'
import { commandToForget } from '../terraform/word.ts'

type Apply = WorkspaceTemplateApply

// What is wanted of one. What is left out is as the API server fills it in.
export interface Wish {
  readonly name: string
  readonly cluster?: string // none: it is for more than one
  readonly owner?: KubeObject // none: it outlives whoever asks for it
  readonly watchFilter?: string | undefined // none: that of whoever asks for it
  readonly notes?: Notes // annotations
  readonly spec: Partial<Apply['spec']> & Pick<Apply['spec'], 'templateRef'>
}

// The manager that looks after whoever asks is to look after it, too.
export function ask(subject: KubeObject, { name, cluster, owner, watchFilter, notes = {}, spec }: Wish): Effect {
  const { namespace } = subject.metadata
  const filter = watchFilter ?? watchFilterOf(subject)
  const marks = {
    ...(cluster !== undefined && { [clusterNameLabel]: cluster, [labels.cluster]: cluster }),
    ...(filter !== undefined && { [watchFilterLabel]: filter }),
  }
  const object = {
    apiVersion: apiVersionOf(WorkspaceTemplateApply),
    kind: WorkspaceTemplateApply.kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(Object.keys(marks).length > 0 && { labels: marks }),
      annotations: { ...notes, [annotations.revision]: hashOf(filter === undefined ? spec : { spec, filter }) }, // wishes can become fewer
      ...(owner && { ownerReferences: [ownedBy(owner)] }),
    },
    spec,
  }
  return { do: 'apply', resource: WorkspaceTemplateApply, object }
}

export function watchFilterOf({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.[watchFilterLabel]
}

export function ownedBy({ apiVersion, kind, metadata: { name, uid = '' } }: KubeObject): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true }
}

// An apply of that name may be somebody else's. One without a controller is taken for ours when a label or a note of ours is on it, for nobody
// else writes them: whoever restores a backup may have stripped it of its owner. But never one that says that it is for another cluster.
function isOf(
  { metadata: { ownerReferences = [], labels: marks = {}, annotations: notes = {} } }: Apply,
  owner: KubeObject,
  cluster: string | undefined,
): boolean {
  const controller = ownerReferences.find((each) => each.controller)
  const named = [marks[clusterNameLabel], marks[labels.cluster]].filter((each) => each !== undefined)
  if (!controller && cluster !== undefined && named.some((each) => each !== cluster)) return false
  if (!controller) {
    const isLabelled = cluster !== undefined && marks[labels.cluster] === cluster
    return isLabelled || notes[annotations.revision] !== undefined
  }
  return (
    controller.kind === owner.kind &&
    controller.name === owner.metadata.name &&
    groupOf(controller.apiVersion) === groupOf(owner.apiVersion)
  )
}

// What has the name of an apply of ours: that apply, or somebody else's, which is left alone.
export interface Found {
  readonly apply: Apply | undefined
  readonly taken: Apply | undefined
}

// `cluster` is the owner's; undefined: it was stripped of its own.
export function sortOut(found: Apply | undefined, owner: KubeObject, cluster: string | undefined): Found {
  return found && isOf(found, owner, cluster) ? { apply: found, taken: undefined } : { apply: undefined, taken: found }
}

export function refTo(subject: KubeObject, name: string): Ref {
  return { resource: WorkspaceTemplateApply, key: beside(subject, name) }
}

// What has to be said to it before it goes: that what it built stays, and what else it is to know, by annotations.
export function instruct(apply: Apply, isRetained: boolean, notes: Notes = {}): readonly Effect[] {
  const isForgotten = isRetained && !apply.spec.retainOnDelete
  const news = Object.entries(notes).filter(([name, value]) => apply.metadata.annotations?.[name] !== value)
  if (!isForgotten && news.length === 0) return []
  const change = {
    ...(isForgotten && { spec: { retainOnDelete: true } }),
    ...(news.length > 0 && { metadata: { annotations: Object.fromEntries(news) } }),
  }
  return [{ do: 'patch', resource: WorkspaceTemplateApply, object: apply, change }]
}

// It goes, and what it built stays when that is to be.
export function letGo(apply: Apply, isRetained: boolean, notes: Notes = {}): readonly Effect[] {
  const isGoing = apply.metadata.deletionTimestamp !== undefined
  const remove: Effect = { do: 'delete', resource: WorkspaceTemplateApply, object: apply }
  return [...instruct(apply, isRetained, notes), ...(isGoing ? [] : [remove])]
}

export type Notes = Readonly<Record<string, string>>

// The last resort, by a user's word: the owner hands it on to its apply.
export function isForced({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[annotations.forceDelete] === 'true'
}

// Whether Terraform was ever asked by it, as far as is known: in a move its status is lost.
export function hasWorkspace({ metadata, status }: Apply): boolean {
  return status?.workspaceName !== undefined || metadata.annotations?.[annotations.workspace] !== undefined
}

export interface Asker extends KubeObject {
  readonly status?: { readonly workspaceTemplateStatus?: JsonRecord | undefined } | undefined
}

// Whoever asked for an apply notes where that has its Workspace: its status does not come back from a backup.
export function noteWorkspace(resource: Resource, asker: Asker, { metadata, status }: Apply): readonly Effect[] {
  const where = metadata.annotations?.[annotations.workspace]
  const noted = asker.metadata.annotations?.[annotations.workspace]
  if (where === undefined || where === noted || status?.workspaceName === undefined) return []
  const change = { metadata: { annotations: { [annotations.workspace]: where } } }
  return [{ do: 'patch', resource, object: asker, change }]
}

// It had an apply that built something, and has never seen one here: a backup may be coming back. Another apply would build it again.
export function cameWithoutApply(resource: Resource, { metadata, status }: Asker, apply: string): string | undefined {
  const noted = metadata.annotations?.[annotations.workspace]
  if (noted === undefined || status?.workspaceTemplateStatus?.['workspaceName'] !== undefined) return undefined
  const anew = commandToForget(resourceName(resource), metadata, annotations.workspace)
  return `${tellRef(WorkspaceTemplateApply, beside({ metadata }, apply))} built it (Workspace ${noted}) and did not come back: restore it, or, if nothing of it is left, begin anew with: ${anew}`
}

// What it asks Terraform for now.
export function askedOf(apply: Apply | undefined, variable: string): string | undefined {
  const value = apply?.spec.variables?.[variable]
  return typeof value === 'string' ? value : undefined
}

// How its last run went: whether what it builds is there is another question.
export interface Run {
  readonly is: 'done' | 'running' | 'failed' | 'held'
  readonly reason: string // the apply's own
  readonly why: string // names it, for people; empty when it is done
  readonly sinceMs: number | undefined // of one that runs: since when Terraform is at work, else since when it is not done
  readonly isAtWork: boolean // since when is known
}

const failures = new Set([...applyFailures, 'DependencyFailed'])
const holds = new Set(applyHolds)
const work = new Set(['Creating', 'Planning', 'Applying'])

export function runOf(apply: Apply): Run {
  const name = tellObject(apply)
  const { generation = 0, creationTimestamp } = apply.metadata
  if (apply.metadata.deletionTimestamp !== undefined) {
    const why = `${name} is being deleted, and is made again when it is gone`
    return { ...unasked, is: 'failed', reason: 'Deleting', why }
  }
  const conditionOf = (about: string) => apply.status?.conditions?.find(({ type }) => type === about)
  const [ready, paused] = [conditionOf('Ready'), conditionOf('Paused')]
  const isCurrent = ready && (ready.observedGeneration ?? 0) >= generation
  if (paused?.status === 'True' && !isCurrent)
    return { ...unasked, is: 'running', reason: 'Paused', why: `${name} waits while it is paused: ${paused.message}` }
  if (!ready) return running(apply, 'Creating', `${name} is at work`, creationTimestamp)
  const since = ready.status === 'True' ? undefined : ready.lastTransitionTime
  if (!isCurrent) return running(apply, 'Applying', `${name} is asked for a change`, since)
  if (ready.status === 'True') return { ...unasked, is: 'done', reason: ready.reason, why: '' }
  // How far it is, it tells itself: told here too, each of its steps would be written on all that wait for it.
  const why = work.has(ready.reason) ? `${name} is at work` : `${name}: ${ready.message || ready.reason}`
  if (failures.has(ready.reason)) return { ...unasked, is: 'failed', reason: ready.reason, why }
  if (holds.has(ready.reason)) return { ...unasked, is: 'held', reason: ready.reason, why }
  return running(apply, ready.reason, why, since)
}

const unasked = { sinceMs: undefined, isAtWork: false }

// Not every engine tells since when it is at work.
function running({ status }: Apply, reason: string, why: string, notDoneSince: string | undefined): Run {
  const since = status?.applyingSince ?? notDoneSince
  const sinceMs = since === undefined ? undefined : Date.parse(since)
  return { is: 'running', reason, why, sinceMs, isAtWork: status?.applyingSince !== undefined }
}

// To Cluster API a failure told so is the end, and the predecessor told of every one: there is none now.
export function noFailure(
  before: { readonly failureReason?: unknown; readonly failureMessage?: unknown } = {},
): JsonRecord {
  const { failureReason, failureMessage } = before
  return {
    ...(failureReason !== undefined && { failureReason: null }),
    ...(failureMessage !== undefined && { failureMessage: null }),
  }
}

// What scripts of the predecessor read of it.
export function oldStatusOf(apply: Apply, { is, why }: Run, before: JsonRecord = {}): JsonRecord {
  const { workspaceName, revision, lastAppliedTime } = apply.status ?? {}
  const lastFailureMessage = is === 'failed' ? why : undefined
  return mergePatch(before, {
    ready: is === 'done',
    workspaceName,
    lastAppliedRevision: revision,
    lastAppliedTime,
    lastFailureMessage,
  })
}
