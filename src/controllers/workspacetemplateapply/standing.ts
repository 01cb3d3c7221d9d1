// Whose a Workspace is: ours, one that we may adopt, or somebody else's, which we never touch. Pure.
import { annotations, labels } from '../../api/keys.ts'
import { keyOf, tellKey } from '../../api/resource.ts'
import type { Workspace } from '../../api/workspace.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { applyLabelOf } from '../../terraform/identity.ts'
import type { Where } from './seen.ts'

export type Standing =
  | { readonly is: 'absent' }
  | { readonly is: 'ours' | 'frozen' | 'foreign'; readonly workspace: Workspace } // frozen: ours to adopt, and nobody has said that we may

export function standingOf(apply: WorkspaceTemplateApply, { workspace, isRecorded }: Where): Standing {
  if (!workspace) return { is: 'absent' }
  const { annotations: notes = {}, labels: marks = {} } = workspace.metadata
  const named = notes[annotations.apply]
  const isNamed = named === tellKey(keyOf(apply))
  const isLabelled = marks[labels.apply] === applyLabelOf(keyOf(apply))
  const isUnclaimed = named === undefined && marks[labels.apply] === undefined
  const isOurs = isNamed || (isLabelled && named === undefined) || (isUnclaimed && isRecorded)
  if (!isOurs) return { is: 'foreign', workspace }
  const isManaged = notes[annotations.revision] !== undefined
  const mayAdopt = apply.metadata.annotations?.[annotations.adopt] === 'approved'
  return { is: isManaged || mayAdopt ? 'ours' : 'frozen', workspace }
}
