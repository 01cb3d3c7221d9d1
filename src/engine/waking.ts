// When a pass over a Workspace is due: at which changes of it, and how long after the last. Pure.
import { hashOf } from '../api/canonical.ts'
import { annotations as ours } from '../api/keys.ts'
import { crossplane, type Workspace } from '../api/workspace.ts'
import { duration } from '../runtime/flags.ts'

// What we write ourselves.
const own = new Set<string>([
  crossplane.externalName,
  crossplane.createPending,
  crossplane.createSucceeded,
  crossplane.createFailed,
  ours.plan,
  ours.cli,
])

// Whether somebody else than us changed something: our own writes would wake us again and again.
export function isNews(before: Workspace | undefined, now: Workspace): boolean {
  if (before === undefined || hashOf(askedOf(before)) !== hashOf(askedOf(now))) return true
  // We write it and never take it away: whoever does has made the state fit for us.
  const cliOf = ({ metadata }: Workspace) => metadata.annotations?.[ours.cli]
  return cliOf(before) !== undefined && cliOf(now) === undefined
}

// All that was asked of it is done: it is looked at only to see whether it is still so. An engine that starts sees many of these, and
// whoever waits for something must not wait for them.
export function isSettled({ metadata, status }: Workspace): boolean {
  const synced = status?.conditions?.find(({ type }) => type === 'Synced')
  const isDone = synced?.status === 'True' && synced.observedGeneration === metadata.generation
  return isDone && metadata.deletionTimestamp === undefined
}

function askedOf({ metadata }: Workspace) {
  const { generation, labels, annotations = {}, finalizers = [], deletionTimestamp, name } = metadata
  return {
    generation,
    deletionTimestamp,
    labels,
    annotations: Object.entries(annotations).filter(([key]) => !own.has(key)),
    externalName: annotations[crossplane.externalName] ?? name, // which we give to one that has none
    finalizers: finalizers.filter((each) => each !== crossplane.finalizer),
  }
}

export interface Poll {
  readonly pollMs: number
  readonly jitterMs: number
  readonly random: () => number // from 0 up to 1
}

export function pollAfterSeconds({ metadata }: Workspace, { pollMs, jitterMs, random }: Poll): number {
  const ms = intervalOf(metadata.annotations?.[crossplane.pollInterval]) ?? pollMs
  return Math.max(1000, ms + (random() * 2 - 1) * Math.min(jitterMs, ms)) / 1000
}

// What is no duration is as if it were not there.
function intervalOf(text: string | undefined): number | undefined {
  try {
    return text === undefined ? undefined : duration.read(text)
  } catch {
    return undefined
  }
}
