// The command by which a user gives their word, for where it is read: what an apply says is copied to its Workspace. Pure.
import { annotations, holdFinalizer } from '../api/keys.ts'
import { groupOf, type Key, readKey, tellKey } from '../api/resource.ts'
import type { Workspace } from '../api/workspace.ts'

export function commandToApply(apply: Key, key: string, value: string): string {
  return commandToAnnotate('workspacetemplateapply', apply, key, value)
}

// `plural` is of its kind, as kubectl wants it: workspaces.tf.upbound.io
export function commandTo(plural: string, { metadata }: Workspace, key: string, value: string): string {
  const apply = metadata.annotations?.[annotations.apply]
  return apply === undefined
    ? commandToAnnotate(plural, metadata, key, value)
    : commandToApply(readKey(apply), key, value)
}

export function commandToAnnotate(kind: string, key: Key, annotation: string, value: string): string {
  return `kubectl annotate ${kind} ${within(key)} --overwrite ${annotation}=${value}`
}

export function commandToForget(kind: string, key: Key, annotation: string): string {
  return `kubectl annotate ${kind} ${within(key)} ${annotation}-`
}

// Which show a Workspace, and where Terraform's kubernetes backend keeps its state: it labels the Secret so, in whichever namespace.
export function commandToFind(plural: string, workspace: Key): string {
  return `kubectl get ${plural} ${within(workspace)}`
}
export function commandToFindState(externalName: string): string {
  return `kubectl get secrets --all-namespaces --selector tfstate=true,tfstateWorkspace=${externalName}`
}

// One that nobody looks after any more: what holds it is taken off, and the engine destroys what it built.
export function commandToDestroy({ kind, apiVersion, metadata }: Workspace): string {
  const what = `${kind.toLowerCase()}s.${groupOf(apiVersion)} ${within(metadata)}`
  const finalizers = metadata.finalizers?.filter((each) => each !== holdFinalizer)
  const change = JSON.stringify({ metadata: { finalizers } })
  return `kubectl patch ${what} --type=merge --patch '${change}' && kubectl delete ${what}`
}

// The command that restores the state of an apply: its last copy, or, where no copy says where it belongs, from a file to there.
export function commandToRestore(apply: Key, secret?: Key): string {
  const what = secret ? `--from FILE --secret ${tellKey(secret)}` : '--at latest'
  return `capt state restore ${within(apply)} ${what}`
}

function within({ name, namespace }: Key): string {
  return `${name}${namespace ? ` --namespace ${namespace}` : ''}`
}
