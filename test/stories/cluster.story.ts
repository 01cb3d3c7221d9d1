// A cluster of ours under real Cluster API core, on real OpenTofu, with a real API server behind its kubeconfig.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { theBed } from '../bed/story.ts'
import { startWorkload, type Workload } from '../bed/workload.ts'
import { aCaptCluster, offlineObjects } from '../clusters.ts'
import { aTeller } from '../golden.ts'
import { patience, seeNoTraces } from '../lives.ts'

const bed = theBed()
const { kube } = bed
let workload: Workload

beforeAll(async () => {
  workload = await startWorkload()
})
afterAll(async () => workload?.stop())

test('a Cluster becomes Available, and leaves nothing when it is deleted', async () => {
  const story = aTeller()
  const namespace = await bed.namespace('cluster')
  const { cluster, network, controlPlane, all } = aCaptCluster({ namespace })
  await kube.apply(...offlineObjects(namespace, workload))

  story.happens('a user applies a Cluster, its network and its control plane')
  await kube.apply(...all)
  const provisioned = await kube.seeCondition(network, 'Ready', 'True', patience)
  story.says(provisioned, 'Ready', 'VPCReady')
  const available = await kube.seeCondition(cluster, 'Available', 'True', patience)
  story.says(
    available,
    'InfrastructureReady',
    'ControlPlaneInitialized',
    'ControlPlaneAvailable',
    'RemoteConnectionProbe',
    'Available',
  )
  story.says(
    (await kube.read(controlPlane)) ?? controlPlane,
    'Ready',
    'Available',
    'EKSApplied',
    'SecretsReady',
    'EndpointReady',
    'SpotRoleReady',
    'RollingOut',
  )
  console.log(await bed.clusterctl(['describe', 'cluster', 'demo', '--namespace', namespace]))
  console.log(await kube.kubectl(['get', 'captclusters,captcontrolplanes,wtapply,secrets', '-n', namespace]))

  story.happens('the user deletes the Cluster')
  await kube.remove(cluster)
  await kube.seeGone(cluster, patience)
  await seeNoTraces(kube, namespace)
  expect(true).toBe(true)
}, 300_000)
