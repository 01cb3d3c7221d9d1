// The Workspace as we want it, and what stands between that and the one that is there. Pure.
import { clusterNameLabel } from '../../api/contract.ts'
import { annotations, holdFinalizer, labels } from '../../api/keys.ts'
import { isRecord, isWithin, type JsonRecord } from '../../api/record.ts'
import { apiVersionOf, keyOf, tellKey } from '../../api/resource.ts'
import { crossplane, type ManagementPolicy, type Workspace, type WorkspaceSpec } from '../../api/workspace.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Effect } from '../../runtime/plan.ts'
import { applyLabelOf } from '../../terraform/identity.ts'
import { isAllowed, isOrphan, orphaned } from '../../terraform/policies.ts'
import type { Rendered } from '../../terraform/render.ts'
import { workspaceKey } from './relations.ts'
import type { Where } from './seen.ts'

type Apply = WorkspaceTemplateApply

// A user's word on the apply, which the engine wants to hear.
const passedOn = [annotations.approve, annotations.unlock, annotations.rollback] as const

export function wishOf(apply: Apply, where: Where, rendered: Rendered): Workspace {
  const { api, name, externalName } = where
  const { annotations: notes = {} } = apply.metadata
  const cluster = clusterOf(apply, where)
  const said = Object.entries(notes).filter(([key]) => passedOn.some((each) => each === key))
  return {
    apiVersion: apiVersionOf(api.workspace),
    kind: api.workspace.kind,
    metadata: {
      ...workspaceKey(api, apply, name),
      labels: { [labels.apply]: applyLabelOf(keyOf(apply)), ...(cluster && { [labels.cluster]: cluster }) },
      annotations: {
        [crossplane.externalName]: externalName,
        [annotations.apply]: tellKey(keyOf(apply)),
        [annotations.revision]: rendered.revision,
        ...(guardOf(apply, where) === 'plan' && { [annotations.guard]: 'Hold' }),
        ...Object.fromEntries(said),
      },
      finalizers: [holdFinalizer],
    },
    spec: {
      ...rendered.spec,
      ...(guardOf(apply, where) === 'policies' && { managementPolicies: guarded(apply, rendered) }),
    },
  }
}

// How changes that destroy are held. Our engine holds those plans. Crossplane cannot: there, for those who ask for it, every
// change is held by taking the right to update away.
export function guardOf(apply: Apply, where: Where): 'plan' | 'policies' | undefined {
  const { destructiveChanges } = apply.spec
  if (where.isCrossplane) return destructiveChanges === 'Hold' ? 'policies' : undefined
  const usual = clusterOf(apply, where) === undefined ? 'Allow' : 'Hold'
  return (destructiveChanges ?? usual) === 'Hold' ? 'plan' : undefined
}

// Which Cluster it is for. Who strips an apply of its labels must not take the guard from what it built: its Workspace still knows.
function clusterOf({ metadata: { labels: marks = {} } }: Apply, { workspace }: Where): string | undefined {
  return marks[clusterNameLabel] ?? marks[labels.cluster] ?? workspace?.metadata.labels?.[labels.cluster]
}

// Whether this revision may be carried out under such a guard: the first ever, and one that was approved until it is done.
export function isOpen({ metadata, status }: Apply, revision: string): boolean {
  const isApproved = metadata.annotations?.[annotations.approve] === revision
  return !status?.applied || (isApproved && status.revision !== revision)
}

function guarded(apply: Apply, { spec, revision }: Rendered): readonly ManagementPolicy[] {
  if (isOpen(apply, revision)) return spec.managementPolicies ?? ['*']
  return (['Observe', 'Create', 'Delete'] as const).filter((each) => isAllowed(spec.managementPolicies, each))
}

// The same where there is nothing else to ask for: one that is pinned, that waits or that goes may need it most.
export function passOn(apply: Apply, { api }: Where, workspace: Workspace): readonly Effect[] {
  const [said, heard] = [apply.metadata.annotations ?? {}, workspace.metadata.annotations ?? {}]
  const news = passedOn.filter((key) => said[key] !== heard[key]).map((key) => [key, said[key] ?? null] as const)
  if (news.length === 0) return []
  const change = { metadata: { annotations: Object.fromEntries(news) } }
  return [{ do: 'patch', resource: api.workspace, object: workspace, change }]
}

// Whether the engine has been asked for all that reaches Terraform.
export function isAsked(wish: Workspace, workspace: Workspace): boolean {
  const revisionOn = ({ metadata }: Workspace) => metadata.annotations?.[annotations.revision]
  return revisionOn(wish) === revisionOn(workspace) && isWithin(wish.spec, workspace.spec)
}

// What has to be written. Fields that others left there would be heeded too: they go, once all of ours is in place.
export function ask(where: Where, wish: Workspace): readonly Effect[] {
  const { api, workspace } = where
  const resource = api.workspace
  const apply: Effect = { do: 'apply', resource, object: wish }
  if (!workspace) return [apply]
  const stray = strayIn(wish, workspace)
  if (Object.keys(stray).length === 0 || !isAsked(wish, workspace)) return [apply]
  return [apply, { do: 'patch', resource, object: workspace, change: stray }]
}

// Only fields that mean something to an engine and that no API server fills in by itself: those would come back for ever.
const fieldsThatCount = [
  'vars',
  'varmap',
  'varFiles',
  'env',
  'inlineFormat',
  'initArgs',
  'planArgs',
  'applyArgs',
  'destroyArgs',
] as const

