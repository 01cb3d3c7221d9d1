// The Cluster that owns an object, as Cluster API core says by its owner reference, and how the two wake each other.
import { Cluster, remoteProbe } from '../api/neighbours.ts'
import { beside, groupOf, type Key, type KubeObject, type Resource, slim, tellKey } from '../api/resource.ts'
import type { Read } from '../runtime/cache.ts'
import { mapped, type Source } from '../runtime/controller.ts'

export type OwnerCluster = Cluster | 'none' | 'gone'

export function ownerClusterOf(read: Read, object: KubeObject): OwnerCluster {
  const key = ownerKeyOf(object)
  return key ? (read.get(Cluster, key) ?? 'gone') : 'none'
}

// Its version flips when core is upgraded, and it is no controller reference outside of a topology: neither is asked for.
export function ownerKeyOf(object: KubeObject): Key | undefined {
  const { ownerReferences = [] } = object.metadata
  const owner = ownerReferences.find(
    ({ apiVersion, kind }) => kind === Cluster.kind && groupOf(apiVersion) === Cluster.group,
  )
  return owner && beside(object, owner.name)
}

// There are thousands of them, and core tells much on them that no controller reads. Applies are of use without any.
const clusters: Resource<Cluster> = {
  ...Cluster,
  isOptional: true,
  keep(cluster) {
    const { spec, status, ...rest } = slim(cluster)
    const { topology: _, ...said } = spec ?? {}
    const conditions = status?.conditions?.filter(({ type }) => type === remoteProbe) ?? []
    return { ...rest, spec: said, status: { ...status, conditions } }
  },
}

// Wakes what a Cluster names as its infrastructure or its control plane, when that is of the controller's kind.
export function ofCluster(field: 'infrastructureRef' | 'controlPlaneRef'): Source {
  return mapped(clusters, (cluster, kind) => {
    const ref = cluster.spec?.[field]
    return ref?.kind === kind.kind && ref.apiGroup === kind.group ? [beside(cluster, ref.name)] : []
  })
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
