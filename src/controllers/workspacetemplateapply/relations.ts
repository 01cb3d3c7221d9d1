// Whom an apply names: its template, other applies, Secrets and ConfigMaps, its Workspace; and how it is found by them. Pure.
import { clusterNameLabel } from '../../api/contract.ts'
import { annotations, labels } from '../../api/keys.ts'
import { apiVersionOf, beside, type Key, keyOf, referredBy, tellKey } from '../../api/resource.ts'
import { type WorkspaceAPI, workspaceAPIs } from '../../api/workspace.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Indexes } from '../../runtime/store.ts'
import { applyLabelOf, recordedOn, workspaceNameOf } from '../../terraform/identity.ts'

type Apply = WorkspaceTemplateApply

export function templateOf(apply: Apply): Key {
  return referredBy(apply, apply.spec.templateRef)
}

// Names of applies, or of Workspaces where there is no such apply: those whose outputs it uses or whom it waits for.
export function usedBy({ spec: { waitForWorkspaces = [], variablesFrom = [] } }: Apply): readonly string[] {
  const sources = variablesFrom.flatMap(({ apply }) => (apply ? [apply.name] : []))
  return unique([...waitForWorkspaces.map(({ name }) => name), ...sources])
}

// Whether it cannot do without.
export function isNeeded({ spec: { waitForWorkspaces = [], variablesFrom = [] } }: Apply, name: string): boolean {
  const isUsed = variablesFrom.some(({ apply, optional }) => apply?.name === name && !optional)
  return isUsed || waitForWorkspaces.some((each) => each.name === name)
}

export function usedKeys(apply: Apply): readonly Key[] {
  return usedBy(apply).map((name) => beside(apply, name))
}

export function workspaceKey(
  { isNamespaced }: Pick<WorkspaceAPI, 'isNamespaced'>,
  apply: Pick<Apply, 'metadata'>,
  name: string,
): Key {
  return isNamespaced ? beside(apply, name) : { name }
}

export const byTemplate = 'template'
export const byUse = 'use'
export const bySecret = 'secret'
export const byConfigMap = 'configmap'
export const byWorkspace = 'workspace'
export const ofOneCluster = 'cluster' // by the Cluster that its label names
export const arriving = 'arriving' // by their own keys

// Shared by everybody who watches applies: the cache wants one index of a name.
export const applyIndexes: Indexes<Apply> = {
  [byTemplate]: (apply) => [tellKey(templateOf(apply))],
  [byUse]: (apply) => usedKeys(apply).map(tellKey),
  [ofOneCluster]: (apply) => {
    const name = apply.metadata.labels?.[clusterNameLabel]
    return name === undefined ? [] : [tellKey(beside(apply, name))]
  },
  [arriving]: (apply) => (isArriving(apply) ? [tellKey(keyOf(apply))] : []),
  [bySecret]: (apply) => {
    const { variablesFrom = [], waitForSecrets = [] } = apply.spec
    const own = variablesFrom.flatMap(({ secret }) => (secret ? [secret.name] : []))
    const waited = waitForSecrets.map((each) => referredBy(apply, each))
    return unique([...own.map((name) => beside(apply, name)), ...waited].map(tellKey))
  },
  [byConfigMap]: ({ spec: { variablesFrom = [] }, ...apply }) =>
    unique(variablesFrom.flatMap(({ configMap }) => (configMap ? [tellKey({ ...keyOf(apply), ...configMap })] : []))),
  // Every Workspace that could matter to it, though nothing on that says so, but for its namesakes: most applies have no other,
  // and thousands of entries would be large.
  [byWorkspace]: (apply) => {
    const own = Object.values(workspaceAPIs).map((api) => workspaceKey(api, apply, workspaceNameOf(api, keyOf(apply))))
    const used = usedBy(apply).flatMap((name) => [{ name }, beside(apply, name)])
    const self = tellKey(keyOf(apply))
    return unique(
      [...own, ...used, ...recordedKeys(apply)].filter((key) => tellKey(namesakeOf(key)) !== self).map(tellKey),
    )
  },
}

// The predecessor wrote down a name and no group.
function recordedKeys(apply: Apply): readonly Key[] {
  const recorded = recordedOn(apply)
  if (recorded) return [workspaceKey(workspaceAPIs[recorded.group], apply, recorded.name)]
  const { workspaceName: name } = apply.status ?? {}
  return name ? [{ name }, beside(apply, name)] : []
}

// The apply whose Workspace it would be, by its name alone. A namespace has no dot.
export function namesakeOf({ name, namespace }: Key): Key {
  const dot = name.indexOf('.')
  if (namespace !== undefined) return { namespace, name }
  return dot < 0 ? { name } : { namespace: name.slice(0, dot), name: name.slice(dot + 1) }
}

function unique<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)]
}

// It had a Workspace, and was never seen to have one here: a backup is coming back, in whichever order, or it was moved here.
export function isArriving({ metadata, status }: Apply): boolean {
  return metadata.annotations?.[annotations.workspace] !== undefined && status?.workspaceName === undefined
}

// What is on a Secret that is made for it, and says whose it is.
export function marksOf({ kind, metadata }: WorkspaceTemplateApply) {
  const { uid = '', name } = metadata
  const key = keyOf({ metadata })
  const apiVersion = apiVersionOf(WorkspaceTemplateApply)
  return {
    labels: { [labels.apply]: applyLabelOf(key) },
    annotations: { [annotations.apply]: tellKey(key) },
    ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
  }
}
