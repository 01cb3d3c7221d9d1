// How far Terraform is with EKS, and what it is not asked for, as condition EKSApplied says it. Pure.
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { promise, type Said, vocabulary } from '../../api/condition.ts'
import { annotations } from '../../api/keys.ts'
import type { Run } from '../childapply.ts'
import type { Walk } from './version.ts'

const say = vocabulary(CAPTControlPlane.words)

export interface Asked {
  readonly walk: Walk
  readonly isStepAsked: boolean // the next version is what the apply says already
  readonly run: Run
  readonly lateAfter: number | undefined // minutes; undefined: it is in time
  readonly notFollowed: string // a range of Services that EKS cannot change to
  readonly refusal: string | undefined // of another account
}

export function tellApplied({ walk, isStepAsked, run, lateAfter, notFollowed, refusal }: Asked): Said {
  const { observed, goal, next, isDown } = walk
  const why = `${run.why}${detour(walk)}`
  if (run.is === 'failed')
    return say('EKSApplied', run.reason === 'TerraformFailed' ? 'TerraformFailed' : 'NotApplied', why)
  if (run.is === 'held') return say('EKSApplied', 'ApprovalRequired', why)
  if (refusal !== undefined) return say('EKSApplied', 'ProviderConfigChanged', refusal)
  if (isDown) {
    const known = observed === undefined ? `EKS was asked for ${next}` : `EKS runs ${observed}`
    const message = `${known}, and ${goal} is older: set spec.version to ${next} or newer, or annotate this object with ${annotations.allowDowngrade} to have it tried`
    return say('EKSApplied', 'DowngradeNotAllowed', message)
  }
  if (run.is === 'running') {
    if (lateAfter === undefined) return say('EKSApplied', 'Applying', why)
    const what = run.isAtWork ? 'at work' : 'not done'
    return say('EKSApplied', 'ControlPlaneTimeout', `${what} for more than ${lateAfter} minutes, and goes on: ${why}`)
  }
  if (observed === goal) return say('EKSApplied', 'Converged', notFollowed)
  if (!isStepAsked) return promise(say('EKSApplied', 'Applying', `Terraform is asked for Kubernetes ${next}`))
  const message = `Terraform is done with Kubernetes ${next}, but output cluster_version is ${observed} still: see whether the template uses variable kubernetes_version`
  return say('EKSApplied', 'Applying', message)
}

// While it is not known what runs.
function detour({ observed, goal, next }: Walk): string {
  if (observed !== undefined || next === goal) return ''
  return `. EKS may run Kubernetes ${next} already: ${goal} is asked for once that has converged, or when this object is annotated with ${annotations.allowDowngrade}`
}