function strayIn(wish: Workspace, workspace: Workspace): JsonRecord {
  const { forProvider: ours, ...ourSpec } = wish.spec
  const { forProvider: theirs, ...theirSpec } = workspace.spec
  const fields = fieldsThatCount.filter((name) => theirs[name] !== undefined && ours[name] === undefined)
  const varmap = ours.varmap ? surplus(ours.varmap, theirs.varmap ?? {}) : {}
  const forProvider = { ...nulls(fields), ...(Object.keys(varmap).length > 0 && { varmap }) }
  // What is so because of a pause goes with it.
  const isReadied = workspace.metadata.annotations?.[annotations.moved] !== undefined
  const isRestricted = (spec: Omit<WorkspaceSpec, 'forProvider'>) => !isWithin(spec.managementPolicies ?? ['*'], ['*'])
  const spec = {
    ...(Object.keys(forProvider).length > 0 && { forProvider }),
    ...(!isReadied &&
      isRestricted(theirSpec) &&
      ourSpec.managementPolicies === undefined && { managementPolicies: null }),
    ...(!isReadied &&
      theirSpec.deletionPolicy === 'Orphan' &&
      ourSpec.deletionPolicy === undefined && { deletionPolicy: null }),
  }
  const notes = [...passedOn, annotations.guard].filter(
    (key) => workspace.metadata.annotations?.[key] !== undefined && wish.metadata.annotations?.[key] === undefined,
  )
  return {
    ...(Object.keys(spec).length > 0 && { spec }),
    ...(notes.length > 0 && { metadata: { annotations: nulls(notes) } }),
  }
}

// At any depth: an apply of ours leaves what others put beside it.
function surplus(ours: JsonRecord, theirs: JsonRecord): JsonRecord {
  const within = Object.entries(theirs).flatMap(([name, value]): readonly [string, unknown][] => {
    const wanted = ours[name]
    if (!(name in ours)) return [[name, null]]
    const deeper = isRecord(wanted) && isRecord(value) ? surplus(wanted, value) : {}
    return Object.keys(deeper).length > 0 ? [[name, deeper]] : []
  })
  return Object.fromEntries(within)
}

function nulls(names: readonly string[]): Readonly<Record<string, null>> {
  return Object.fromEntries(names.map((name) => [name, null]))
}

// By the names of the fields only: their values may be nobody's business.
export function differencesOf(wish: Workspace, workspace: Workspace): readonly string[] {
  const changed = (ours: object, theirs: object, path: string) => {
    const there = new Map<string, unknown>(Object.entries(theirs))
    return Object.entries(ours)
      .filter(([name, value]) => !isWithin(value, there.get(name)))
      .map(([name]) => `${path}${name}`)
  }
  const { forProvider: ours, ...ourSpec } = wish.spec
  const { forProvider: theirs, ...theirSpec } = workspace.spec
  const { spec: stray } = strayIn(wish, workspace)
  const { forProvider: strayFields, ...strayPolicies } = isRecord(stray) ? stray : {}
  const lost = [
    ...Object.keys(isRecord(strayFields) ? strayFields : {}).map((name) => `spec.forProvider.${name}`),
    ...Object.keys(strayPolicies).map((name) => `spec.${name}`),
  ]
  return [
    ...new Set([...changed(ours, theirs, 'spec.forProvider.'), ...changed(ourSpec, theirSpec, 'spec.'), ...lost]),
  ].toSorted()
}

// In one write: an engine never sees it without our hold and with the right to destroy.
export function letGo({ api }: Where, workspace: Workspace): readonly Effect[] {
  const finalizers = workspace.metadata.finalizers ?? []
  if (isOrphan(api, workspace.spec) && !finalizers.includes(holdFinalizer)) return []
  const spec = orphaned(api, workspace.spec)
  const change = { spec, metadata: { finalizers: finalizers.filter((each) => each !== holdFinalizer) } }
  return [{ do: 'patch', resource: api.workspace, object: workspace, change }]
}

// What says whose it is, and holds it, also where there is nothing else to ask for: who took it off must not find a Workspace that is
// destroyed with all it built.
export function hold(apply: Apply, where: Where, workspace: Workspace): readonly Effect[] {
  const { labels: marks = {}, annotations: notes = {}, finalizers = [] } = workspace.metadata
  const cluster = clusterOf(apply, where)
  const wanted = {
    labels: { [labels.apply]: applyLabelOf(keyOf(apply)), ...(cluster !== undefined && { [labels.cluster]: cluster }) },
    annotations: { [annotations.apply]: tellKey(keyOf(apply)) },
  }
  const isHeld = finalizers.includes(holdFinalizer)
  if (isHeld && isWithin(wanted, { labels: marks, annotations: notes })) return []
  const change = { metadata: { ...wanted, ...(!isHeld && { finalizers: [...finalizers, holdFinalizer] }) } }
  return [{ do: 'patch', resource: where.api.workspace, object: workspace, change }]
}

export function release({ api }: Where, workspace: Workspace): readonly Effect[] {
  const finalizers = workspace.metadata.finalizers ?? []
  if (!finalizers.includes(holdFinalizer)) return []
  const change = { metadata: { finalizers: finalizers.filter((each) => each !== holdFinalizer) } }
  return [{ do: 'patch', resource: api.workspace, object: workspace, change }]
}
