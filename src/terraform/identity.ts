// What things of an apply are called. Two applies never share a name, in whatever namespaces they are. Pure.
import { hashOf } from '../api/canonical.ts'
import { annotations } from '../api/keys.ts'
import { cutName } from '../api/name.ts'
import { type Key, keyOf, type ObjectMeta } from '../api/resource.ts'
import { crossplane, type WorkspaceAPI, type WorkspaceGroup, workspaceGroups } from '../api/workspace.ts'
import type { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'

const longestLabel = 63 // Terraform's kubernetes backend writes its workspace into a label, too
const longestName = 253

// The apply's own name; where Workspaces have no namespace, with the apply's before it.
export function workspaceNameOf({ isNamespaced }: Pick<WorkspaceAPI, 'isNamespaced'>, apply: Key): string {
  return isNamespaced ? cut(apply.name, longestLabel) : fullNameOf(apply)
}

// Which Workspace it has had, as our status says; where that was lost, as when objects were moved, as an annotation does. That is on whoever asked
// for it, too.
export function recordedOn({
  metadata,
  status,
}: Pick<WorkspaceTemplateApply, 'metadata' | 'status'>): { group: WorkspaceGroup; name: string } | undefined {
  const [group, name] = metadata.annotations?.[annotations.workspace]?.split('/') ?? []
  const told = status?.workspaceName ?? name
  const known = workspaceGroups.find((each) => each === (status?.workspaceAPI ?? group))
  return known && told ? { group: known, name: told } : undefined
}

// The workspace of Terraform, and so the state. Its namespace is part of it everywhere: all namespaces share one backend.
export function externalNameOf(apply: Key): string {
  return fullNameOf(apply)
}

export function applyLabelOf(apply: Key): string {
  return fullNameOf(apply)
}

// Holds the variables that must not be in a Workspace.
export function varsSecretOf({ name }: Pick<Key, 'name'>): string {
  return cut(`${name}-vars`, longestName)
}

// In which its state travels to another cluster.
export function stateSecretNameOf({ name }: Pick<Key, 'name'>): string {
  return cut(`${name}-state`, longestName)
}

// Where the engine writes outputs when nobody says where.
export function connectionSecretOf({ name }: Pick<Key, 'name'>): string {
  return cut(`${name}-connection`, longestName)
}

// By which what is kept of a Workspace is found: that of its name and state, not of its uid.
export function recordIdOf(group: string, { namespace, name, annotations: notes }: ObjectMeta): string {
  return hashOf({ group, namespace, name, externalName: notes?.[crossplane.externalName] ?? name })
}

// A namespace has no dot, so the first one tells where the name begins.
function fullNameOf(apply: Key): string {
  const { name, namespace } = keyOf({ metadata: apply })
  return cut(namespace === undefined ? name : `${namespace}.${name}`, longestLabel)
}

// A name that is too long ends in a hash of all of it. One that has just the greatest length is cut as well: so every cut
// name is of that length and no other is, and nobody can name an object as another's is cut.
function cut(name: string, longest: number): string {
  return name.length < longest ? name : cutName(name, longest)
}
