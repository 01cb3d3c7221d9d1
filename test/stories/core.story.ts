// The bed is true: real Cluster API core takes contract objects, filled in here by hand, through a whole life.
import { expect, test } from 'vitest'
import { tellControlPlaneMade, tellNetworkMade } from '../bed/standin.ts'
import { aWorkload, theBed } from '../bed/story.ts'
import { aBedCluster, aBedControlPlane, aCluster, aConfigMap, aKubeconfigSecret, aResourceSet } from '../given.ts'
import { aTeller } from '../golden.ts'

const bed = theBed()
const { kube } = bed
const workload = aWorkload()

test('core takes a Cluster to Available, applies a ClusterResourceSet into it, and deletes it in the right order', async () => {
  const story = aTeller()
  const namespace = await bed.namespace('core')
  const cluster = aCluster({ namespace, labels: { addons: 'wanted' } })
  const finalizers = ['capt.appthrust.io/proof']
  const infra = aBedCluster({ namespace, finalizers })
  const controlPlane = aBedControlPlane({ namespace, finalizers })

  story.happens('a user applies a Cluster and its provider objects')
  await kube.apply(infra, controlPlane, cluster) // the Cluster last: core looks for a missing object again only after seconds
  for (const ref of [infra, controlPlane]) {
    const owned = await kube.see(
      ref,
      'is owned by the Cluster',
      (object) => object.metadata.ownerReferences?.[0]?.kind === 'Cluster',
    )
    story.notes(
      `${owned.kind} is owned by ${owned.metadata.ownerReferences?.map(({ kind, name }) => `${kind}/${name}`).join()}`,
    )
    expect(owned.metadata.labels).toMatchObject({ 'cluster.x-k8s.io/cluster-name': 'demo' })
  }

  story.happens('the infrastructure provider has made the network')
  await kube.apply(aKubeconfigSecret({ namespace, text: workload().kubeconfig }))
  await tellNetworkMade(kube, infra, workload())
  story.says(
    await kube.seeCondition(cluster, 'InfrastructureReady', 'True'),
    'InfrastructureReady',
    'ControlPlaneInitialized',
    'Available',
  )

  story.happens('the control plane provider has made the cluster')
  await tellControlPlaneMade(kube, controlPlane)
  const available = await kube.seeCondition(cluster, 'Available', 'True', { withinSeconds: 90 })
  story.says(
    available,
    'InfrastructureReady',
    'ControlPlaneInitialized',
    'ControlPlaneAvailable',
    'RemoteConnectionProbe',
    'Available',
  )

  story.happens('a ClusterResourceSet asks for an object in it')
  const wanted = aConfigMap({ namespace: 'default', name: 'from-the-management-cluster', data: { hello: 'world' } })
  const resourceSet = aResourceSet({ namespace, label: { addons: 'wanted' }, resources: [wanted] })
  await kube.apply(...resourceSet)
  const arrived = await workload().kube.see(wanted, 'arrives in the workload cluster', () => true)
  expect(arrived).toMatchObject({ data: { hello: 'world' } })
  story.notes(`ConfigMap/${arrived.metadata.name} is in the workload cluster`)

  story.happens('clusterctl describes it')
  const tree = await bed.clusterctl(['describe', 'cluster', 'demo', '--namespace', namespace])
  for (const line of tree.trimEnd().split('\n').slice(1)) {
    story.notes(
      line
        .replace(`${namespace}/`, '')
        .replace(/\s+\d+\w+\s*$/, '')
        .replaceAll(/ {2,}/g, '  '),
    )
  }

  story.happens('the user deletes the Cluster')
  await kube.remove(cluster)
  const leaving = (object: { metadata: { deletionTimestamp?: unknown } }) =>
    object.metadata.deletionTimestamp !== undefined
  await kube.see(controlPlane, 'is being deleted', leaving)
  const untouched = await kube.read(infra)
  expect(untouched && leaving(untouched)).toBe(false)
  story.notes('BedControlPlane is being deleted, BedCluster is not')

  story.happens('the control plane is gone')
  await kube.patch(controlPlane, { metadata: { finalizers: null } })
  await kube.see(infra, 'is being deleted', leaving)
  expect(await kube.read(controlPlane)).toBeUndefined()
  expect(await kube.read(cluster)).toBeDefined()
  story.notes('BedCluster is being deleted, the Cluster still stands')

  story.happens('the infrastructure is gone')
  await kube.patch(infra, { metadata: { finalizers: null } })
  await kube.seeGone(cluster)
  story.notes('the Cluster is gone')
  await story.end('core')
})

test("core's webhooks convert a Cluster to its older version and refuse one that makes no sense", async () => {
  const namespace = await bed.namespace('webhooks')
  await kube.apply(aCluster({ namespace }))
  const older = await kube.read({ ...aCluster({ namespace }), apiVersion: 'cluster.x-k8s.io/v1beta1' })
  expect(older).toMatchObject({
    apiVersion: 'cluster.x-k8s.io/v1beta1',
    spec: { infrastructureRef: { apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1', kind: 'BedCluster' } },
  })
  const [, forNobody] = aResourceSet({ namespace, label: {}, resources: [] })
  await expect(kube.apply(...(forNobody ? [forNobody] : []))).rejects.toThrow(/selector must not be empty/)
})

test('core runs as its own ServiceAccount, under its own roles', async () => {
  const user = 'system:serviceaccount:capi-system:capi-manager'
  const requests = await bed.audit({ user })
  expect(requests.length).toBeGreaterThan(0)
  expect(requests.filter(({ isForbidden }) => isForbidden)).toEqual([])
  await expect(bed.kube.kubectl(['auth', 'can-i', 'create', 'clusterroles', '--as', user])).rejects.toThrow(/no/)
})
