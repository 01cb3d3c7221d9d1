// The CAPTControlPlaneTemplate that a topology made a control plane of, and what people get to see of it.
import { type CAPTControlPlane, CAPTControlPlaneTemplate } from '../../api/captcontrolplane.ts'
import { clonedFromAnnotation } from '../../api/contract.ts'
import type { Cluster } from '../../api/neighbours.ts'
import { type JsonRecord, mergePatch } from '../../api/record.ts'
import type { Read } from '../../runtime/cache.ts'
import { classNamespaceOf } from '../ownercluster.ts'

export interface MadeOf {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly templateVersion?: string | undefined
}

// Undefined: of none. Of one that is gone only the name is known.
export function madeOf(read: Read, { metadata }: CAPTControlPlane, cluster: Cluster): MadeOf | undefined {
  const name = metadata.annotations?.[clonedFromAnnotation]
  if (name === undefined) return undefined
  const template = read.get(CAPTControlPlaneTemplate, { name, namespace: classNamespaceOf(cluster) })
  const { description, templateVersion } = template?.spec ?? {}
  return { name, description, templateVersion }
}

export function templateStatus(before: MadeOf | undefined, now: MadeOf | undefined): JsonRecord {
  if (now) return { template: mergePatch({ ...before }, { ...now }) }
  return before ? { template: null } : {}
}
