// The command by which a user gives their word, for where it is read: what an apply says is copied to its Workspace. Pure.
import { annotations } from '../api/keys.ts'
import type { Workspace } from '../api/workspace.ts'

// `plural` is of its kind, as kubectl wants it: workspaces.tf.upbound.io
export function commandFor(plural: string, { metadata }: Workspace, key: string, value: string): string {
  const apply = metadata.annotations?.[annotations.apply]
  const [space, which] = apply?.split('/') ?? [metadata.namespace, metadata.name]
  const kind = apply === undefined ? plural : 'workspacetemplateapply'
  return `kubectl annotate ${kind} ${which}${space ? ` --namespace ${space}` : ''} --overwrite ${key}=${value}`
}
