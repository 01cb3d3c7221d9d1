// What the network of a cluster needs next, given what we see. No I/O, no clock, no memory.
import { CAPTCluster } from '../../api/captcluster.ts'
import { promise, type Said, vocabulary } from '../../api/condition.ts'
import type { Cluster } from '../../api/neighbours.ts'
import { isTexts, type JsonRecord } from '../../api/record.ts'
import { tellObject } from '../../api/resource.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { type Effect, idle, type Plan, stageOf, wakeAfter } from '../../runtime/plan.ts'
import { settledAccount } from '../account.ts'
import {
  cameWithoutApply,
  instruct,
  isForced,
  letGo,
  noFailure,
  noteWorkspace,
  oldStatusOf,
  runOf,
} from '../childapply.ts'
import { leave } from '../farewell.ts'
import { news } from '../news.ts'
import { tellGone, tellMissing } from '../ownercluster.ts'
import { tellPause } from '../pause.ts'
import type { Seen } from './seen.ts'
import { askForVpc, isRetained, networkApplyName, tellRetained } from './vpc.ts'

const say = vocabulary(CAPTCluster.words)
const finalizer = {
  ours: 'infrastructure.cluster.x-k8s.io/captcluster',
  old: 'infrastructure.cluster.x-k8s.io/finalizer',
}

export function decide(seen: Seen): Plan {
  const { captCluster, cluster } = seen
  const isLeaving = captCluster.metadata.deletionTimestamp !== undefined
  switch (stageOf({ object: captCluster, cluster, finalizer: finalizer.ours })) {
    case 'handsOff':
      return idle
    case 'ownerless':
      return waiting('waits until Cluster API makes a Cluster its owner: name it in spec.infrastructureRef of one')
    case 'paused': {
      const why = tellPause(captCluster, cluster)
      const said = isLeaving ? [say('Deleting', 'Deleting', `waits while it is paused: ${why}`)] : []
      return { effects: [], conditions: [say('Paused', 'Paused', why), ...said], others: 'stay', wake: 'onChange' }
    }
    case 'leaving':
      return leaving(seen)
    case 'new':
      return begun([{ do: 'addFinalizer', finalizer: finalizer.ours }], live(seen))
    case 'live':
      return begun([{ do: 'removeFinalizer', finalizer: finalizer.old, onceGone: [] }], live(seen))
  }
}

// Nothing else is said before it is known whose it is.
function waiting(why: string): Plan {
  return { effects: [], conditions: [say('Ready', 'WaitingForCluster', why)], others: 'stay', wake: 'onChange' }
}

function begun(first: readonly Effect[], plan: Plan): Plan {
  return plan.others === 'stay' ? plan : { ...plan, effects: [...first, ...plan.effects] }
}

interface Network {
  readonly effects: readonly Effect[]
  readonly vpc: Said
  readonly vpcId: string | undefined // of a VPC that is there, whatever the last run came to
  readonly status?: JsonRecord
  readonly againAfterSeconds?: number
}

// Whether the network is there and how the last run went are two questions: a change that fails leaves a network that serves.
function live(seen: Seen): Plan {
  const { captCluster, cluster } = seen
  if (typeof cluster !== 'object') return waiting(tellGone(captCluster))
  const { effects, vpc, vpcId, status = {}, againAfterSeconds } = networkOf(seen, cluster)
  const ready = vpcId === undefined ? 'NotProvisioned' : 'Provisioned'
  const before = captCluster.status?.conditions
  const wasThere = before?.some(({ type, status: is }) => type === 'VPCReady' && is === 'True')
  const isNews = ({ reason, status: is }: Said) => reason !== 'VPCCreating' && !(is === 'True' && wasThere)
  return {
    effects: [...effects, ...news([vpc], before, isNews)],
    conditions: [say('Ready', ready, vpc.message), vpc, say('Paused', 'NotPaused'), say('Deleting', 'NotDeleting')],
    status: {
      ...noFailure(captCluster.status),
      ready: vpcId !== undefined,
      ...(vpcId !== undefined && { vpcId, initialization: { provisioned: true } }),
      ...status,
    },
    wake: wakeAfter(againAfterSeconds),
  }
}

function networkOf(seen: Seen, cluster: Cluster): Network {
  const { vpcTemplateRef, existingVpcId } = seen.captCluster.spec
  if (vpcTemplateRef !== undefined && existingVpcId === undefined) return built(seen, cluster, vpcTemplateRef)
  if (existingVpcId !== undefined && vpcTemplateRef === undefined) return existing(seen, existingVpcId)
  const message =
    'set exactly one of spec.vpcTemplateRef (CAPT builds the VPC) and spec.existingVpcId (there is one already)'
  return { effects: [], vpc: say('VPCReady', 'InvalidVPCConfig', message), vpcId: seen.captCluster.status?.vpcId }
}

// What we built before it was called existing is not ours any more: it is let go, with its state.
function existing({ captCluster, apply }: Seen, vpcId: string): Network {
  const { private: inner, public: outer } = captCluster.spec.existingSubnets ?? {}
  const message =
    inner || outer ? '' : 'it names no subnets, and the control plane waits for them: set spec.existingSubnets'
  return {
    effects: apply ? letGo(apply, true) : [],
    vpc: say('VPCReady', 'ExistingVPCUsed', message),
    vpcId,
  }
}

