// What the network of a cluster needs next, given what we see. No I/O, no clock, no memory.
import { CAPTCluster } from '../../api/captcluster.ts'
import type { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { type Said, vocabulary } from '../../api/condition.ts'
import { applyNamed } from '../../api/name.ts'
import type { Cluster } from '../../api/neighbours.ts'
import { isTexts, type JsonRecord } from '../../api/record.ts'
import { tellObject } from '../../api/resource.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { type Effect, idle, type Plan, stageOf } from '../../runtime/plan.ts'
import { ask, type Found, leave, letGo, noFailure, oldStatusOf, runOf } from '../childapply.ts'
import { news } from '../news.ts'
import { type Named, type OwnerCluster, tellGone } from '../ownercluster.ts'

export interface Seen extends Found {
  readonly captCluster: CAPTCluster
  readonly cluster: OwnerCluster
  readonly controlPlane: Named<CAPTControlPlane> // of the same Cluster; undefined: another provider looks after it
}

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
      const said = isLeaving ? [say('Deleting', 'Deleting', 'waits while it is paused')] : []
      return { effects: [], conditions: [say('Paused', 'Paused'), ...said], others: 'stay', wake: 'onChange' }
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
}

// Whether the network is there and how the last run went are two questions: a change that fails leaves a network that serves.
function live(seen: Seen): Plan {
  const { captCluster, cluster } = seen
  if (typeof cluster !== 'object') return waiting(tellGone(captCluster))
  const { effects, vpc, vpcId, status = {} } = networkOf(seen, cluster)
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
    wake: 'onChange',
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
  const { captCluster, apply, taken } = seen
  const { name: clusterName } = cluster.metadata
  if (taken) {
    const message = `${tellObject(taken)} is not of this network, and is left alone: delete it, or make a CAPTCluster of another name`
    return { effects: [], vpc: say('VPCReady', 'VPCCreationFailed', message), vpcId: undefined }
  }
  const { region, providerConfigRef, destructiveChanges, additionalTags, vpcConfig } = captCluster.spec
  const wish = ask(captCluster, {
    name: networkApplyName(captCluster),
    cluster: clusterName,
    owner: captCluster,
    spec: {
      templateRef,
      variables: {
        cluster_name:
          (typeof seen.controlPlane === 'object' ? seen.controlPlane.spec.eksClusterName : undefined) ?? clusterName,
        region,
        vpc_name: vpcConfig?.name ?? `${captCluster.metadata.name}-vpc`,
        tags: additionalTags ?? {},
        environment: 'production', // as the predecessor said to every template
      },
      retainOnDelete: isRetained(seen),
      ...(providerConfigRef && { providerConfigRef }),
      ...(destructiveChanges && { destructiveChanges }),
    },
  })
  if (apply) return { effects: [wish], ...told(seen, apply) }
  const message = `Terraform is asked for the VPC by template ${templateRef.name}`
  return { effects: [wish], vpc: say('VPCReady', 'VPCCreating', message), vpcId: undefined }
}

function told(seen: Seen, apply: WorkspaceTemplateApply): Omit<Network, 'effects'> {
  const { status = {} } = seen.captCluster
  const run = runOf(apply)
  const { vpc_id: found, azs } = (apply.status?.outputs ?? {}) as JsonRecord
  const vpcId = run.is === 'done' && typeof found === 'string' && found !== '' ? found : status.vpcId
  const lacksId = `${tellObject(apply)} is done, but its template has no output vpc_id: add one that is not sensitive`
  const vpc =
    run.is === 'failed' || run.is === 'held'
      ? say('VPCReady', 'VPCCreationFailed', run.why)
      : vpcId === undefined
        ? run.is === 'done'
          ? say('VPCReady', 'VPCCreationFailed', lacksId)
          : say('VPCReady', 'VPCCreating', run.why)
        : say('VPCReady', 'VPCCreated', run.why || tellRetained(seen))
  const zones = isTexts(azs) && run.is === 'done' ? zonesOf(azs) : undefined
  return {
    vpc,
    vpcId,
    status: {
      ...(zones && { failureDomains: zones }),
      ...(apply.status?.workspaceName !== undefined && { vpcWorkspaceName: apply.status.workspaceName }),
      workspaceTemplateStatus: oldStatusOf(apply, run, status.workspaceTemplateStatus),
    },
  }
}

// A list of subnets' zones names each more than once.
function zonesOf(azs: readonly string[]): readonly JsonRecord[] {
  return [...new Set(azs)].filter((name) => name !== '').map((name) => ({ name, controlPlane: true }))
}

function isAsked({ spec }: CAPTCluster): boolean {
  return spec.retainOnDelete || spec.retainVpcOnDelete === true
}

// A cluster that stays needs its network. Once its control plane is gone nobody says so any more, but for the apply.
function isRetained({ captCluster, controlPlane, apply }: Seen): boolean {
  if (isAsked(captCluster)) return true
  if (typeof controlPlane === 'object') return controlPlane.spec.retainOnDelete
  return controlPlane === 'missing' && apply?.spec.retainOnDelete === true
}

function tellRetained(seen: Seen): string {
  const isForIt = isRetained(seen) && !isAsked(seen.captCluster)
  return isForIt ? 'it stays when it is deleted: the control plane in it is retained' : ''
}

function leaving(seen: Seen): Plan {
  const { captCluster } = seen
  const { effects, why } = leave(captCluster, {
    ...seen,
    name: networkApplyName(captCluster),
    isRetained: isRetained(seen),
    finalizers: Object.values(finalizer),
  })
  return { effects, conditions: goes(why), wake: 'onChange' }
}

function goes(message: string): readonly Said[] {
  return [say('Ready', 'Deleting', message), say('Deleting', 'Deleting', message), say('Paused', 'NotPaused')]
}

// The one that the predecessor wrote down is found under its old name.
export function networkApplyName({ metadata, spec }: CAPTCluster): string {
  return spec.workspaceTemplateApplyName ?? applyNamed(`${metadata.name}-vpc`)
}
