// All that is known around a Cluster, as whoever looks has read it; and what more there is to read, given that. Pure.
import { CAPTCluster } from '../api/captcluster.ts'
import { CAPTControlPlane } from '../api/captcontrolplane.ts'
import { CAPTMachine } from '../api/captmachine.ts'
import { CAPTMachineDeployment } from '../api/captmachinedeployment.ts'
import { CAPTMachinePool } from '../api/captmachinepool.ts'
import { CAPTMachineSet } from '../api/captmachineset.ts'
import { clusterNameLabel } from '../api/contract.ts'
import { Cluster, MachineDeployment, MachinePool, Secret } from '../api/neighbours.ts'
import { groupOf, type KubeObject, type Resource } from '../api/resource.ts'
import { type WorkspaceGroup, workspaceAPIs } from '../api/workspace.ts'
import { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import { recordedOn } from '../terraform/identity.ts'
import { isIt, type Ref, refOf, statusOf } from './read.ts'

export interface Situation {
  readonly namespace: string
  readonly name: string // of the Cluster
  readonly objects: readonly KubeObject[] // of the namespace, and Workspaces; of Secrets their metadata only
  readonly unseen: readonly Unseen[]
}

// A kind that could not be read.
export interface Unseen {
  readonly kind: string
  readonly why: string
}

// What to read. Of a kind of others it is not known in which version it is served: that is to be asked.
export interface Wanted {
  readonly kind: Resource | Pick<Resource, 'group' | 'kind'>
  readonly namespace?: string
  readonly name?: string // none: all
  readonly labels?: string // a selector
}

export const workerKinds: readonly Resource[] = [
  MachineDeployment,
  MachinePool,
  CAPTMachineDeployment,
  CAPTMachinePool,
  CAPTMachineSet,
  CAPTMachine,
]

export function wantedIn(situation: Situation): readonly Wanted[] {
  const { namespace, name } = situation
  const labels = `${clusterNameLabel}=${name}`
  const cluster = clusterIn(situation)
  const refs = cluster ? [refOf(cluster, 'infrastructureRef'), refOf(cluster, 'controlPlaneRef')] : []
  return [
    { kind: Cluster, namespace, name },
    { kind: Secret, namespace, labels },
    { kind: WorkspaceTemplateApply, namespace },
    ...workerKinds.map((kind) => ({ kind, namespace })),
    ...refs.filter((ref) => ref !== undefined).map((ref) => ({ kind: kindOf(ref), namespace, name: ref.name })),
    ...appliesOf(situation).flatMap((apply) => {
      const ref = workspaceRefOf(apply)
      if (!ref) return []
      const { workspace: kind, isNamespaced } = workspaceAPIs[ref.group]
      return [{ kind, name: ref.name, ...(isNamespaced && { namespace }) }]
    }),
  ]
}

function kindOf(ref: Ref): Wanted['kind'] {
  return [CAPTCluster, CAPTControlPlane].find(({ group, kind }) => group === ref.group && kind === ref.kind) ?? ref
}

export function clusterIn({ objects, name }: Situation): KubeObject | undefined {
  return objects.find((each) => isIt(each, { group: Cluster.group, kind: Cluster.kind, name }))
}

export function appliesOf({ objects }: Situation): readonly KubeObject[] {
  return objects.filter(({ kind, apiVersion }) => {
    return kind === WorkspaceTemplateApply.kind && groupOf(apiVersion) === WorkspaceTemplateApply.group
  })
}

export function workspaceRefOf(apply: KubeObject): (Ref & { readonly group: WorkspaceGroup }) | undefined {
  const recorded = recordedOn({ metadata: apply.metadata, status: statusOf(apply) })
  return recorded && { kind: 'Workspace', ...recorded }
}
