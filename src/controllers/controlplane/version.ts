// Kubernetes versions as EKS knows them, and how one is walked to: never more than one minor version at a time. Pure.
import type { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { annotations } from '../../api/keys.ts'
import { isRecord } from '../../api/record.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'

// Of major.minor, of which EKS knows no more.
export function minorOf(version: string): string {
  return /^v?(\d+\.\d+)/.exec(version)?.[1] ?? version
}

function numberOf(version: string): number {
  return Number(minorOf(version).split('.')[1])
}

export interface Walk {
  readonly observed: string | undefined // what the cluster runs; undefined: there is none yet
  readonly next: string // what Terraform is asked for
  readonly goal: string
  readonly isDown: boolean // the goal lies below: it is not gone to
}

export function walkOf(controlPlane: CAPTControlPlane, eks: WorkspaceTemplateApply | undefined): Walk {
  const goal = minorOf(controlPlane.spec.version)
  const observed = observedIn(controlPlane, eks)
  if (observed === undefined) return { observed, next: goal, goal, isDown: false }
  const [from, to] = [numberOf(observed), numberOf(goal)]
  const mayGoDown = controlPlane.metadata.annotations?.[annotations.allowDowngrade] !== undefined
  if (to < from && !mayGoDown) return { observed, next: observed, goal, isDown: true }
  const next = to > from ? `1.${from + 1}` : goal
  return { observed, next, goal, isDown: false }
}

// The module knows best. One that does not tell runs what it was last asked for and came to.
function observedIn({ status }: CAPTControlPlane, eks: WorkspaceTemplateApply | undefined): string | undefined {
  const outputs = eks?.status?.outputs
  const told = isRecord(outputs) ? outputs['cluster_version'] : undefined
  if (typeof told === 'string' && /^v?1\.\d+/.test(told)) return minorOf(told)
  const ready = eks?.status?.conditions?.find(({ type }) => type === 'Ready')
  const isDone = ready?.status === 'True' && (ready.observedGeneration ?? 0) >= (eks?.metadata.generation ?? 0)
  const asked = eks?.spec.variables?.['kubernetes_version']
  if (isDone && typeof asked === 'string') return minorOf(asked)
  return status?.version === undefined ? undefined : minorOf(status.version)
}

// As the contract wants it: EKS has no patch version, so where the minor one is what was asked for, it is all that was asked for.
export function reported({ spec }: CAPTControlPlane, observed: string): string {
  const version = minorOf(spec.version) === observed ? spec.version : observed
  return `v${version.replace(/^v/, '')}`
}