function built(seen: Seen, cluster: Cluster, templateRef: { readonly name: string }): Network {
  const { apply, taken } = seen
  if (taken) {
    const message = `${tellObject(taken)} is not of this network, and is left alone: delete it, or make a CAPTCluster of another name`
    return { effects: [], vpc: say('VPCReady', 'VPCCreationFailed', message), vpcId: undefined }
  }
  if (apply) {
    const noted = noteWorkspace(CAPTCluster, seen.captCluster, apply)
    return { effects: [...noted, askForVpc(seen, cluster, templateRef)], ...told(seen, apply) }
  }
  const lost = cameWithoutApply(CAPTCluster, seen.captCluster, networkApplyName(seen.captCluster))
  if (lost !== undefined) return { effects: [], vpc: say('VPCReady', 'ApplyMissing', lost), vpcId: undefined }
  const waitsMs = controlPlaneMayComeMs(seen)
  if (waitsMs > 0) {
    const message = `waits a moment for what names the cluster in EKS: ${tellMissing(cluster, 'controlPlaneRef')}`
    const vpc = say('VPCReady', 'VPCCreating', message)
    return { effects: [], vpc, vpcId: undefined, againAfterSeconds: Math.ceil(waitsMs / 1000) }
  }
  const message = `Terraform is asked for the VPC by template ${templateRef.name}`
  const effects = [askForVpc(seen, cluster, templateRef)]
  return { effects, vpc: promise(say('VPCReady', 'VPCCreating', message)), vpcId: undefined }
}

const momentMs = 10_000

// Both are often applied together, the network first. Some make the control plane only when the network is there: it is not waited for long.
function controlPlaneMayComeMs({ captCluster, controlPlane, now }: Seen): number {
  const bornMs = Date.parse(captCluster.metadata.creationTimestamp ?? '')
  return controlPlane === 'missing' && bornMs > 0 ? bornMs + momentMs - now.getTime() : 0
}

// An apply that was made again builds another VPC: what is known of the first is over. That it has ever converged is lost in a move,
// but what is known here is lost there, too.
function told(seen: Seen, apply: WorkspaceTemplateApply): Omit<Network, 'effects'> {
  const { status = {} } = seen.captCluster
  const run = runOf(apply)
  const { vpc_id: found, azs } = (apply.status?.outputs ?? {}) as JsonRecord
  const known = apply.status?.applied ? status.vpcId : undefined
  const vpcId = run.is === 'done' && typeof found === 'string' && found !== '' ? found : known
  const { refusal } = settledAccount(seen.captCluster, apply, seen.accountOfTemplate)
  const lacksId = `${tellObject(apply)} is done, but its template has no output vpc_id: add one that is not sensitive`
  const vpc =
    run.is === 'failed' || run.is === 'held'
      ? say('VPCReady', 'VPCCreationFailed', run.why)
      : vpcId === undefined
        ? run.is === 'done'
          ? say('VPCReady', 'VPCCreationFailed', lacksId)
          : say('VPCReady', 'VPCCreating', run.why)
        : refusal === undefined
          ? say('VPCReady', 'VPCCreated', run.why || tellRetained(seen))
          : say('VPCReady', 'ProviderConfigChanged', refusal)
  const zones = isTexts(azs) && run.is === 'done' ? zonesOf(azs) : undefined
  return {
    vpc,
    vpcId,
    status: {
      ...(zones && { failureDomains: zones }),
      ...(vpcId === undefined && status.vpcId !== undefined && { vpcId: null }),
      ...(apply.status?.workspaceName !== undefined && { vpcWorkspaceName: apply.status.workspaceName }),
      workspaceTemplateStatus: oldStatusOf(apply, run, status.workspaceTemplateStatus),
    },
  }
}

// A list of subnets' zones names each more than once.
function zonesOf(azs: readonly string[]): readonly JsonRecord[] {
  return [...new Set(azs)].filter((name) => name !== '').map((name) => ({ name, controlPlane: true }))
}

function leaving(seen: Seen): Plan {
  const { captCluster, apply } = seen
  const lodger = lodgerOf(seen)
  // Once that is gone, nobody but the apply knows whether the network is to stay.
  if (lodger !== undefined && (apply || captCluster.spec.existingVpcId !== undefined))
    return { effects: apply ? instruct(apply, isRetained(seen)) : [], conditions: goes(lodger), wake: 'onChange' }
  const { effects, why, againAfterSeconds } = leave(captCluster, {
    ...seen,
    resource: CAPTCluster,
    name: networkApplyName(captCluster),
    isRetained: isRetained(seen),
    finalizers: Object.values(finalizer),
  })
  return { effects, conditions: goes(why), wake: wakeAfter(againAfterSeconds) }
}

// What lives in it goes first. The apply would wait for that, too; but once it is told to go it can never be told to stay.
function lodgerOf({ captCluster, controlPlane, apply }: Seen): string | undefined {
  if (typeof controlPlane !== 'object' || apply?.metadata.deletionTimestamp !== undefined || isForced(captCluster))
    return undefined
  const name = tellObject(controlPlane)
  return controlPlane.metadata.deletionTimestamp === undefined
    ? `waits for ${name}, which is in this network and stays: delete the Cluster, or that first`
    : `waits for ${name}, which is in this network and goes first`
}

function goes(message: string): readonly Said[] {
  return [say('Ready', 'Deleting', message), say('Deleting', 'Deleting', message), say('Paused', 'NotPaused')]
}
