// How an apply goes on where it came to from another cluster: on the state that it had there, or not at all. No I/O, no clock, no memory.
import { annotations } from '../../api/keys.ts'
import { Secret } from '../../api/neighbours.ts'
import { beside, keyOf, tellRef } from '../../api/resource.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Effect } from '../../runtime/plan.ts'
import { stateSecretNameOf } from '../../terraform/identity.ts'
import { type Luggage, luggageOn } from '../../terraform/luggage.ts'
import { ownBackend, stateKey } from '../../terraform/statesecret.ts'
import { commandToForget, commandToRestore } from '../../terraform/word.ts'
import type { Seen, Where } from './seen.ts'

// It came from another cluster, and nobody here knows whether anything was built, or on which state.
export function cameWithoutState(
  { apply, isLuggageLost }: Pick<Seen, 'apply' | 'isLuggageLost'>,
  { externalName }: Pick<Where, 'externalName'>,
): string | undefined {
  if (!isLuggageLost) return undefined
  const state = commandToRestore(keyOf(apply), stateKey(ownBackend, externalName))
  const anew = commandToForget('workspacetemplateapply', apply.metadata, annotations.workspace)
  return `it was asked for elsewhere, and ${secretOf(apply)}, with which its state is moved, is not here: bring it, or restore its state (${state}), or, if nothing was built, begin anew with: ${anew}`
}

// What was built elsewhere, and was not taken over here yet.
export function builtElsewhere({ apply, luggage }: Pick<Seen, 'apply' | 'luggage'>): Luggage | undefined {
  return apply.status?.workspaceName === undefined && luggage ? luggageOn(luggage.metadata) : undefined
}

// Crossplane would begin with an empty state, and build everything a second time, where our engine looks and holds.
export function cameToAnotherState(seen: Seen, where: Where): string | undefined {
  const luggage = where.isCrossplane ? builtElsewhere(seen) : undefined
  const why = luggage && unlike(luggage, where, seen.home)
  if (why === undefined) return undefined
  const { name, namespace = '' } = beside(seen.apply, stateSecretNameOf(seen.apply.metadata))
  const word = commandToForget('secret', { name, namespace }, annotations.state)
  return `${why}; or, if its state is where Crossplane looks for it, say so: ${word}`

  function unlike({ backend, place, externalName }: Luggage, { api }: Where, home: Seen['home']): string | undefined {
    if (backend === 'kubernetes')
      return `its state came along in ${secretOf(seen.apply)}, which Crossplane cannot read: have capt-engine serve ${api.group}`
    if (externalName !== where.externalName)
      return `it was built on the state ${externalName}, and would be asked for on ${where.externalName}`
    if (home?.is !== 'elsewhere')
      return `its state is in ${place ?? 'a backend elsewhere'}, and here it ${home?.why ?? 'is not known'}`
    return place === undefined || place === home.place
      ? undefined
      : `its state is in ${place}, and the ProviderConfig here leads to ${home.place}: let it lead there`
  }
}

// Crossplane has taken it over, or goes on with it here: what the Secret says would be old news, and nobody else takes it off.
export function unpacked({ luggage }: Pick<Seen, 'luggage'>, { isCrossplane }: Where): readonly Effect[] {
  if (!isCrossplane || !luggage || !luggageOn(luggage.metadata)) return []
  const object = { apiVersion: 'v1', kind: Secret.kind, metadata: luggage.metadata }
  const change = {
    metadata: { annotations: { [annotations.state]: null, [annotations.moved]: null } },
    data: { backend: null, tfstate: null },
  }
  return [{ do: 'patch', resource: Secret, object, change }]
}

function secretOf(apply: WorkspaceTemplateApply): string {
  return tellRef(Secret, beside(apply, stateSecretNameOf(apply.metadata)))
}
