// Whose a Workspace is: ours, one that we may adopt, or somebody else's, which we never touch. Pure.
import { annotations, labels } from '../../api/keys.ts'
import { keyOf, tellKey } from '../../api/resource.ts'
import type { Workspace } from '../../api/workspace.ts'
import { applyLabelOf } from '../../terraform/identity.ts'
import { luggageOn } from '../../terraform/luggage.ts'
import type { Seen, Where } from './seen.ts'
import { beforeOf } from './stillness.ts'

export type Standing =
  | { readonly is: 'absent' }
  | { readonly is: 'ours' | 'frozen' | 'foreign'; readonly workspace: Workspace } // frozen: ours to adopt, and nobody has said that we may

export function standingOf(seen: Pick<Seen, 'apply' | 'luggage'>, { workspace, isRecorded }: Where): Standing {
  const { apply } = seen
  if (!workspace) return { is: 'absent' }
  const { annotations: notes = {}, labels: marks = {} } = workspace.metadata
  const named = notes[annotations.apply]
  const isNamed = named === tellKey(keyOf(apply))
  const isLabelled = marks[labels.apply] === applyLabelOf(keyOf(apply))
  const isUnclaimed = named === undefined && marks[labels.apply] === undefined
  const isOurs = isNamed || (isLabelled && named === undefined) || (isUnclaimed && isRecorded)
  if (!isOurs) return { is: 'foreign', workspace }
  const isManaged = notes[annotations.revision] !== undefined && !wasLeft(seen, workspace)
  const mayAdopt = apply.metadata.annotations?.[annotations.adopt] === 'approved'
  return { is: isManaged || mayAdopt ? 'ours' : 'frozen', workspace }
}

// A move has left it here when another apply of that name was moved away: what it built is looked after elsewhere. One that comes back brings
// along what is known of its state.
export function wasLeft({ apply, luggage }: Pick<Seen, 'apply' | 'luggage'>, workspace: Workspace): boolean {
  const before = beforeOf(workspace)
  const isBack = luggage !== undefined && luggageOn(luggage.metadata) !== undefined
  return before !== undefined && before.apply !== apply.metadata.uid && !isBack
}
