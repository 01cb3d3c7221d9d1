// What to make of a state that came with its apply, beside the one that is where it belongs and the one that was there when it was
// last seen: the newest of a lineage is gone on with, and between two lineages nobody decides but a user. Who may write the Secret can name
// a state of somebody else's there, but cannot know its lineage. Pure.
import type { Luggage } from './luggage.ts'
import type { StateHead } from './state.ts'

export interface Arriving {
  readonly luggage: Luggage | undefined // what its Secret says
  readonly packed: StateHead | undefined // what is in it, where that can be read and is of this very Workspace
  readonly found: StateHead | 'absent' | 'damaged' | undefined // where the state belongs; undefined: that is not in this cluster
  readonly home: string | undefined // of a state that is not
  readonly known: StateHead | undefined // as it was left here last
  readonly uid: string // of the Workspace
  readonly revision: string // that it is asked for
}

export type Arrival =
  | { readonly is: 'nothing' } // to be done
  | { readonly is: 'take' } // what came is put where it belongs
  | { readonly is: 'hold'; readonly isRivalled?: true } // the state is not here; rivalled: another is, beside the one that came

const nothing: Arrival = { is: 'nothing' }

export function judgeArrival(arriving: Arriving): Arrival {
  const { luggage, packed, found, known, uid } = arriving
  if (!luggage || found === 'damaged') return nothing
  const isOwn = luggage.by === uid
  if (found === undefined) return luggage.backend === 'kubernetes' && !isOwn ? { is: 'hold' } : nothing
  const last = lastOf(arriving)
  const isThere = typeof found === 'object' && !found.isEmpty
  if (!packed) {
    const isIt = isThere && (luggage.lineage === undefined || luggage.lineage === found.lineage)
    return isIt || (known && !known.isEmpty) ? nothing : { is: 'hold' }
  }
  const same = last.filter(({ lineage }) => lineage === packed.lineage)
  if (same.some(({ serial }) => serial >= packed.serial)) return nothing
  if (last.length === 0 || same.length > 0) return { is: 'take' }
  return { is: 'hold', ...(isThere && { isRivalled: true }) }
}

// What was here last: as it is, and as it was left. What is empty tells nothing, for a command begins one where it finds none.
function lastOf({ found, known }: Arriving): readonly StateHead[] {
  return [found, known].filter((each) => typeof each === 'object').filter(({ isEmpty }) => !isEmpty)
}

// Whether what was built may be more than this state knows: it is in another backend than it was, came from elsewhere and should lack
// nothing of what was applied there, or was brought from a file. Until a plan has shown that it does not, none is applied that creates
// something.
export function isUnproven({ luggage, home, known, uid, revision }: Arriving): boolean {
  if (!luggage) return false
  if (isElsewhere({ luggage, home })) return true
  if (luggage.by === uid) return false
  if (luggage.backend === 'other' && luggage.home === undefined) return true // whoever wrote it did not know
  if (luggage.revision !== revision && !isFromFile(luggage)) return false
  return luggage.backend === 'other' || !known || known.lineage !== luggage.lineage || known.serial !== luggage.serial
}

// By `capt state restore`: of no Workspace, so that nobody knows how old it is, or what was asked for when it was the last.
function isFromFile({ by, lineage }: Luggage): boolean {
  return by === undefined && lineage !== undefined
}

// In another backend than it was.
export function isElsewhere({ luggage, home }: Pick<Arriving, 'luggage' | 'home'>): boolean {
  if (!luggage) return false
  if (luggage.backend === 'kubernetes') return home !== undefined
  return luggage.home === undefined ? home === undefined : luggage.home !== home
}
