// Whether a control plane can be used: by its kubeconfig, at its endpoint, and whether its API server answers. Pure.
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { type Said, vocabulary, wasSaid } from '../../api/condition.ts'
import type { Cluster } from '../../api/neighbours.ts'
import type { Effect } from '../../runtime/plan.ts'
import type { Run } from '../childapply.ts'
import { clusterNameOf } from './eks.ts'
import { endpointOf } from './endpoint.ts'
import { type Course, courseOf } from './kubeconfigs.ts'
import { secondsUntil } from './patience.ts'
import type { Answer, Secrets, Seen } from './seen.ts'
import { soonest, untilRenewal } from './upkeep.ts'

const say = vocabulary(CAPTControlPlane.words)

export interface Access {
  readonly effects: readonly Effect[]
  readonly secrets: Said
  readonly endpoint: Said
  readonly available: Said
  readonly isServing: boolean
  readonly againAfterSeconds: number | undefined // when nothing tells us to look again
}

// `run` is of the EKS cluster; undefined: Terraform was not asked for one yet.
export function accessOf(seen: Seen, cluster: Cluster, run: Run | undefined): Access {
  const { controlPlane } = seen
  const course = courseOf(seen, run)
  const endpoint = endpointOf(seen, cluster)
  const answer = bestOf(seen.secrets)
  const isUsable = course.isUsable && endpoint.said.status === 'True'
  const wasBegun = controlPlane.status?.initialization?.controlPlaneInitialized === true
  const isServing = isUsable && answer.is === 'yes'
  const available = isServing
    ? say('Available', 'Available')
    : answer.is === 'no'
      ? say('Available', 'NotAnswering', tellSilence(seen, answer.why))
      : run?.is !== 'done'
        ? say('Available', 'NotCreated', run?.why)
        : say(
            'Available',
            'ConnectionIncomplete',
            isUsable
              ? `the API server of ${clusterNameOf(controlPlane)} was not asked yet`
              : (course.isUsable ? endpoint.said : course.said).message,
          )
  return {
    effects: [...course.effects, ...(isServing || wasBegun ? endpoint.effects : []), ...counted(course, controlPlane)],
    secrets: course.said,
    endpoint: endpoint.said,
    available,
    isServing,
    againAfterSeconds: soonest([
      ...course.again.map((again) => secondsUntil(again, seen, 'SecretsReady')),
      answer.is === 'no' ? secondsUntil('patiently', seen, 'Available') : undefined,
      untilRenewal(seen, course.effects),
    ]),
  }
}

// To the best credential there is: a fresh one that is taken, else the one that is kept.
function bestOf({ credential, answer }: Secrets): Answer {
  if (credential.is !== 'fresh') return answer
  return credential.answer.is === 'yes' || answer.is === 'unasked' ? credential.answer : answer
}

// Once, not with every pass.
function counted({ faults, said }: Course, { status }: CAPTControlPlane): readonly Effect[] {
  if (wasSaid(said, status?.conditions)) return []
  return faults.map((reason) => ({ do: 'count', what: 'secretErrors', reason }))
}

function tellSilence({ cluster, controlPlane }: Seen, why: string): string {
  const name = typeof cluster === 'object' ? cluster.metadata.name : controlPlane.metadata.name
  return `the API server of ${name} does not answer: ${why}`
}
