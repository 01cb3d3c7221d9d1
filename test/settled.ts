// Whether a cluster has come to what was asked for: Available, of that version, and Terraform has made all of it with those tags. Pure.
import type { CAPTCluster } from '../src/api/captcluster.ts'
import type { CAPTControlPlane } from '../src/api/captcontrolplane.ts'
import type { Cluster } from '../src/api/neighbours.ts'
import { isWithin } from '../src/api/record.ts'
import type { KubeObject } from '../src/api/resource.ts'
import type { WorkspaceTemplateApply } from '../src/api/workspacetemplateapply.ts'

export interface Found {
  readonly cluster: Cluster | undefined
  readonly network: CAPTCluster | undefined
  readonly controlPlane: CAPTControlPlane | undefined
  readonly applies: readonly WorkspaceTemplateApply[]
}

export interface Goal {
  readonly version: string
  readonly tags: Readonly<Record<string, string>>
}

export function isSettled({ cluster, network, controlPlane, applies }: Found, { version, tags }: Goal): boolean {
  return (
    says(cluster, 'Available', 'True') &&
    says(network, 'Ready', 'True') &&
    says(controlPlane, 'Ready', 'True') &&
    says(controlPlane, 'RollingOut', 'False') &&
    controlPlane?.status?.version === version &&
    applies.length === 2 &&
    applies.every((apply) => says(apply, 'Ready', 'True') && isWithin(tags, apply.spec.variables?.['tags']))
  )
}

// Of the object as it is now, where that is told.
function says(object: (KubeObject & { readonly status?: unknown }) | undefined, type: string, status: string): boolean {
  const { conditions = [] } = (object?.status ?? {}) as NonNullable<Cluster['status']>
  const { generation } = object?.metadata ?? {}
  return conditions.some(
    (each) => each.type === type && each.status === status && (each.observedGeneration ?? generation) === generation,
  )
}
