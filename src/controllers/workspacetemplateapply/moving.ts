// How an apply comes to another cluster with all it built: clusterctl moves it and what it owns, never its Workspace. So it owns a Secret
// from birth in which the engine keeps the state, and it lets itself be moved only when that is so. No I/O, no clock, no memory.
import { blockMoveAnnotation } from '../../api/contract.ts'
import { annotations } from '../../api/keys.ts'
import { Secret } from '../../api/neighbours.ts'
import { isWithin } from '../../api/record.ts'
import { beside } from '../../api/resource.ts'
import type { Workspace } from '../../api/workspace.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Effect } from '../../runtime/plan.ts'
import { stateSecretNameOf } from '../../terraform/identity.ts'
import { luggageOn } from '../../terraform/luggage.ts'
import { isOrphan } from '../../terraform/policies.ts'
import { marksOf } from './relations.ts'
import type { Seen, Where } from './seen.ts'
import { isPaused } from './stillness.ts'

// The Secret that the state travels in: the engine fills it. Of its bytes nothing is known here.
export function luggageFor({ apply, luggage, isLuggageBarred, isLuggageLost }: Seen): readonly Effect[] {
  const marks = marksOf(apply)
  if (isLuggageBarred || isLuggageLost || (luggage && isWithin(marks, luggage.metadata))) return []
  const { uid } = luggage?.metadata ?? {}
  const metadata = {
    ...beside(apply, stateSecretNameOf(apply.metadata)),
    ...(uid !== undefined && { uid }),
    ...marks,
  }
  return [{ do: 'apply', resource: Secret, object: { apiVersion: 'v1', kind: 'Secret', metadata } }]
}

// Once nothing more is done with what it built, and the state is where it can be moved. And not any more, when somebody has let it go on
// since; but who has taken the block away by hand means it.
export function letMove(
  { apply, luggage }: Pick<Seen, 'apply' | 'luggage'>,
  where: Where,
  workspace: Workspace | undefined,
): readonly Effect[] {
  const mayMove = workspace ? isReadied(where, workspace, luggage) : !isBuiltUnseen(apply, luggage)
  if (isBlocked(apply)) return mayMove ? block(apply, null) : []
  const wentOn = workspace?.metadata.annotations?.[annotations.moved] !== undefined && !isPaused(workspace)
  return wentOn ? block(apply, 'true') : []
}

// Its Workspace is away for now, and nothing tells of the state that it was on.
export function isBuiltUnseen({ status }: WorkspaceTemplateApply, luggage: Seen['luggage']): boolean {
  return status?.workspaceName !== undefined && (luggage === undefined || luggageOn(luggage.metadata) === undefined)
}

export function isBlocked({ metadata }: WorkspaceTemplateApply): boolean {
  return metadata.annotations?.[blockMoveAnnotation] !== undefined
}

function block(apply: WorkspaceTemplateApply, value: 'true' | null): readonly Effect[] {
  const change = { metadata: { annotations: { [blockMoveAnnotation]: value } } }
  return [{ do: 'patch', resource: WorkspaceTemplateApply, object: apply, change }]
}

// One that must not be moved, though nothing was asked of Terraform by it.
export function barMove(apply: WorkspaceTemplateApply): readonly Effect[] {
  return isBlocked(apply) ? [] : block(apply, 'true')
}

function isReadied(where: Where, workspace: Workspace, luggage: Seen['luggage']): boolean {
  const asked = workspace.metadata.annotations?.[annotations.moved]
  const isAnswered = luggage?.metadata.annotations?.[annotations.moved] === asked
  return asked !== undefined && isPaused(workspace) && isAnswered && isOrphan(where.api, workspace.spec)
}

export const blocked = { [blockMoveAnnotation]: 'true' } as const
