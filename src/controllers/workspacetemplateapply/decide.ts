// What a WorkspaceTemplateApply needs next, given what we see: the order of its stages. No I/O, no clock, no memory.
import { vocabulary } from '../../api/condition.ts'
import { annotations } from '../../api/keys.ts'
import { crossplane } from '../../api/workspace.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { type Effect, idle, type Plan, stageOf } from '../../runtime/plan.ts'
import { finalizer } from './finalizer.ts'
import { leaving } from './leaving.ts'
import { live } from './live.ts'
import { workspaceKey } from './relations.ts'
import type { Seen } from './seen.ts'
import { standingOf } from './standing.ts'

const say = vocabulary(WorkspaceTemplateApply.words)

export function decide(seen: Seen): Plan {
  const { apply } = seen
  switch (stageOf({ object: apply, finalizer: finalizer.ours })) {
    case 'handsOff':
    case 'ownerless':
      return idle
    case 'paused':
      return paused(seen)
    case 'leaving':
      return isOurs(seen) ? leaving(seen) : idle
    case 'new':
      return begun(live(seen), [{ do: 'addFinalizer', finalizer: finalizer.ours }])
    case 'live':
      return begun(live(seen), [{ do: 'removeFinalizer', finalizer: finalizer.old, onceGone: [] }])
  }
}

// What has none of our finalizers is left to those whose it has.
function isOurs({ apply: { metadata } }: Seen): boolean {
  return Object.values(finalizer).some((each) => metadata.finalizers?.includes(each))
}

function begun(plan: Plan, first: readonly Effect[]): Plan {
  return { ...plan, effects: [...first, ...plan.effects] }
}

// The Workspace pauses with it, under a field manager of its own, and nothing else is written.
function paused({ apply, where }: Seen): Plan {
  const isLeaving = apply.metadata.deletionTimestamp !== undefined
  const said = isLeaving ? [say('Deleting', 'Deleting', 'waits while it is paused')] : []
  return {
    effects: where.is === 'known' ? pause(apply, where) : [],
    conditions: [say('Paused', 'Paused'), ...said],
    others: 'stay',
    wake: 'onChange',
  }
}

function pause(apply: WorkspaceTemplateApply, where: Extract<Seen['where'], { is: 'known' }>): readonly Effect[] {
  const standing = standingOf(apply, where)
  if (standing.is !== 'ours') return []
  const { apiVersion, kind, metadata } = standing.workspace
  const notes = metadata.annotations ?? {}
  const isTheirs = notes[crossplane.paused] === 'true' && notes[annotations.paused] === undefined
  if (isTheirs) return []
  const object = {
    apiVersion,
    kind,
    metadata: {
      ...workspaceKey(where.api, apply, where.name),
      annotations: { [crossplane.paused]: 'true', [annotations.paused]: 'true' },
    },
  }
  return [{ do: 'apply', resource: where.api.workspace, object, fieldManager: 'capt-pause' }]
}
