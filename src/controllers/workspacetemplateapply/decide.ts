// What a WorkspaceTemplateApply needs next, given what we see: the order of its stages. No I/O, no clock, no memory.
import { vocabulary } from '../../api/condition.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { type Effect, idle, type Plan, stageOf } from '../../runtime/plan.ts'
import { pausedByItself } from '../pause.ts'
import { finalizer } from './finalizer.ts'
import { leaving } from './leaving.ts'
import { live } from './live.ts'
import { letMove, luggageFor } from './moving.ts'
import { answerFor, blockedBy } from './resting.ts'
import type { Seen } from './seen.ts'
import { standingOf } from './standing.ts'
import { still } from './stillness.ts'

const say = vocabulary(WorkspaceTemplateApply.words)

export function decide(seen: Seen): Plan {
  const { apply, pause } = seen
  switch (stageOf({ object: apply, isPaused: pause.by.length > 0, finalizer: finalizer.ours })) {
    case 'handsOff':
    case 'ownerless':
      return idle
    case 'paused':
      return paused(seen)
    case 'leaving':
      return isOurs(seen) ? leaving(seen) : idle
    case 'new':
      return begun(seen, { do: 'addFinalizer', finalizer: finalizer.ours })
    case 'live':
      return begun(seen, { do: 'removeFinalizer', finalizer: finalizer.old, onceGone: [] })
  }
}

// What has none of our finalizers is left to those whose it has.
function isOurs({ apply: { metadata } }: Seen): boolean {
  return Object.values(finalizer).some((each) => metadata.finalizers?.includes(each))
}

function begun(seen: Seen, first: Effect): Plan {
  if (seen.pause.awaits !== undefined) return awaiting(seen.pause.awaits, first)
  const plan = live(seen)
  return { ...plan, effects: [...luggageFor(seen), first, ...plan.effects] }
}

// Nothing is touched: its Workspace may be paused, or may come back so.
function awaiting(whom: string, first: Effect): Plan {
  const conditions = [say('Ready', 'WaitingForCluster', whom), say('Applied', 'WaitingForCluster', whom)]
  return { effects: [first], conditions, others: 'stay', wake: 'onChange' }
}

// The Workspace pauses with it, under a field manager of its own, and is made ready to be moved. Nothing else is written.
function paused(seen: Seen): Plan {
  const { apply, pause, where } = seen
  const isLeaving = apply.metadata.deletionTimestamp !== undefined
  const blocked = blockedBy(seen)
  const why = [...pause.by, ...pausedByItself(apply)].join('; ')
  const said = isLeaving ? [say('Deleting', 'Deleting', `waits while it is paused: ${why}`)] : []
  return {
    effects: where.is === 'known' ? stillness(seen, where) : [],
    conditions: [say('Paused', 'Paused', blocked.why === undefined ? why : `${why}; ${blocked.why}`), ...said],
    others: 'stay',
    wake: blocked.wake,
  }
}

function stillness(seen: Seen, where: Extract<Seen['where'], { is: 'known' }>): readonly Effect[] {
  const standing = standingOf(seen, where)
  if (standing.is === 'absent') return where.isServed ? letMove(seen, where, undefined) : []
  if (standing.is !== 'ours') return []
  const { workspace } = standing
  const pause = still(seen, where, workspace)
  if (workspace.metadata.deletionTimestamp !== undefined) return [pause]
  return [pause, ...answerFor(seen, where, workspace), ...letMove(seen, where, workspace)]
}
