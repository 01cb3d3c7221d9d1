// The command by which a user gives their word, for where it is read: what an apply says is copied to its Workspace. Pure.
import { annotations } from '../api/keys.ts'
import { type Key, readKey } from '../api/resource.ts'
import type { Workspace } from '../api/workspace.ts'

export function commandToApply(apply: Key, key: string, value: string): string {
  return command('workspacetemplateapply', apply, key, value)
}

// `plural` is of its kind, as kubectl wants it: workspaces.tf.upbound.io
export function commandTo(plural: string, { metadata }: Workspace, key: string, value: string): string {
  const apply = metadata.annotations?.[annotations.apply]
  return apply === undefined ? command(plural, metadata, key, value) : commandToApply(readKey(apply), key, value)
}

function command(kind: string, { name, namespace }: Key, key: string, value: string): string {
  return `kubectl annotate ${kind} ${name}${namespace ? ` --namespace ${namespace}` : ''} --overwrite ${key}=${value}`
}
