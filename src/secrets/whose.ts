// Whose a Secret is that has one of our names, as far as it says so itself. Pure.
import { clusterNameLabel, clusterSecretType } from '../api/contract.ts'
import { secretsManager } from '../api/keys.ts'
import type { Secret } from '../api/neighbours.ts'
import { groupOf, type OwnerReference } from '../api/resource.ts'
import type { Whose } from './copies.ts'

// Why it is not ours to touch. Undefined: it is. One of another type is only when something says that we, or the predecessor, made it for
// this cluster: it would have to be deleted, with whatever is in it.
export function whyForeign(
  { type, metadata }: Secret,
  { cluster, owner }: Pick<Whose, 'cluster' | 'owner'>,
): string | undefined {
  const { ownerReferences = [], labels = {}, managedFields = [] } = metadata
  const controller = ownerReferences.find((each) => each.controller)
  if (controller) return isSame(controller, owner) ? undefined : `belongs to ${controller.kind} ${controller.name}`
  if (ownerReferences.some((each) => isSame(each, owner))) return undefined
  if (managedFields.some(({ manager }) => manager === secretsManager)) return undefined
  const label = labels[clusterNameLabel]
  if (label !== undefined) return label === cluster ? undefined : `is labelled as one of Cluster ${label}`
  // What the cache knows is of the right type, and it does not say so.
  if (type === undefined || type === clusterSecretType) return undefined
  return `has type ${type}, and nothing on it says that it is of Cluster ${cluster}`
}

// By its name: who is restored from a backup has another uid.
function isSame(one: OwnerReference, other: OwnerReference): boolean {
  return one.kind === other.kind && one.name === other.name && groupOf(one.apiVersion) === groupOf(other.apiVersion)
}
