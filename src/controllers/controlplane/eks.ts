// The EKS control plane as Terraform is asked for it: the apply, and the variables it gives to the template. Pure.
import type { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { managedByAnnotation } from '../../api/contract.ts'
import { applyNamed } from '../../api/name.ts'
import type { Cluster } from '../../api/neighbours.ts'
import type { JsonRecord } from '../../api/record.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Effect } from '../../runtime/plan.ts'
import { settledAccount } from '../account.ts'
import { networkApplyName } from '../captcluster/vpc.ts'
import { ask, askedOf } from '../childapply.ts'
import { ownerKeyOf } from '../ownercluster.ts'
import { isBegun } from './begun.ts'
import { cleanupPending } from './cleanup.ts'
import type { Seen } from './seen.ts'

// The one that the predecessor wrote down is found under its old name.
export function eksApplyName({ metadata, spec }: CAPTControlPlane): string {
  return spec.workspaceTemplateApplyName ?? applyNamed(`${metadata.name}-eks-controlplane`)
}

// Where the engine writes the outputs. An apply that is there already goes on with the one it has.
export function connectionName(controlPlane: CAPTControlPlane, eks: WorkspaceTemplateApply | undefined): string {
  return eks?.spec.writeConnectionSecretToRef?.name ?? `${clusterNameOf(controlPlane)}-eks-connection`
}

export function clusterNameOf(controlPlane: CAPTControlPlane): string {
  return ownerKeyOf(controlPlane)?.name ?? ''
}

// A topology gives control planes names that nobody would want in EKS.
export function eksNameOf(controlPlane: CAPTControlPlane): string {
  return controlPlane.spec.eksClusterName ?? clusterNameOf(controlPlane)
}

export const regionAnnotation = 'cluster.x-k8s.io/region' // of the predecessor, on a Cluster

type Placed = Pick<Seen, 'controlPlane' | 'network' | 'cluster'> & Partial<Pick<Seen, 'eks'>>

// A network that is not there for now tells nothing: the cluster is where it was asked for.
export function regionOf({ controlPlane, network, cluster, eks }: Placed): string | undefined {
  const noted = typeof cluster === 'object' ? cluster.metadata.annotations?.[regionAnnotation] : undefined
  const ofNetwork = network === 'missing' ? askedOf(eks, 'region') : network?.spec.region
  return controlPlane.spec.controlPlaneConfig?.region ?? ofNetwork ?? noted
}

export function askForEks(seen: Seen, cluster: Cluster, version: string): Effect {
  const { controlPlane, eks } = seen
  const { workspaceTemplateRef, retainOnDelete, destructiveChanges } = controlPlane.spec
  const { ref: providerConfigRef } = settledAccount(controlPlane, eks, seen.accountOfTemplate)
  const { variables, variablesFrom } = networkVariables(seen)
  return ask(controlPlane, {
    name: eksApplyName(controlPlane),
    cluster: cluster.metadata.name,
    owner: controlPlane,
    notes: cleanupPending,
    spec: {
      templateRef: workspaceTemplateRef,
      variables: { ...ownVariables(seen, cluster, version), ...variables },
      ...(variablesFrom && { variablesFrom }),
      writeConnectionSecretToRef: { name: connectionName(controlPlane, eks) },
      retainOnDelete,
      ...(providerConfigRef && { providerConfigRef }),
      ...(destructiveChanges && { destructiveChanges }),
    },
  })
}

function ownVariables(seen: Seen, cluster: Cluster, version: string): JsonRecord {
  const { controlPlane } = seen
  const { endpointAccess, addons, upgradePolicy } = controlPlane.spec.controlPlaneConfig ?? {}
  return given({
    cluster_name: eksNameOf(controlPlane),
    kubernetes_version: version,
    region: regionOf(seen),
    tags: controlPlane.spec.additionalTags ?? {},
    endpoint_public_access: endpointAccess?.public,
    endpoint_private_access: endpointAccess?.private,
    endpoint_public_access_cidrs: endpointAccess?.publicCIDRs,
    addons: addons && Object.fromEntries(addons.map((each) => [each.name, addonOf(each)])),
    upgrade_policy: upgradePolicy?.toUpperCase(),
    service_ipv4_cidr: servicesOf(seen, cluster).range,
    pod_cidr_blocks: cluster.spec?.clusterNetwork?.pods?.cidrBlocks,
    environment: 'production', // as the predecessor said to every template
  })
}

interface Services {
  readonly range: string | undefined // undefined: the template decides, or EKS
  readonly notFollowed: string // why it is not the one that is wanted
}

// A cluster keeps its range for ever: another one would replace it. Cluster API lets the Cluster's be changed.
export function servicesOf({ controlPlane, eks }: Pick<Seen, 'controlPlane' | 'eks'>, cluster: Cluster): Services {
  const own = controlPlane.spec.controlPlaneConfig?.serviceIPv4CIDR
  const wanted = own ?? cluster.spec?.clusterNetwork?.services?.cidrBlocks?.find((each) => !each.includes(':'))
  if (!isBegun(eks)) return { range: wanted, notFollowed: '' }
  const range = askedOf(eks, 'service_ipv4_cidr')
  if (wanted === undefined || wanted === range) return { range, notFollowed: '' }
  const where = own === undefined ? "the Cluster's spec.clusterNetwork.services" : 'serviceIPv4CIDR'
  const notFollowed = `Services stay in ${range ?? 'the range they were given'}: EKS cannot change it to ${wanted}, which ${where} asks for`
  return { range, notFollowed }
}

// By names that the EKS module of terraform-aws-modules has for them.
function addonOf({
  version,
  configurationValues,
}: {
  version?: string | undefined
  configurationValues?: string | undefined
}) {
  return given({ addon_version: version, configuration_values: configurationValues })
}

// What was not said the template decides.
function given(variables: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined))
}

const outputsOfNetwork = ['vpc_id', 'private_subnets', 'public_subnets', 'azs'] as const

// From outputs, so that a changed network is planned again and the network stays until the cluster is gone. Of one that somebody else
// manages there is no apply: what its CAPTCluster says is all there is.
function networkVariables({
  network,
}: Seen): Pick<Partial<WorkspaceTemplateApply['spec']>, 'variables' | 'variablesFrom'> {
  if (typeof network !== 'object') return {}
  const { existingVpcId, existingSubnets } = network.spec
  const isManagedElsewhere = network.metadata.annotations?.[managedByAnnotation] !== undefined
  if (existingVpcId !== undefined || isManagedElsewhere) {
    const { vpcId, failureDomains } = network.status ?? {}
    const { private: inner, public: outer } = existingSubnets ?? {}
    const azs = isManagedElsewhere ? failureDomains?.map(({ name }) => name) : undefined
    return { variables: given({ vpc_id: existingVpcId ?? vpcId, private_subnets: inner, public_subnets: outer, azs }) }
  }
  const apply = networkApplyName(network)
  return {
    variablesFrom: outputsOfNetwork.map((name) => ({
      name,
      apply: { name: apply, output: name },
      optional: name !== 'vpc_id',
    })),
  }
}
