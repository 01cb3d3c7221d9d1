// The VPC as Terraform is asked for it: the apply, the variables it gives to the template, and whether it is to stay. Pure.
import type { CAPTCluster } from '../../api/captcluster.ts'
import { applyNamed } from '../../api/name.ts'
import type { Cluster } from '../../api/neighbours.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Effect } from '../../runtime/plan.ts'
import { settledAccount } from '../account.ts'
import { ask, askedOf, isForced } from '../childapply.ts'
import type { Seen } from './seen.ts'

// The one that the predecessor wrote down is found under its old name.
export function networkApplyName({ metadata, spec }: CAPTCluster): string {
  return spec.workspaceTemplateApplyName ?? applyNamed(`${metadata.name}-vpc`)
}

export function askForVpc(seen: Seen, cluster: Cluster, templateRef: { readonly name: string }): Effect {
  const { captCluster } = seen
  const { ref: providerConfigRef } = settledAccount(captCluster, seen.apply, seen.accountOfTemplate)
  const { region, destructiveChanges, additionalTags, vpcConfig } = captCluster.spec
  return ask(captCluster, {
    name: networkApplyName(captCluster),
    cluster: cluster.metadata.name,
    owner: captCluster,
    spec: {
      templateRef,
      variables: {
        cluster_name: nameInEks(seen, cluster),
        region,
        vpc_name: vpcConfig?.name ?? `${cluster.metadata.name}-vpc`, // a topology's names for objects of ours are random
        tags: additionalTags ?? {},
        environment: 'production', // as the predecessor said to every template
      },
      ...connectionOf(seen, cluster),
      retainOnDelete: isRetained(seen),
      ...(providerConfigRef && { providerConfigRef }),
      ...(destructiveChanges && { destructiveChanges }),
    },
  })
}

// Where the engine writes the outputs: called after the Cluster, too. An apply that is there already goes on with the one it has.
function connectionOf(
  { apply }: Seen,
  cluster: Cluster,
): Pick<WorkspaceTemplateApply['spec'], 'writeConnectionSecretToRef'> {
  const name = apply ? apply.spec.writeConnectionSecretToRef?.name : `${cluster.metadata.name}-vpc-connection`
  return name === undefined ? {} : { writeConnectionSecretToRef: { name } }
}

// While the control plane is not there, be it that it comes later or that it has gone before, the name is what it was.
function nameInEks({ controlPlane, apply }: Seen, cluster: Cluster): string {
  const { name } = cluster.metadata
  if (typeof controlPlane === 'object') return controlPlane.spec.eksClusterName ?? name
  return (controlPlane === 'missing' ? askedOf(apply, 'cluster_name') : undefined) ?? name
}

// A cluster that stays needs its network. Once its control plane is gone nobody says so any more, but for the apply.
export function isRetained({ captCluster, controlPlane, apply }: Seen): boolean {
  if (isAsked(captCluster)) return true
  if (typeof controlPlane === 'object') return controlPlane.spec.retainOnDelete || isForced(controlPlane)
  return controlPlane === 'missing' && apply?.spec.retainOnDelete === true
}

function isAsked({ spec }: CAPTCluster): boolean {
  return spec.retainOnDelete || spec.retainVpcOnDelete === true
}

export function tellRetained(seen: Seen): string {
  const isForIt = isRetained(seen) && !isAsked(seen.captCluster)
  return isForIt ? 'it stays when it is deleted: the control plane in it is retained or given up' : ''
}
