// When an engine is called silent: two minutes after a Workspace was made, or after its last sign on any other of the same API.
import { crossplane, type Workspace, type WorkspaceAPI } from '../../api/workspace.ts'
import { getIfThere } from '../../kube/ifthere.ts'
import type { Read } from '../../runtime/cache.ts'
import type { Live } from '../../runtime/controller.ts'
import { progressOf } from '../../terraform/progress.ts'

const silentMs = 120_000
const momentMs = 10_000

export const byLastSign = 'lastSign' // index of Workspaces: the moment of the last sign of an engine on it

export function lastSignOf({ metadata, status }: Workspace): readonly string[] {
  const { createPending, createSucceeded, createFailed } = crossplane
  const notes = [createPending, createSucceeded, createFailed].map((name) => metadata.annotations?.[name])
  const told = (status?.conditions ?? []).map(({ lastTransitionTime }) => lastTransitionTime)
  const times = [...notes, ...told].map((time) => Date.parse(time ?? '')).filter((time) => !Number.isNaN(time))
  return times.length === 0 ? [] : [String(momentOf(Math.max(...times)))]
}

// Of one that no engine has given a sign on; undefined: its engine has begun. To the moment: it is not asked of each when.
export async function silentAt(
  read: Read,
  live: Live,
  { workspace: resource, usage }: WorkspaceAPI,
  workspace: Workspace,
): Promise<number | undefined> {
  if (progressOf(workspace).is !== 'waiting') return undefined
  const now = live.now().getTime()
  const patient = Date.parse(workspace.metadata.creationTimestamp ?? '') + silentMs
  if (now < patient) return patient
  const isSigned = (moment: number) => read.keysAt(resource, byLastSign, String(moment)).length > 0
  const recent = Array.from({ length: silentMs / momentMs + 1 }, (_, ago) => momentOf(now) - ago)
  const signed = recent.find(isSigned)
  const last = signed === undefined ? 0 : Math.min(now, (signed + 1) * momentMs)
  if (now < last + silentMs) return last + silentMs
  // While it loads providers for the first time, this is all that is seen of an engine; it is called after the Workspace's uid.
  const { namespace, uid = '' } = workspace.metadata
  const used = await getIfThere(live, usage, namespace === undefined ? { name: uid } : { namespace, name: uid })
  return used ? undefined : patient
}

function momentOf(time: number): number {
  return Math.floor(time / momentMs)
}
