// Finds where the Workspace of an apply is, or is to be: in which API, under which name, on which state.
import { annotations } from '../../api/keys.ts'
import { CustomResourceDefinition, Secret } from '../../api/neighbours.ts'
import { beside, keyOf, resourceName, tellKey } from '../../api/resource.ts'
import {
  crossplane,
  packageOf,
  type Workspace,
  type WorkspaceAPI,
  workspaceAPIs,
  workspaceGroups,
} from '../../api/workspace.ts'
import type { WorkspaceTemplate } from '../../api/workspacetemplate.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Read } from '../../runtime/cache.ts'
import type { Settings } from '../../runtime/settings.ts'
import { externalNameOf, recordedOn, stateSecretNameOf, workspaceNameOf } from '../../terraform/identity.ts'
import { type Luggage, luggageOn } from '../../terraform/luggage.ts'
import { commandToAnnotate } from '../../terraform/word.ts'
import { chooseEngine } from './engines.ts'
import { workspaceKey } from './relations.ts'
import type { Nowhere, Where } from './seen.ts'

type Apply = WorkspaceTemplateApply
export type Place = Omit<Where, 'silentAt'>

export const ours = 'ours' // index of Workspaces: those that are labelled as ours

// A Workspace stays in the API it was made in, under the name it was made with.
export function whereIs(
  read: Read,
  apply: Apply,
  template: WorkspaceTemplate | undefined,
  { workspaceAPI }: Pick<Settings, 'workspaceAPI'>,
  allowed: readonly string[] = [], // states that somebody else than its tenants lets the namespace work on
): Place | Nowhere {
  const crdOf = (api: WorkspaceAPI) => read.get(CustomResourceDefinition, { name: resourceName(api.workspace) })
  const place = (api: WorkspaceAPI, name: string): Place | Nowhere => {
    const crd = crdOf(api)
    const workspace = read.get(api.workspace, workspaceKey(api, apply, name))
    const externalName = externalNameFor(api, apply, name, workspace, luggageOf(read, apply), allowed)
    if (externalName === undefined) return { is: 'none', reason: 'StateMissing', message: notProven(apply, name) }
    return {
      is: 'known',
      api,
      isServed: isEstablished(crd),
      isCrossplane: crd !== undefined && packageOf(crd) !== undefined,
      name,
      externalName,
      isRecorded: apply.status?.workspaceName === name,
      workspace,
    }
  }
  const recorded = recordedOn(apply)
  if (recorded) return place(workspaceAPIs[recorded.group], recorded.name)
  // The predecessor wrote down a name and no group.
  const old = apply.status?.workspaceName
  const apis = workspaceGroups.map((group) => workspaceAPIs[group])
  const api = old && apis.find((each) => read.get(each.workspace, workspaceKey(each, apply, old)))
  if (api) return place(api, old)
  const choice = chooseEngine({
    asked: template?.spec.workspaceAPI ?? workspaceAPI,
    isServed: (group) => isEstablished(crdOf(workspaceAPIs[group])),
    hasOurs: (group) => read.keysAt(workspaceAPIs[group].workspace, ours, '').length > 0,
  })
  if (choice.is === 'none') return choice
  const chosen = workspaceAPIs[choice.group]
  return place(chosen, old ?? workspaceNameOf(chosen, keyOf(apply)))
}

// A definition is there a moment before what it defines.
function isEstablished(crd: CustomResourceDefinition | undefined): boolean {
  return crd?.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false
}

// Whoever may write an apply may not say so: it is for those who look after namespaces.
function notProven({ metadata }: Apply, workspace: string): string {
  const state = metadata.annotations?.[annotations.externalName] ?? workspace
  const so = commandToAnnotate('namespace', { name: metadata.namespace ?? '' }, annotations.allowedStates, state)
  return `annotations of the apply name a Workspace or a state outside of its namespace, and nothing proves that they were ever its own: remove them, or, if they were, have somebody say so who may write the Namespace: ${so}`
}

// What is known of the state that came along from another cluster.
function luggageOf(read: Read, apply: Apply): Luggage | undefined {
  const secret = read.get(Secret, beside(apply, stateSecretNameOf(apply.metadata)))
  return secret && luggageOn(secret.metadata)
}

// The state is found by it: what an adopted Workspace had it keeps, also when that has to be made again. Undefined: it would be
// a state that may well be somebody else's, for anybody who may write an apply can write its annotations, and the Secret that its state is moved
// in. But where that has the state in it, no other is taken in its place; else somebody who may write the Namespace has to say so.
function externalNameFor(
  api: WorkspaceAPI,
  apply: Apply,
  name: string,
  workspace: Workspace | undefined,
  luggage: Luggage | undefined,
  allowed: readonly string[],
): string | undefined {
  const { namespace = '', annotations: notes = {} } = apply.metadata
  const isUsual = name === workspaceNameOf(api, keyOf(apply))
  const isOwn = (each: string) => each === apply.status?.workspaceName || each.startsWith(`${namespace}.`)
  const { [crossplane.externalName]: told, [annotations.apply]: owner } = workspace?.metadata.annotations ?? {}
  const isNamed = owner === tellKey(keyOf(apply)) // by the Workspace itself, which tenants cannot write
  const kept = notes[annotations.externalName] ?? (isUsual ? undefined : name)
  const hasState = luggage?.backend === 'kubernetes' && luggage.lineage !== undefined
  const cameAlong = hasState && luggage.group === api.group && luggage.externalName === kept
  const isProven = cameAlong || (kept !== undefined && allowed.includes(kept))
  if (!isUsual && !api.isNamespaced && !isNamed && !isOwn(name) && !isProven) return undefined
  if (told !== undefined) return told
  if (kept === undefined) return externalNameOf(keyOf(apply))
  return isOwn(kept) || isProven ? kept : undefined
}
