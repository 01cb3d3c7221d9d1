// What a control plane needs that is there to stay: EKS as its spec says, kubeconfigs, and what Cluster API reads. Pure.
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { type Said, vocabulary } from '../../api/condition.ts'
import type { Cluster } from '../../api/neighbours.ts'
import { isRecord, type JsonRecord, mergePatch } from '../../api/record.ts'
import { tellObject } from '../../api/resource.ts'
import type { Effect, Plan } from '../../runtime/plan.ts'
import { noFailure, oldStatusOf, type Run, runOf } from '../childapply.ts'
import { news } from '../news.ts'
import { tellClaimed, tellNamesake } from './claim.ts'
import { askForEks, eksNameOf } from './eks.ts'
import { type Access, accessOf, soonest } from './kubeconfigs.ts'
import type { Seen } from './seen.ts'
import { type SpotRole, spotRoleOf } from './spotrole.ts'
import { reported, type Walk, walkOf } from './version.ts'

const say = vocabulary(CAPTControlPlane.words)

export function live(seen: Seen, cluster: Cluster): Plan {
  const { controlPlane } = seen
  const walk = walkOf(controlPlane, seen.eks)
  const spotRole = spotRoleOf(controlPlane, seen.spotRole)
  const built = buildOf(seen, cluster, walk, spotRole)
  const access = accessOf(seen, cluster, built.run)
  const available = tellAvailable(built, access)
  const rolling = rollingOf(walk, built.said)
  const all = [built.said, access.secrets, access.endpoint, spotRole.said, available]
  const lacking = all.find(({ status }) => status !== 'True')
  const ready = lacking
    ? say('Ready', 'NotReady', `${lacking.type}: ${lacking.message || lacking.reason}`)
    : say('Ready', 'Ready')
  const afterSeconds = soonest([built.lateAfterSeconds, access.againAfterSeconds])
  return {
    effects: [
      ...spotRole.effects,
      ...built.effects,
      ...access.effects,
      ...news(all, controlPlane.status?.conditions, isWorthTelling),
    ],
    conditions: [ready, ...all, rolling, say('Paused', 'NotPaused'), say('Deleting', 'NotDeleting')],
    status: statusOf(seen, walk, built, access),
    wake: afterSeconds === undefined ? 'onChange' : { afterSeconds },
  }
}

// Cluster API shows no other condition of ours. So it is told there, too, what stands in the way of a cluster that is not there yet, and
// what went wrong with one that serves.
function tellAvailable({ said, run }: Built, { available, isServing }: Access): Said {
  const { reason, message } = said
  if (run === undefined && available.reason === 'NotCreated')
    return say('Available', reason === 'WaitingForClusterInfrastructureReady' ? reason : 'NotCreated', message)
  const isWell = said.status === 'True' || reason === 'Applying'
  return isServing && !isWell ? { ...available, message: `it serves, but ${message}` } : available
}

// What goes by itself is no news.
const passing = new Set([
  'Applying',
  'Creating',
  'Ignored',
  'NotCreated',
  'Unknown',
  'Known',
  'ConnectionIncomplete',
  'WaitingForSecret',
  'WaitingForClusterInfrastructureReady',
  'WaitingForSpotRole',
])

function isWorthTelling({ type, reason }: Said): boolean {
  return !passing.has(reason) && !(type === 'SecretsReady' && reason === 'ValidatingSecret')
}

interface Built {
  readonly effects: readonly Effect[]
  readonly said: Said
  readonly run: Run | undefined
  readonly lateAfterSeconds?: number | undefined
}

