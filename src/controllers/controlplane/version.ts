// Kubernetes versions as EKS knows them, and how one is walked to: never more than one minor version at a time. Pure.
import type { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { annotations } from '../../api/keys.ts'
import { isRecord } from '../../api/record.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { askedOf } from '../childapply.ts'
import { isBegun } from './begun.ts'

// Of major.minor, of which EKS knows no more.
export function minorOf(version: string): string {
  return /^v?(\d+\.\d+)/.exec(version)?.[1] ?? version
}

function numberOf(version: string): number {
  return Number(minorOf(version).split('.')[1])
}

export interface Walk {
  readonly observed: string | undefined // what the cluster runs; undefined: it is not known that there is one
  readonly next: string // what Terraform is asked for
  readonly goal: string
  readonly isDown: boolean // the goal lies below: it is not gone to
}

// From what runs. Where that is not known, but a cluster may be there as it was asked for, that is asked for until it has converged: a
// leap, or a step down, may be one that EKS refuses, or one that replaces the cluster.
export function walkOf(controlPlane: CAPTControlPlane, eks: WorkspaceTemplateApply | undefined): Walk {
  const goal = minorOf(controlPlane.spec.version)
  const observed = observedIn(controlPlane, eks)
  const mayGoDown = controlPlane.metadata.annotations?.[annotations.allowDowngrade] !== undefined
  const begunAt = isBegun(eks) && !mayGoDown ? askedOf(eks, 'kubernetes_version') : undefined
  const start = observed ?? (begunAt && minorOf(begunAt))
  if (start === undefined) return { observed, next: goal, goal, isDown: false }
  const [from, to] = [numberOf(start), numberOf(goal)]
  if (to < from && !mayGoDown) return { observed, next: start, goal, isDown: true }
  const next = observed === undefined ? start : to > from ? `1.${from + 1}` : goal
  return { observed, next, goal, isDown: false }
}

// The module knows best. One that does not tell runs what it was last asked for and came to.
function observedIn({ status }: CAPTControlPlane, eks: WorkspaceTemplateApply | undefined): string | undefined {
  const outputs = eks?.status?.outputs
  const told = isRecord(outputs) ? outputs['cluster_version'] : undefined
  if (typeof told === 'string' && /^v?1\.\d+/.test(told)) return minorOf(told)
  const ready = eks?.status?.conditions?.find(({ type }) => type === 'Ready')
  const isDone = ready?.status === 'True' && (ready.observedGeneration ?? 0) >= (eks?.metadata.generation ?? 0)
  const asked = askedOf(eks, 'kubernetes_version')
  if (isDone && asked !== undefined) return minorOf(asked)
  return status?.version === undefined ? undefined : minorOf(status.version)
}

// As the contract wants it: EKS has no patch version, so where the minor one is what was asked for, it is all that was asked for.
export function reported({ spec }: CAPTControlPlane, observed: string): string {
  const version = minorOf(spec.version) === observed ? spec.version : observed
  return `v${version.replace(/^v/, '')}`
}
