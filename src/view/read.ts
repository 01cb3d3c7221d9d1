// Reads of any object what most objects have. Kinds of others may leave anything out, or write it in another way: what cannot be
// read counts as not said. Pure.
import type { Condition } from '../api/condition.ts'
import { isRecord, type JsonRecord } from '../api/record.ts'
import { groupOf, type KubeObject, type OwnerReference } from '../api/resource.ts'

export type Told = Pick<Condition, 'type' | 'status' | 'reason' | 'message'> &
  Partial<Pick<Condition, 'lastTransitionTime' | 'observedGeneration'>>

// Cluster API looks at `status.v1beta2.conditions` first, and so do we.
export function conditionsOf(object: KubeObject): readonly Told[] {
  const status = statusOf(object)
  const newer = isRecord(status['v1beta2']) ? status['v1beta2']['conditions'] : undefined
  const all: unknown = newer ?? status['conditions']
  return Array.isArray(all) ? all.flatMap(readCondition) : []
}

export function conditionOf(object: KubeObject, type: string): Told | undefined {
  return conditionsOf(object).find((each) => each.type === type)
}

function readCondition(value: unknown): readonly Told[] {
  if (!isRecord(value)) return []
  const { type, status, reason, message, lastTransitionTime, observedGeneration } = value
  if (typeof type !== 'string' || !isStatus(status)) return []
  return [
    {
      type,
      status,
      reason: typeof reason === 'string' ? reason : '',
      message: typeof message === 'string' ? message : '',
      ...(typeof lastTransitionTime === 'string' && { lastTransitionTime }),
      ...(typeof observedGeneration === 'number' && { observedGeneration }),
    },
  ]
}

function isStatus(value: unknown): value is Condition['status'] {
  return value === 'True' || value === 'False' || value === 'Unknown'
}

export function specOf(object: KubeObject): JsonRecord {
  return field(object, 'spec')
}

export function statusOf(object: KubeObject): JsonRecord {
  return field(object, 'status')
}

function field(object: object, name: string): JsonRecord {
  const value: unknown = Object.entries(object).find(([key]) => key === name)?.[1]
  return isRecord(value) ? value : {}
}

// Which object of which group, whatever its version.
export interface Ref {
  readonly group: string
  readonly kind: string
  readonly name: string
}

// A reference of a Cluster to one of its parts.
export function refOf(cluster: KubeObject, at: 'infrastructureRef' | 'controlPlaneRef'): Ref | undefined {
  const ref = specOf(cluster)[at]
  if (!isRecord(ref)) return undefined
  const { apiGroup, kind, name } = ref
  if (typeof apiGroup !== 'string' || typeof kind !== 'string' || typeof name !== 'string') return undefined
  return { group: apiGroup, kind, name }
}

export function isIt({ apiVersion, kind, metadata }: KubeObject, ref: Ref): boolean {
  return kind === ref.kind && metadata.name === ref.name && groupOf(apiVersion) === ref.group
}

export function isOwnedBy({ metadata }: KubeObject, owner: KubeObject): boolean {
  const owners: readonly Partial<OwnerReference>[] = metadata.ownerReferences ?? []
  return owners.some(({ uid, kind, name }) => {
    if (uid !== undefined && owner.metadata.uid !== undefined) return uid === owner.metadata.uid
    return kind === owner.kind && name === owner.metadata.name
  })
}
