// Core is not fought: with everything Available nobody writes anything, and CAPT asks for nothing.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { engineUser } from '../bed/engine.ts'
import type { KubeObject } from '../bed/kube.ts'
import { managerUser } from '../bed/manager.ts'
import { aWorkload, theBed } from '../bed/story.ts'
import { aCaptCluster, aClass, leadingTo, offlineSecret, offlineTemplates } from '../clusters.ts'
import { conditionOf, patience } from '../lives.ts'
import { until } from '../until.ts'

const bed = theBed()
const { kube } = bed
const quietMs = 120_000
const workload = aWorkload()

// Of everything that belongs to the clusters of a namespace and to their class.
async function versionsIn(namespace: string): Promise<Readonly<Record<string, string>>> {
  const lists = await Promise.all([
    kube.list('cluster.x-k8s.io/v1beta2', 'Cluster', namespace),
    kube.list('cluster.x-k8s.io/v1beta2', 'ClusterClass', namespace),
    kube.list('infrastructure.cluster.x-k8s.io/v1beta1', 'CAPTClusterTemplate', namespace),
    kube.list('controlplane.cluster.x-k8s.io/v1beta1', 'CAPTControlPlaneTemplate', namespace),
    kube.list('infrastructure.cluster.x-k8s.io/v1beta1', 'WorkspaceTemplate', namespace),
    kube.list('infrastructure.cluster.x-k8s.io/v1beta1', 'CAPTCluster', namespace),
    kube.list('controlplane.cluster.x-k8s.io/v1beta1', 'CAPTControlPlane', namespace),
    kube.list('infrastructure.cluster.x-k8s.io/v1beta1', 'WorkspaceTemplateApply', namespace),
    kube.list('tf.m.upbound.io/v1beta1', 'Workspace', namespace),
    kube.list('v1', 'Secret', namespace),
  ])
  const all = lists
    .flat()
    .map(({ metadata: { name, uid = '', resourceVersion = '' } }) => [`${name} ${uid}`, resourceVersion])
  return Object.fromEntries(all) as Record<string, string>
}

// That core sees its control plane run.
function versionsOf({ status }: KubeObject): string {
  const { versions = [] } =
    (status as { readonly controlPlane?: { readonly versions?: readonly { readonly version: string }[] } })
      .controlPlane ?? {}
  return versions.map(({ version }) => version).join()
}

test('for two minutes nothing of Available clusters changes, be they of a class or not, and nobody of CAPT asks for anything', async () => {
  const namespace = await bed.namespace('quiet')
  await kube.apply(offlineSecret(namespace, leadingTo(workload())), ...offlineTemplates(namespace))
  const { cluster, all } = aCaptCluster({ namespace })
  const ofClass = aClass({ namespace, name: `${namespace}-class` })
  await kube.apply(...all, ofClass.networkTemplate, ofClass.controlPlaneTemplate, ofClass.clusterClass, ofClass.cluster)
  await kube.seeCondition(cluster, 'Available', 'True', patience)
  await kube.seeCondition(ofClass.cluster, 'Available', 'True', patience)
  // A topology that has changed something tries ever again whether there is more to change.
  const { spec } = ofClass.topology({ tags: { cost: '7' } })
  await kube.patch(ofClass.cluster, { spec: { topology: { ...spec.topology, version: 'v1.35.0' } } })
  const hasArrived = (seen: KubeObject) =>
    conditionOf(seen, 'TopologyReconciled')?.status === 'True' && versionsOf(seen) === 'v1.35.0'
  await kube.see(ofClass.cluster, 'has been changed by its topology', hasArrived, patience)
  // Core has a word or two to add.
  const settled = await until(
    'it has settled',
    async () => {
      const before = await versionsIn(namespace)
      await sleep(5000)
      const after = await versionsIn(namespace)
      return JSON.stringify(before) === JSON.stringify(after) ? after : undefined
    },
    patience,
  )
  expect(Object.keys(settled).length).toBeGreaterThan(24)

  const since = new Date()
  await sleep(quietMs)
  expect(await versionsIn(namespace)).toEqual(settled)
  // Events are counted up a while after the last of them.
  const asked = (await bed.audit({ namespace, since })).filter(
    ({ user, resource }) => [managerUser, engineUser].includes(user) && resource !== 'events',
  )
  expect(asked.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`)).toEqual([])
  await kube.remove(cluster)
  await kube.remove(ofClass.cluster)
}, 400_000)
