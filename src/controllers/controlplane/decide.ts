// What a control plane needs next, given what we see: the order of its stages. No I/O, no clock, no memory.
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { type Said, vocabulary } from '../../api/condition.ts'
import { idle, type Plan, stageOf } from '../../runtime/plan.ts'
import { leave } from '../childapply.ts'
import { tellGone } from '../ownercluster.ts'
import { eksApplyName } from './eks.ts'
import { finalizer } from './finalizer.ts'
import { renewed } from './kubeconfigs.ts'
import { live } from './live.ts'
import type { Seen } from './seen.ts'

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

// But for the credentials: a pause that is longer than a token lives must not kill a kubeconfig.
function paused(seen: Seen): Plan {
  const isLeaving = seen.controlPlane.metadata.deletionTimestamp !== undefined
  const said = isLeaving ? [say('Deleting', 'Deleting', 'waits while it is paused')] : []
  const { effects, againAfterSeconds: afterSeconds } = renewed(seen)
  return {
    effects,
    conditions: [say('Paused', 'Paused'), ...said],
    others: 'stay',
    wake: afterSeconds === undefined ? 'onChange' : { afterSeconds },
  }
}

function leaving({ controlPlane, eks, taken }: Seen): Plan {
  const { effects, why } = leave(controlPlane, {
    name: eksApplyName(controlPlane),
    apply: eks,
    taken,
    isRetained: controlPlane.spec.retainOnDelete,
    finalizers: [finalizer],
  })
  return { effects, conditions: goes(why), wake: 'onChange' }
}

function goes(message: string): readonly Said[] {
  return [
    say('Available', 'Deleting', message),
    say('Ready', 'Deleting', message),
    say('Deleting', 'Deleting', message),
    say('Paused', 'NotPaused'),
  ]
}
