// What a control plane needs that is there to stay: EKS as its spec says, kubeconfigs, and what Cluster API reads. Pure.
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { promise, type Said, vocabulary } from '../../api/condition.ts'
import type { Cluster } from '../../api/neighbours.ts'
import { isRecord, type JsonRecord, mergePatch } from '../../api/record.ts'
import { type Effect, type Plan, wakeAfter } from '../../runtime/plan.ts'
import { settledAccount } from '../account.ts'
import { askedOf, noFailure, noteWorkspace, oldStatusOf, type Run, runOf } from '../childapply.ts'
import { news } from '../news.ts'
import { type Access, accessOf } from './access.ts'
import { tellApplied } from './applied.ts'
import { goOn, holdOf } from './cleanup.ts'
import { askForEks, eksNameOf, servicesOf } from './eks.ts'
import { latenessOf } from './lateness.ts'
import { obstacleTo } from './obstacle.ts'
import type { Seen } from './seen.ts'
import { type SpotRole, spotRoleOf } from './spotrole.ts'
import { templateStatus } from './template.ts'
import { soonest } from './upkeep.ts'
import { reported, type Walk, walkOf } from './version.ts'

const say = vocabulary(CAPTControlPlane.words)

export function live(seen: Seen, cluster: Cluster): Plan {
  const { controlPlane } = seen
  const walk = walkOf(controlPlane, seen.eks)
  const spotRole = spotRoleOf(seen)
  const built = buildOf(seen, cluster, walk, spotRole)
  const access = accessOf(seen, cluster, built.run)
  const available = tellAvailable(built, access)
  const rolling = rollingOf(walk, built.said)
  const all = [built.said, access.secrets, access.endpoint, spotRole.said, available]
  const lacking = all.find(({ status }) => status !== 'True')
  const ready = lacking
    ? say('Ready', 'NotReady', `${lacking.type}: ${lacking.message || lacking.reason}`)
    : say('Ready', 'Ready')
  return {
    // What fails stops the rest, and a token does not wait until somebody lets Terraform be asked.
    effects: [
      ...(seen.eks ? noteWorkspace(CAPTControlPlane, controlPlane, seen.eks) : []),
      ...access.effects,
      ...spotRole.effects,
      ...built.effects,
      ...goOn(seen),
      ...news(all, controlPlane.status?.conditions, isWorthTelling),
    ],
    conditions: [ready, ...all, rolling, say('Paused', 'NotPaused'), say('Deleting', 'NotDeleting')],
    status: statusOf(seen, walk, built, access),
    wake: wakeAfter(soonest([built.lateAfterSeconds, access.againAfterSeconds, holdOf(seen)?.againAfterSeconds])),
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
  const obstacle = obstacleTo(seen, cluster, spotRole)
  return obstacle ? { ...obstacle, effects: [], run: seen.eks && runOf(seen.eks) } : asked(seen, cluster, walk)
}

function asked(seen: Seen, cluster: Cluster, walk: Walk): Built {
  const { controlPlane, eks, now } = seen
  const isGoing = eks?.metadata.deletionTimestamp !== undefined // and hears no wishes any more
  const effects = [...claim(controlPlane), ...(isGoing ? [] : [askForEks(seen, cluster, walk.next)])]
  if (!eks)
    return {
      effects,
      said: promise(say('EKSApplied', 'Applying', `Terraform is asked for ${eksNameOf(controlPlane)}`)),
      run: undefined,
    }
  const run = withHold(runOf(eks), seen)
  const minutes = controlPlane.spec.controlPlaneConfig?.timeouts?.controlPlaneTimeout ?? 30
  const { isLate, inSeconds } = latenessOf(run.sinceMs, minutes, now)
  const said = tellApplied({
    walk,
    isStepAsked: askedOf(eks, 'kubernetes_version') === walk.next,
    run,
    lateAfter: isLate ? minutes : undefined,
    notFollowed: servicesOf(seen, cluster).notFollowed,
    refusal: settledAccount(controlPlane, eks, seen.accountOfTemplate).refusal,
  })
  return { effects, run, said, lateAfterSeconds: run.is === 'running' && !isLate ? inSeconds : undefined }
}

function withHold(run: Run, seen: Seen): Run {
  const hold = holdOf(seen)
  return hold ? { ...run, why: `${run.why}; it ${hold.said.message}` } : run
}

// The name in EKS is written down before it is used: it can never change.
function claim(controlPlane: CAPTControlPlane): readonly Effect[] {
  if (controlPlane.spec.eksClusterName !== undefined) return []
  const change = { spec: { eksClusterName: eksNameOf(controlPlane) } }
  return [{ do: 'patch', resource: CAPTControlPlane, object: controlPlane, change }]
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

function statusOf(
  { controlPlane, eks, template }: Seen,
  { observed }: Walk,
  { run, said }: Built,
  access: Access,
): JsonRecord {
  const before = controlPlane.status ?? {}
  const version = eks?.status?.applied && observed !== undefined ? reported(controlPlane, observed) : undefined
  const isBegun = access.isServing || before.initialization?.controlPlaneInitialized === true
  const isFailed = run?.is === 'failed' || access.secrets.reason === 'Failed' || said.reason === 'NameClaimed'
  const ready = eks?.status?.conditions?.find(({ type }) => type === 'Ready')
  const outputs = isRecord(eks?.status?.outputs) ? eks.status.outputs : undefined
  return {
    ...noFailure(before),
    ...templateStatus(before.template, template),
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
