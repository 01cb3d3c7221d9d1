// What keeps Terraform from being asked for EKS, or for a change of it. While there is such a thing the apply stays as it is. Pure.
import { CAPTControlPlane, isNameInEks } from '../../api/captcontrolplane.ts'
import { promise, type Said, vocabulary } from '../../api/condition.ts'
import type { Cluster } from '../../api/neighbours.ts'
import { tellObject } from '../../api/resource.ts'
import { askedOf, cameWithoutApply } from '../childapply.ts'
import { tellMissing } from '../ownercluster.ts'
import { tellClaimed, tellNamesake } from './claim.ts'
import { eksApplyName, eksNameOf } from './eks.ts'
import { latenessOf } from './lateness.ts'
import type { Seen } from './seen.ts'
import type { SpotRole } from './spotrole.ts'

const say = vocabulary(CAPTControlPlane.words)

export interface Obstacle {
  readonly said: Said
  readonly lateAfterSeconds?: number
}

// The first counts.
export function obstacleTo(seen: Seen, cluster: Cluster, spotRole: SpotRole): Obstacle | undefined {
  return (
    networkAhead(seen, cluster) ??
    told(applyLost(seen) ?? networkLost(seen, cluster) ?? nameLost(seen) ?? roleAhead(seen, spotRole))
  )
}

function told(said: Said | undefined): Obstacle | undefined {
  return said && { said }
}

function networkAhead({ controlPlane, network, eks, now }: Seen, cluster: Cluster): Obstacle | undefined {
  if (eks || cluster.status?.initialization?.infrastructureProvisioned === true) return undefined
  const minutes = controlPlane.spec.controlPlaneConfig?.timeouts?.vpcReadyTimeout ?? 15
  const { isLate, inSeconds } = latenessOf(sinceOf(controlPlane), minutes, now)
  const message = `waits for the network of Cluster ${cluster.metadata.name}: ${tellNetwork(network, cluster)}`
  return isLate
    ? { said: say('EKSApplied', 'VPCReadyTimeout', `for more than ${minutes} minutes ${message}`) }
    : { said: say('EKSApplied', 'WaitingForClusterInfrastructureReady', message), lateAfterSeconds: inSeconds }
}

// While it comes along it tells itself how far it is: told here too, each of its steps would be written here again.
function tellNetwork(network: Seen['network'], cluster: Cluster): string {
  if (network === 'missing') return tellMissing(cluster, 'infrastructureRef')
  if (!network) return 'it says that its infrastructure is not provisioned'
  const vpc = network.status?.conditions?.find(({ type }) => type === 'VPCReady')
  const isTrouble = vpc?.status === 'False' && vpc.reason !== 'VPCCreating'
  return isTrouble
    ? `${tellObject(network)}: ${vpc.message || vpc.reason}`
    : `it does not say yet that ${tellObject(network)} is provisioned`
}

// Since when it waits.
function sinceOf({ metadata, status }: CAPTControlPlane): number {
  const applied = status?.conditions?.find(({ type }) => type === 'EKSApplied')
  return Date.parse(applied?.lastTransitionTime ?? metadata.creationTimestamp ?? '')
}

function applyLost({ controlPlane, eks, taken }: Seen): Said | undefined {
  if (eks || taken) return undefined
  const lost = cameWithoutApply(CAPTControlPlane, controlPlane, eksApplyName(controlPlane))
  return lost === undefined ? undefined : say('EKSApplied', 'ApplyMissing', lost)
}

// Without its network a cluster would be asked for without its VPC, and in no region.
function networkLost({ controlPlane, network, eks }: Seen, cluster: Cluster): Said | undefined {
  if (network === 'missing') {
    const message = `${tellMissing(cluster, 'infrastructureRef')}: nothing is changed until it is back, as it was`
    return say('EKSApplied', 'NetworkMissing', message)
  }
  if (!network) return undefined
  const { region: own } = controlPlane.spec.controlPlaneConfig ?? {}
  const { region, existingVpcId, existingSubnets } = network.spec
  if (own !== undefined && own !== region) {
    const message = `spec.controlPlaneConfig.region is ${own}, but ${tellObject(network)} is in ${region}: remove the one here, or make a cluster in the other region`
    return say('EKSApplied', 'RegionMismatch', message)
  }
  const asked = askedOf(eks, 'region')
  if (asked !== undefined && asked !== region) {
    const message = `the cluster is in ${asked}, but ${tellObject(network)} is in ${region}: make that one again in ${asked}`
    return say('EKSApplied', 'RegionMismatch', message)
  }
  if (existingVpcId === undefined || existingSubnets?.private || existingSubnets?.public) return undefined
  const message = `${tellObject(network)} names an existing VPC without subnets: add spec.existingSubnets.private there`
  return say('EKSApplied', 'SubnetsMissing', message)
}

function nameLost({ controlPlane, eks, claimedBy, namesake, taken }: Seen): Said | undefined {
  const name = eksNameOf(controlPlane)
  if (!isNameInEks(name)) {
    const message = `the Cluster is called ${name}, and EKS allows only letters, digits, - and _ in a name: set spec.eksClusterName`
    return say('EKSApplied', 'NameInvalid', message)
  }
  if (claimedBy) return say('EKSApplied', 'NameClaimed', tellClaimed(controlPlane, claimedBy))
  // Once it is built it cannot have another name.
  if (namesake && !eks) return say('EKSApplied', 'NameClaimed', tellNamesake(controlPlane, namesake))
  if (!taken) return undefined
  const message = `${tellObject(taken)} is not of this control plane, and is left alone: delete it, or make a control plane of another name`
  return say('EKSApplied', 'NameTaken', message)
}

function roleAhead({ eks }: Seen, { said }: SpotRole): Said | undefined {
  if (eks || said.status === 'True') return undefined
  const waits = say('EKSApplied', 'WaitingForSpotRole', said.message)
  return said.isPromise ? promise(waits) : waits
}
