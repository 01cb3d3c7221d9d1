// The Cluster that owns an object, as Cluster API core says by its owner reference, and how the two wake each other.
import type { Kind } from '../api/kind.ts'
import { Cluster, remoteProbe } from '../api/neighbours.ts'
import {
  apiVersionOf,
  beside,
  groupOf,
  type Key,
  type KubeObject,
  keyOf,
  type Resource,
  slim,
  tellKey,
} from '../api/resource.ts'
import type { Read } from '../runtime/cache.ts'
import { mapped, type Source } from '../runtime/controller.ts'
import type { Indexes } from '../runtime/store.ts'

export type OwnerCluster = Cluster | 'none' | 'gone'

// A Cluster that is paused keeps what it names still, also what somebody has stripped of its owner meanwhile: core gives that back only
// when it goes on.
export function ownerClusterOf(read: Read, object: KubeObject): OwnerCluster {
  const key = ownerKeyOf(object)
  if (key) return read.get(Cluster, key) ?? 'gone'
  return (
    read.byIndex(Cluster, byNamed, tellNamed(object.kind, keyOf(object))).find(({ spec }) => spec?.paused) ?? 'none'
  )
}

// As it was before somebody stripped it: what is called after its Cluster is found.
export function asOwned<T extends KubeObject>(object: T, cluster: OwnerCluster): T {
  if (typeof cluster !== 'object' || ownerKeyOf(object)) return object
  const { name, uid = '' } = cluster.metadata
  const owner = { apiVersion: apiVersionOf(Cluster), kind: Cluster.kind, name, uid }
  const { ownerReferences = [] } = object.metadata
  return { ...object, metadata: { ...object.metadata, ownerReferences: [...ownerReferences, owner] } }
}

const byNamed = 'named' // index of Clusters: what they name

function tellNamed(kind: string, key: Key): string {
  return `${kind} ${tellKey(key)}`
}

export const byClassNamespace = 'classnamespace' // index of Clusters of a class: where that is, and its templates with it

const indexes: Indexes<Cluster> = {
  [byClassNamespace]: (cluster) => (cluster.spec?.topology?.classRef ? [classNamespaceOf(cluster)] : []),
  [byNamed]: (cluster) =>
    [cluster.spec?.infrastructureRef, cluster.spec?.controlPlaneRef].flatMap((ref) =>
      ref ? [tellNamed(ref.kind, beside(cluster, ref.name))] : [],
    ),
}

// Its version flips when core is upgraded, and it is no controller reference outside of a topology: neither is asked for.
export function ownerKeyOf(object: KubeObject): Key | undefined {
  const { ownerReferences = [] } = object.metadata
  const owner = ownerReferences.find(
    ({ apiVersion, kind }) => kind === Cluster.kind && groupOf(apiVersion) === Cluster.group,
  )
  return owner && beside(object, owner.name)
}

// The index of those that a Cluster owns, be it there or not.
export const byCluster = 'cluster'
export const ofOneCluster: Indexes<KubeObject> = {
  [byCluster]: (object) => {
    const key = ownerKeyOf(object)
    return key ? [tellKey(key)] : []
  },
}

// There are thousands of them, and core tells much on them that no controller reads. Applies are of use without any.
const clusters: Resource<Cluster> = {
  ...Cluster,
  isOptional: true,
  keep(cluster) {
    const { spec, status, ...others } = slim(cluster)
    const { topology, ...rest } = spec ?? {}
    const { classRef } = topology ?? {}
    const said = classRef ? { ...rest, topology: { classRef } } : rest
    const conditions = status?.conditions?.filter(({ type }) => type === remoteProbe) ?? []
    return { ...others, spec: said, status: { ...status, conditions } }
  },
}

// A class may be in another namespace than its Clusters.
export function classNamespaceOf({ metadata, spec }: Cluster): string {
  return spec?.topology?.classRef?.namespace ?? metadata.namespace ?? ''
}

// Wakes what a Cluster names as its infrastructure or its control plane, when that is of the controller's kind.
export function ofCluster(field: 'infrastructureRef' | 'controlPlaneRef'): Source {
  return wokenByCluster((cluster, kind) => {
    const ref = cluster.spec?.[field]
    return ref?.kind === kind.kind && ref.apiGroup === kind.group ? [beside(cluster, ref.name)] : []
  })
}

export function wokenByCluster(wakes: (cluster: Cluster, kind: Kind, read: Read) => readonly Key[]): Source {
  return mapped(clusters, wakes, { indexes })
}

// What a Cluster names so. Undefined: it is not of that kind; missing: it is, and is not there.
export type Named<T> = T | 'missing' | undefined

export function namedBy<T extends KubeObject>(
  read: Read,
  cluster: Cluster,
  field: 'infrastructureRef' | 'controlPlaneRef',
  resource: Resource<T>,
): Named<T> {
  const ref = cluster.spec?.[field]
  if (ref?.kind !== resource.kind || ref.apiGroup !== resource.group) return undefined
  return read.get(resource, beside(cluster, ref.name)) ?? 'missing'
}

export function tellMissing(cluster: Cluster, field: 'infrastructureRef' | 'controlPlaneRef'): string {
  const { kind = '', name = '' } = cluster.spec?.[field] ?? {}
  return `${kind} ${tellKey(beside(cluster, name))}, which the Cluster names in spec.${field}, is not there`
}

export function tellGone(object: KubeObject): string {
  const key = ownerKeyOf(object)
  return `its Cluster ${key ? tellKey(key) : ''} is not there: nothing is changed until it is back`
}