// What stands in the way of asking Terraform comes first.
function buildOf(seen: Seen, cluster: Cluster, walk: Walk, spotRole: SpotRole): Built {
  const { controlPlane, network, eks, taken, claimedBy, namesake, now } = seen
  const stopped = (said: Said, lateAfterSeconds?: number): Built => ({
    effects: [],
    said,
    run: eks && runOf(eks),
    lateAfterSeconds,
  })
  if (!eks && cluster.status?.initialization?.infrastructureProvisioned !== true) {
    const { isLate, inSeconds } = lateness(sinceOf(controlPlane), vpcMinutes(controlPlane), now)
    const why = network ? tellNetwork(network) : 'it says that its infrastructure is not provisioned'
    const message = `waits for the network of Cluster ${cluster.metadata.name}: ${why}`
    return isLate
      ? stopped(say('EKSApplied', 'VPCReadyTimeout', `for more than ${vpcMinutes(controlPlane)} minutes ${message}`))
      : stopped(say('EKSApplied', 'WaitingForClusterInfrastructureReady', message), inSeconds)
  }
  const { region } = controlPlane.spec.controlPlaneConfig ?? {}
  if (network && region !== undefined && region !== network.spec.region) {
    const message = `spec.controlPlaneConfig.region is ${region}, but ${tellObject(network)} is in ${network.spec.region}: remove the one here, or make a cluster in the other region`
    return stopped(say('EKSApplied', 'RegionMismatch', message))
  }
  if (
    network?.spec.existingVpcId !== undefined &&
    !network.spec.existingSubnets?.private &&
    !network.spec.existingSubnets?.public
  ) {
    const message = `${tellObject(network)} names an existing VPC without subnets: add spec.existingSubnets.private there`
    return stopped(say('EKSApplied', 'SubnetsMissing', message))
  }
  if (claimedBy) return stopped(say('EKSApplied', 'NameClaimed', tellClaimed(controlPlane, claimedBy)))
  // Once it is built it cannot have another name.
  if (namesake && !eks) return stopped(say('EKSApplied', 'NameClaimed', tellNamesake(controlPlane, namesake)))
  if (taken) {
    const message = `${tellObject(taken)} is not of this control plane, and is left alone: delete it, or make a control plane of another name`
    return stopped(say('EKSApplied', 'NameTaken', message))
  }
  if (!eks && spotRole.said.status !== 'True')
    return stopped(say('EKSApplied', 'WaitingForSpotRole', spotRole.said.message))
  return asked(seen, cluster, walk)
}

function asked(seen: Seen, cluster: Cluster, walk: Walk): Built {
  const { controlPlane, eks, now } = seen
  const effects = [...claim(controlPlane), askForEks(seen, cluster, walk.next)]
  if (!eks)
    return {
      effects,
      said: say('EKSApplied', 'Applying', `Terraform is asked for ${eksNameOf(controlPlane)}`),
      run: undefined,
    }
  const run = runOf(eks)
  const minutes = controlPlane.spec.controlPlaneConfig?.timeouts?.controlPlaneTimeout ?? 30
  const { isLate, inSeconds } = lateness(run.sinceMs, minutes, now)
  const lateAfterSeconds = run.is === 'running' && !isLate ? inSeconds : undefined
  const isAsked = eks.spec.variables?.['kubernetes_version'] === walk.next
  return { effects, run, said: tellRun(walk, run, { isLate, minutes, isAsked }), lateAfterSeconds }
}

// The name in EKS is written down before it is used: it can never change.
function claim(controlPlane: CAPTControlPlane): readonly Effect[] {
  if (controlPlane.spec.eksClusterName !== undefined) return []
  const change = { spec: { eksClusterName: eksNameOf(controlPlane) } }
  return [{ do: 'patch', resource: CAPTControlPlane, object: controlPlane, change }]
}

function tellRun(
  { observed, goal, next, isDown }: Walk,
  { is, reason, why }: Run,
  { isLate, minutes, isAsked }: { readonly isLate: boolean; readonly minutes: number; readonly isAsked: boolean },
): Said {
  if (is === 'failed') return say('EKSApplied', reason === 'TerraformFailed' ? 'TerraformFailed' : 'NotApplied', why)
  if (is === 'held') return say('EKSApplied', 'ApprovalRequired', why)
  if (isDown) {
    const message = `EKS runs ${observed}, and ${goal} is older: set spec.version to ${observed} or newer, or annotate this object with capt.appthrust.io/allow-downgrade to have it tried`
    return say('EKSApplied', 'DowngradeNotAllowed', message)
  }
  if (is === 'running') {
    return isLate
      ? say('EKSApplied', 'ControlPlaneTimeout', `at work for more than ${minutes} minutes, and goes on: ${why}`)
      : say('EKSApplied', 'Applying', why)
  }
  if (observed === goal) return say('EKSApplied', 'Converged')
  const message = isAsked
    ? `Terraform is done with Kubernetes ${next}, but output cluster_version is ${observed} still: see whether the template uses variable kubernetes_version`
    : `Terraform is asked for Kubernetes ${next}`
  return say('EKSApplied', 'Applying', message)
}

