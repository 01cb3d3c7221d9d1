// A Machine of real core gets its bootstrap data, of which there is none: EKS nodes bootstrap themselves.
import { expect, test } from 'vitest'
import type { KubeObject } from '../bed/kube.ts'
import { theBed } from '../bed/story.ts'
import { aCaptCluster } from '../clusters.ts'
import { patience } from '../lives.ts'

const bed = theBed()
const { kube } = bed

test('a Machine with a CAPTBootstrapConfig has its data at once, and takes it along when it goes', async () => {
  const namespace = await bed.namespace('bootstrap')
  const { cluster, network, controlPlane } = aCaptCluster({ namespace })
  const config: KubeObject = {
    apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta1',
    kind: 'CAPTBootstrapConfig',
    metadata: { namespace, name: 'demo-0' },
  }
  const machine: KubeObject = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Machine',
    metadata: { namespace, name: 'demo-0' },
    spec: {
      clusterName: cluster.metadata.name,
      bootstrap: { configRef: { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: config.kind, name: 'demo-0' } },
      infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'CAPTMachine', name: 'demo-0' },
    },
  }
  const paused = { ...cluster, spec: { ...(cluster['spec'] as object), paused: true } }
  await kube.apply(paused, network, controlPlane, config)
  await kube.seeCondition(config, 'Ready', 'False', patience)
  await kube.apply(machine)
  await kube.patch(cluster, { spec: { paused: false } })
  await kube.seeCondition(machine, 'BootstrapConfigReady', 'True', patience)
  const bootstrap = { dataSecretName: 'demo-0-bootstrap' }
  await expect.poll(async () => kube.read(machine), { timeout: 30_000 }).toMatchObject({ spec: { bootstrap } }) // core writes it after the condition
  const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'demo-0-bootstrap' } }
  expect((await kube.read(secret))?.metadata.ownerReferences).toMatchObject([{ kind: config.kind, controller: true }])
  await kube.remove(cluster)
  for (const each of [machine, config, cluster]) await kube.seeGone(each, patience)
}, 120_000)
