// What a control plane needs next, given what we see: the order of its stages. No I/O, no clock, no memory.
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { type Said, vocabulary, wasSaid } from '../../api/condition.ts'
import { tellObject } from '../../api/resource.ts'
import { type Effect, idle, type Plan, stageOf, wakeAfter } from '../../runtime/plan.ts'
import { isForced } from '../childapply.ts'
import { leave } from '../farewell.ts'
import { tellGone } from '../ownercluster.ts'
import { tellPause } from '../pause.ts'
import { type Hold, holdOf, notesFor, tellSkipped } from './cleanup.ts'
import { eksApplyName } from './eks.ts'
import { finalizer } from './finalizer.ts'
import { live } from './live.ts'
import { renewalOf } from './renewal.ts'
import type { Seen } from './seen.ts'
import { soonest } from './upkeep.ts'

const say = vocabulary(CAPTControlPlane.words)

export function decide(seen: Seen): Plan {
  const { controlPlane, cluster } = seen
  switch (stageOf({ object: controlPlane, cluster, finalizer })) {
    case 'handsOff':
      return idle
    case 'ownerless':
      return waiting('waits until Cluster API makes a Cluster its owner: name it in spec.controlPlaneRef of one')
    case 'paused':
      return paused(seen)
    case 'leaving':
      return leaving(seen)
    case 'new':
    case 'live': {
      if (typeof cluster !== 'object') return waiting(tellGone(controlPlane))
      const plan = live(seen, cluster)
      return { ...plan, effects: [{ do: 'addFinalizer', finalizer }, ...plan.effects] }
    }
  }
}

// Nothing else is said before it is known whose it is.
function waiting(why: string): Plan {
  return { effects: [], conditions: [say('Ready', 'WaitingForCluster', why)], others: 'stay', wake: 'onChange' }
}

// But for the credentials: a pause that is longer than a token lives must not kill a kubeconfig. What becomes of them is told nowhere else
// while all other conditions stay.
function paused(seen: Seen): Plan {
  const { metadata, status } = seen.controlPlane
  const isLeaving = metadata.deletionTimestamp !== undefined
  const why = tellPause(seen.controlPlane, seen.cluster)
  const said = isLeaving ? [say('Deleting', 'Deleting', `waits while it is paused: ${why}`)] : []
  const { effects, trouble, againAfterSeconds } = renewalOf(seen, 'Paused')
  const due = trouble ? `; a token is due, and cannot be renewed: ${trouble.why}` : ''
  const still = say('Paused', 'Paused', `${why}${due}`)
  const isNews = trouble !== undefined && !wasSaid(still, status?.conditions)
  const told: readonly Effect[] = isNews
    ? [
        { do: 'count', what: 'secretErrors', reason: trouble.fault },
        { do: 'tell', type: 'Warning', reason: 'NotRenewed', note: still.message },
      ]
    : []
  return {
    effects: [...effects, ...told],
    conditions: [still, ...said],
    others: 'stay',
    wake: wakeAfter(againAfterSeconds),
  }
}

// As long as EKS is there, somebody may have to get in.
function leaving(seen: Seen): Plan {
  const { controlPlane, eks, taken, left } = seen
  const renewal = eks && renewalOf(seen, 'Deleting')
  const hold = holdOf(seen) ?? networkToStay(seen)
  // What cannot be renewed must not keep it from going.
  if (hold)
    return {
      effects: [...hold.effects, ...(renewal?.effects ?? [])],
      conditions: goes(hold.said),
      wake: wakeAfter(soonest([renewal?.againAfterSeconds, hold.againAfterSeconds])),
    }
  const { effects, why, againAfterSeconds } = leave(controlPlane, {
    resource: CAPTControlPlane,
    name: eksApplyName(controlPlane),
    apply: eks,
    taken,
    left,
    isRetained: controlPlane.spec.retainOnDelete,
    notes: notesFor(eks),
    finalizers: [finalizer],
  })
  return {
    effects: [...tellSkipped(seen), ...effects, ...(renewal?.effects ?? [])],
    conditions: goes(say('Deleting', 'Deleting', why)),
    wake: wakeAfter(soonest([renewal?.againAfterSeconds, againAfterSeconds])),
  }
}

// A cluster that stays needs its network. Once this is gone, nobody but the network's apply knows of it.
function networkToStay({ controlPlane, network, vpc }: Seen): Hold | undefined {
  const stays = controlPlane.spec.retainOnDelete || isForced(controlPlane)
  const isHeard = !vpc || vpc.spec.retainOnDelete || vpc.metadata.deletionTimestamp !== undefined
  if (!stays || typeof network !== 'object' || isForced(network) || isHeard) return undefined
  const why = `waits until ${tellObject(network)} has told ${tellObject(vpc)} that the network stays, too`
  return { said: say('Deleting', 'Deleting', why), effects: [], againAfterSeconds: lookAgainSeconds }
}

const lookAgainSeconds = 5 // the network's apply does not wake it

function goes(deleting: Said): readonly Said[] {
  const { message } = deleting
  return [
    say('Available', 'Deleting', message),
    say('Ready', 'Deleting', message),
    deleting,
    say('Paused', 'NotPaused'),
  ]
}