// While it comes along it tells itself how far it is: told here too, each of its steps would be written here again.
function tellNetwork(network: NonNullable<Seen['network']>): string {
  const vpc = network.status?.conditions?.find(({ type }) => type === 'VPCReady')
  const isTrouble = vpc?.status === 'False' && vpc.reason !== 'VPCCreating'
  return isTrouble
    ? `${tellObject(network)}: ${vpc.message || vpc.reason}`
    : `it does not say yet that ${tellObject(network)} is provisioned`
}

function vpcMinutes({ spec }: CAPTControlPlane): number {
  return spec.controlPlaneConfig?.timeouts?.vpcReadyTimeout ?? 15
}

// Since when it waits.
function sinceOf({ metadata, status }: CAPTControlPlane): number {
  const told = status?.conditions?.find(({ type }) => type === 'EKSApplied')
  return Date.parse(told?.lastTransitionTime ?? metadata.creationTimestamp ?? '')
}

function lateness(sinceMs: number | undefined, minutes: number, now: Date) {
  const isKnown = sinceMs !== undefined && !Number.isNaN(sinceMs)
  const left = (isKnown ? sinceMs : now.getTime()) + minutes * 60_000 - now.getTime()
  return { isLate: left <= 0, inSeconds: Math.max(1, Math.ceil(left / 1000)) }
}

function rollingOf({ observed, goal, next, isDown }: Walk, applied: Said): Said {
  if (observed === undefined || observed === goal || isDown) return say('RollingOut', 'NotRollingOut')
  const step = next === goal ? '' : `, ${next} first`
  return say(
    'RollingOut',
    'RollingOut',
    `from Kubernetes ${observed} to ${goal}${step}${applied.message && `: ${applied.message}`}`,
  )
}

function statusOf({ controlPlane, eks }: Seen, { observed }: Walk, { run, said }: Built, access: Access): JsonRecord {
  const before = controlPlane.status ?? {}
  const version = eks?.status?.applied && observed !== undefined ? reported(controlPlane, observed) : undefined
  const isBegun = access.isServing || before.initialization?.controlPlaneInitialized === true
  const isFailed = run?.is === 'failed' || access.secrets.reason === 'Failed' || said.reason === 'NameClaimed'
  const ready = eks?.status?.conditions?.find(({ type }) => type === 'Ready')
  const outputs = isRecord(eks?.status?.outputs) ? eks.status.outputs : undefined
  return {
    ...noFailure(before),
    externalManagedControlPlane: true,
    ...(isBegun && { initialization: { controlPlaneInitialized: true } }),
    ...(version !== undefined && { version, versions: [{ version }] }),
    phase: access.isServing ? 'Ready' : isFailed ? 'Failed' : 'Creating',
    ready: access.isServing,
    initialized: isBegun,
    secretsReady: access.secrets.status === 'True',
    ...(eks && run && { workspaceTemplateStatus: oldStatusOf(eks, run, before.workspaceTemplateStatus) }),
    ...(ready && {
      workspaceStatus: {
        ready: ready.status === 'True',
        state: ready.reason,
        ...(outputs && { atProvider: { outputs: mergePatch(outputsIn(before), outputs) } }),
      },
    }),
  }
}

function outputsIn({ workspaceStatus }: NonNullable<CAPTControlPlane['status']>): JsonRecord {
  const outputs = workspaceStatus?.atProvider?.outputs
  return isRecord(outputs) ? outputs : {}
}
