// What Cluster API core does to a Cluster that names a CAPTCluster and a CAPTControlPlane, on an API server in memory: it puts its
// owner reference and its label on both, copies their latches and the endpoint, tries the kubeconfig, says how it is, and deletes in its order.
// No topology, no machines, no waits. It is an imitation: stories under the real core are the judge.
import { CAPTCluster } from '../src/api/captcluster.ts'
import { CAPTControlPlane } from '../src/api/captcontrolplane.ts'
import type { Condition } from '../src/api/condition.ts'
import { clusterNameLabel } from '../src/api/contract.ts'
import { Cluster, remoteProbe, Secret } from '../src/api/neighbours.ts'
import {
  apiVersionOf,
  type Key,
  type KubeObject,
  keyOf,
  type OwnerReference,
  type Resource,
} from '../src/api/resource.ts'
import type { Objects } from './objects.ts'

const finalizer = 'cluster.cluster.x-k8s.io'

export interface Corelike {
  end(): Promise<void>
}

// `answers`: whether the cluster's API server does to that kubeconfig.
export function startCorelike(objects: Objects, key: Key, answers: (kubeconfig: string) => boolean): Corelike {
  const { client } = objects
  let isDue = false
  let isEnded = false
  let passing = Promise.resolve()

  objects.watch(({ resource }) => {
    if (isDue || isEnded || resource.kind === 'Workspace') return
    isDue = true
    passing = passing.then(async () => {
      await new Promise(setImmediate)
      isDue = false
      if (!isEnded) await pass()
    })
  })

  async function pass(): Promise<void> {
    const cluster = objects.get(Cluster, key)
    if (!cluster || cluster.spec?.paused) return
    const network = objects.get(CAPTCluster, { ...key, name: cluster.spec?.infrastructureRef?.name ?? '' })
    const controlPlane = objects.get(CAPTControlPlane, { ...key, name: cluster.spec?.controlPlaneRef?.name ?? '' })
    if (cluster.metadata.deletionTimestamp !== undefined) return leave(cluster, controlPlane, network)
    if (!cluster.metadata.finalizers?.includes(finalizer)) {
      await client.patch(Cluster, key, { metadata: { finalizers: [finalizer] } })
      return
    }
    await claim(CAPTCluster, network, cluster)
    await claim(CAPTControlPlane, controlPlane, cluster)
    await copy(cluster, network, controlPlane)
  }

  async function claim(resource: Resource, object: KubeObject | undefined, cluster: Cluster): Promise<void> {
    const { ownerReferences = [], labels = {} } = object?.metadata ?? {}
    const { name, uid = '' } = cluster.metadata
    const isOurs = ownerReferences.some((owner) => owner.uid === uid) && labels[clusterNameLabel] === name
    if (!object || object.metadata.deletionTimestamp !== undefined || isOurs) return
    const owner: OwnerReference = {
      apiVersion: apiVersionOf(Cluster),
      kind: Cluster.kind,
      name,
      uid,
    }
    const metadata = { ownerReferences: [...ownerReferences, owner], labels: { [clusterNameLabel]: name } }
    await client.patch(resource, keyOf(object), { metadata })
  }

  async function copy(
    cluster: Cluster,
    network: CAPTCluster | undefined,
    controlPlane: CAPTControlPlane | undefined,
  ): Promise<void> {
    const before = cluster.status?.initialization ?? {}
    const isProvisioned =
      before.infrastructureProvisioned === true || network?.status?.initialization?.provisioned === true
    const isInitialized =
      before.controlPlaneInitialized === true || controlPlane?.status?.initialization?.controlPlaneInitialized === true
    const endpoint = controlPlane?.spec.controlPlaneEndpoint
    // The first one stays for ever.
    if (isInitialized && endpoint && !cluster.spec?.controlPlaneEndpoint?.host)
      await client.patch(Cluster, key, { spec: { controlPlaneEndpoint: endpoint } })
    const conditions = [
      condition('InfrastructureReady', isTrue(network, 'Ready')),
      condition('ControlPlaneInitialized', isInitialized),
      condition('ControlPlaneAvailable', isTrue(controlPlane, 'Available')),
      condition(remoteProbe, isProvisioned && isReached(cluster)),
    ]
    const isAvailable = conditions.every(({ status }) => status === 'True')
    const initialization = {
      ...(isProvisioned && { infrastructureProvisioned: true }),
      ...(isInitialized && { controlPlaneInitialized: true }),
    }
    const status = { initialization, conditions: [...conditions, condition('Available', isAvailable)] }
    await client.patch(Cluster, key, { status }, { subresource: 'status' })
  }

  // Without the label core does not find it.
  function isReached({ metadata: { name, namespace } }: Cluster): boolean {
    const secret = objects.get(Secret, { name: `${name}-kubeconfig`, ...(namespace !== undefined && { namespace }) })
    const isFound = secret?.metadata.labels?.[clusterNameLabel] === name
    return isFound && answers(Buffer.from(secret.data?.['value'] ?? '', 'base64').toString('utf8'))
  }

  async function leave(
    { metadata: { finalizers = [] } }: Cluster,
    controlPlane: CAPTControlPlane | undefined,
    network: CAPTCluster | undefined,
  ): Promise<void> {
    if (controlPlane) return told(CAPTControlPlane, controlPlane)
    if (network) return told(CAPTCluster, network)
    const left = finalizers.filter((each) => each !== finalizer)
    await client.patch(Cluster, key, { metadata: { finalizers: left } })
  }

  async function told(resource: Resource, object: KubeObject): Promise<void> {
    if (object.metadata.deletionTimestamp === undefined) await client.remove(resource, keyOf(object))
  }

  return {
    async end() {
      isEnded = true
      await passing
    },
  }
}

function isTrue(
  object: { status?: { conditions?: readonly Condition[] | undefined } | undefined } | undefined,
  type: string,
) {
  return object?.status?.conditions?.some((each) => each.type === type && each.status === 'True') === true
}

// When is of no importance here, and would be one more difference.
function condition(type: string, isSo: boolean): Condition {
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  return { type, status: isSo ? 'True' : 'False', reason: isSo ? type : `Not${type}`, message: '', lastTransitionTime }
}
