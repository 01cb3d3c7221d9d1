// A topology Cluster of our template kinds: real core makes every object of it, and then leaves them alone.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { CAPTBootstrapConfigTemplate } from '../../src/api/captbootstrapconfig.ts'
import { CAPTClusterTemplate } from '../../src/api/captcluster.ts'
import { CAPTControlPlaneTemplate } from '../../src/api/captcontrolplane.ts'
import { CAPTMachineTemplate } from '../../src/api/captmachine.ts'
import { CAPTMachinePoolTemplate } from '../../src/api/captmachinepool.ts'
import { type Kind, version } from '../../src/api/kind.ts'
import type { KubeObject } from '../bed/kube.ts'
import { theBed } from '../bed/story.ts'
import { aSpecimen } from '../specimens.ts'
import { until } from '../until.ts'

const bed = theBed()
const { kube } = bed

const ref = (kind: Kind) => ({
  templateRef: { apiVersion: `${kind.group}/${version}`, kind: kind.kind, name: 'specimen' },
})

test('core makes a network, a control plane and pools of our templates, and does not write them again', async () => {
  const namespace = await bed.namespace('topology')
  const worker = (infrastructure: Kind) => ({
    bootstrap: ref(CAPTBootstrapConfigTemplate),
    infrastructure: ref(infrastructure),
  })
  const clusterClass: KubeObject = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'ClusterClass',
    metadata: { name: 'eks', namespace },
    spec: {
      infrastructure: ref(CAPTClusterTemplate),
      controlPlane: ref(CAPTControlPlaneTemplate),
      workers: {
        machineDeployments: [{ class: 'nodes', ...worker(CAPTMachineTemplate) }],
        machinePools: [{ class: 'pool', ...worker(CAPTMachinePoolTemplate) }],
      },
    },
  }
  const templates = [
    CAPTClusterTemplate,
    CAPTControlPlaneTemplate,
    CAPTMachineTemplate,
    CAPTMachinePoolTemplate,
    CAPTBootstrapConfigTemplate,
  ]
  await kube.apply(...templates.map((kind) => aSpecimen(kind, namespace)), clusterClass)
  await kube.seeCondition(clusterClass, 'RefVersionsUpToDate', 'True')

  const cluster: KubeObject = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name: 'demo', namespace },
    spec: {
      topology: {
        classRef: { name: 'eks' },
        version: 'v1.34.0',
        workers: {
          machineDeployments: [{ class: 'nodes', name: 'a', replicas: 1 }],
          machinePools: [{ class: 'pool', name: 'b', replicas: 2 }],
        },
      },
    },
  }
  await kube.apply(cluster)
  const made = async () => {
    const [networks, controlPlanes, pools, machineTemplates] = await Promise.all([
      kube.list(`infrastructure.cluster.x-k8s.io/${version}`, 'CAPTCluster', namespace),
      kube.list(`controlplane.cluster.x-k8s.io/${version}`, 'CAPTControlPlane', namespace),
      kube.list(`infrastructure.cluster.x-k8s.io/${version}`, 'CAPTMachinePool', namespace),
      kube.list(`infrastructure.cluster.x-k8s.io/${version}`, 'CAPTMachineTemplate', namespace),
    ])
    return { networks, controlPlanes, pools, machineTemplates }
  }
  const all = await until(
    'core has made everything',
    async () => {
      const { networks, controlPlanes, pools, machineTemplates } = await made()
      const isOwned = controlPlanes[0]?.metadata.ownerReferences?.some(({ kind }) => kind === 'Cluster')
      return networks.length === 1 && isOwned && pools.length === 1 && machineTemplates.length === 2
        ? { networks, controlPlanes, pools }
        : undefined
    },
    { withinSeconds: 60, everyMs: 200 },
  )
  expect(all.networks[0]).toMatchObject({
    spec: { region: 'ap-northeast-1', vpcTemplateRef: { name: 'vpc' }, deletionProtection: false },
  })
  expect(all.controlPlanes[0]).toMatchObject({ spec: { version: 'v1.34.0', workspaceTemplateRef: { name: 'module' } } })

  const generations = async () =>
    Object.values(await made()).map((objects) => objects.map(({ metadata }) => metadata.generation))
  const before = await generations()
  await kube.patch(cluster, { metadata: { annotations: { wake: 'up' } } })
  await sleep(3000)
  expect(await generations()).toEqual(before)
})
