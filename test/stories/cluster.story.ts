// A cluster of ours under real Cluster API core, on real OpenTofu, with a real API server behind its kubeconfig.
import { expect, test } from 'vitest'
import { clusterSecretType } from '../../src/api/contract.ts'
import { isRecord } from '../../src/api/record.ts'
import type { KubeObject } from '../bed/kube.ts'
import { aWorkload, theBed } from '../bed/story.ts'
import {
  aCaptCluster,
  type ClusterObjects,
  describeCluster,
  leadingTo,
  masked,
  offlineSecret,
  offlineTemplates,
} from '../clusters.ts'
import { aWorkspaceTemplateApply } from '../given.ts'
import { aTeller, type Teller } from '../golden.ts'
import { asGuided } from '../guide.ts'
import {
  askAgain,
  attributesIn,
  conditionOf,
  patience,
  readState,
  seeDestroyed,
  seeNoTraces,
  seeSaying,
  workspaceOf,
} from '../lives.ts'
import { until } from '../until.ts'

const bed = theBed()
const { kube } = bed
const workload = aWorkload()

const ofNetwork = ['Ready', 'VPCReady'] as const
const ofControlPlane = ['Ready', 'Available', 'EKSApplied', 'SecretsReady', 'EndpointReady', 'RollingOut'] as const

async function aStage(story: string, { isPrepared = true } = {}) {
  const namespace = await bed.namespace(story)
  if (isPrepared) await kube.apply(offlineSecret(namespace, leadingTo(workload())), ...offlineTemplates(namespace))
  return namespace
}

// As a user sees it: what clusterctl shows, once core has said after us what we say.
async function tellDescribed(story: Teller, { cluster, network, controlPlane }: ClusterObjects): Promise<void> {
  const isSame = (one: KubeObject, type: string, other: KubeObject, as: string) =>
    conditionOf(one, type)?.message === conditionOf(other, as)?.message
  let [versions, since] = ['', 0]
  await until(
    'core has said it, too, and nobody has more to say',
    async () => {
      const [all, net, plane] = await Promise.all([cluster, network, controlPlane].map(async (each) => kube.read(each)))
      if (!all || !net || !plane) return undefined
      const now = [all, net, plane].map(({ metadata }) => metadata.resourceVersion).join()
      if (now !== versions) [versions, since] = [now, Date.now()]
      const isSaid =
        isSame(all, 'InfrastructureReady', net, 'Ready') && isSame(all, 'ControlPlaneAvailable', plane, 'Available')
      return (isSaid && Date.now() - since > 1500) || undefined // words that turn nothing wait a second
    },
    patience,
  )
  for (const line of await describeCluster(bed, cluster)) story.notes(line)
}

test('a Cluster becomes Available, and leaves nothing when it is deleted', async () => {
  const story = aTeller()
  const namespace = await aStage('cluster')
  // Called in EKS as the Cluster is: another has that name in no other story.
  const objects = aCaptCluster({ namespace, name: namespace, controlPlane: { eksClusterName: undefined } })
  const { cluster, network, controlPlane, all } = objects

  story.happens('a user applies a Cluster, its network and its control plane')
  await kube.apply(...all)
  story.says(await kube.seeCondition(network, 'Ready', 'True', patience), ...ofNetwork)
  const available = await kube.seeCondition(cluster, 'Available', 'True', patience)
  story.says(
    available,
    'InfrastructureReady',
    'ControlPlaneInitialized',
    'ControlPlaneAvailable',
    'RemoteConnectionProbe',
    'Available',
  )
  story.says(await kube.seeCondition(controlPlane, 'Ready', 'True', patience), ...ofControlPlane)
  expect((await kube.read(network))?.['status']).toMatchObject({
    initialization: { provisioned: true },
    failureDomains: ['a', 'b', 'c'].map((zone) => ({ name: `ap-northeast-1${zone}`, controlPlane: true })),
  })
  expect(await kube.read(controlPlane)).toMatchObject({
    spec: { eksClusterName: namespace, controlPlaneEndpoint: { host: workload().host, port: workload().port } },
    status: {
      initialization: { controlPlaneInitialized: true },
      externalManagedControlPlane: true,
      version: 'v1.34.0',
      versions: [{ version: 'v1.34.0' }],
      phase: 'Ready',
    },
  })

  story.happens('clusterctl describes it')
  await tellDescribed(story, objects)

  story.happens('the user looks into it with the kubeconfig that clusterctl hands out')
  const text = await bed.clusterctl(['get', 'kubeconfig', namespace, '--namespace', namespace])
  expect(text).toContain(`${workload().host}:${workload().port}`)
  const ours = (await kube.list('v1', 'Secret', namespace)).filter(({ type }) => type === clusterSecretType)
  for (const { metadata, data } of ours) {
    const keys = Object.keys(data ?? {}).toSorted()
    story.notes(masked(`Secret ${metadata.name}: ${keys.join(', ')}`, namespace))
    expect(metadata.labels).toEqual({ 'cluster.x-k8s.io/cluster-name': namespace })
    expect(metadata.ownerReferences).toMatchObject([{ kind: 'CAPTControlPlane', name: namespace, controller: true }])
  }
  const values = ours
    .filter(({ metadata: { name } }) => /-[0-9a-f]+-(control-plane-)?kubeconfig$/.test(name))
    .map(({ data }) => data)
  expect(values[0]).toEqual(values[1])

  story.happens('the user deletes the Cluster')
  await kube.remove(cluster)
  await kube.seeGone(cluster, patience)
  await seeNoTraces(kube, namespace)
  story.notes(masked(`destroyed: ${(await seeDestroyed(bed, namespace, 2)).join(', then ')}`, namespace))
  await until(
    'garbage collection has taken the Secrets',
    async () => {
      const left = (await kube.list('v1', 'Secret', namespace)).filter(({ type }) => type === clusterSecretType)
      return left.length === 0 ? true : undefined
    },
    patience,
  )
  await story.end('cluster')
}, 300_000)

test('what goes wrong is told with its object, its cause and what to do, and heals when that is done', async () => {
  const story = aTeller()
  const namespace = await aStage('heal', { isPrepared: false })
  const tags = { 'no-vpc': 'x' }
  const objects = aCaptCluster({
    namespace,
    network: { additionalTags: tags },
    controlPlane: { additionalTags: { 'no-eks': 'x' } },
  })
  const { cluster, network, controlPlane, all } = objects
  const eksWorkspace = workspaceOf(
    'tf.m.upbound.io',
    aWorkspaceTemplateApply({ namespace, name: 'demo-eks-controlplane' }),
  )

  story.happens('there is no template yet')
  await kube.apply(...all)
  const asked = await kube.see(
    network,
    'says that a template is missing',
    (seen) => /no WorkspaceTemplate/.test(conditionOf(seen, 'VPCReady')?.message ?? ''),
    patience,
  )
  story.says(asked, ...ofNetwork)
  await seeSaying(kube, controlPlane, 'EKSApplied', 'WaitingForClusterInfrastructureReady')
  await tellDescribed(story, objects)

  story.happens('Terraform cannot build the VPC')
  await kube.apply(
    offlineSecret(namespace, { ...leadingTo(workload()), token: 'no-token-of-it' }),
    ...offlineTemplates(namespace),
  )
  const failed = await kube.see(
    network,
    'tells of the limit',
    (seen) => /VpcLimitExceeded/.test(conditionOf(seen, 'VPCReady')?.message ?? ''),
    patience,
  )
  story.says(failed, ...ofNetwork)
  await tellDescribed(story, objects)

  story.happens('the VPC is mended, and Terraform cannot build EKS')
  await kube.patch(network, { spec: { additionalTags: { 'no-vpc': null } } })
  story.says(await seeSaying(kube, controlPlane, 'EKSApplied', 'TerraformFailed'), ...ofControlPlane)
  await kube.seeCondition(network, 'VPCReady', 'True', patience)
  await tellDescribed(story, objects)

  story.happens('EKS is mended, and its API server does not take the token')
  await kube.patch(controlPlane, { spec: { additionalTags: { 'no-eks': null } } })
  story.says(await seeSaying(kube, controlPlane, 'Available', 'NotAnswering'), ...ofControlPlane)
  await tellDescribed(story, objects)

  story.happens('the template tells another CA')
  const otherCa = (
    await kube.read({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'kube-root-ca.crt' } })
  )?.['data']
  const ca = isRecord(otherCa) ? String(otherCa['ca.crt']) : ''
  await kube.apply(offlineSecret(namespace, { ...leadingTo(workload()), ca }))
  await askAgain(kube, eksWorkspace, 'another-ca')
  const distrusting = await kube.see(
    controlPlane,
    'distrusts',
    (seen) => /certificate/.test(conditionOf(seen, 'Available')?.message ?? ''),
    patience,
  )
  story.notes(masked(conditionOf(distrusting, 'Available')?.message ?? '', namespace))

  story.happens('the template tells no endpoint')
  await kube.apply(offlineSecret(namespace, { ...leadingTo(workload()), endpoint: 'nowhere at all' }))
  await askAgain(kube, eksWorkspace, 'no-endpoint')
  story.says(await seeSaying(kube, controlPlane, 'SecretsReady', 'Failed'), ...ofControlPlane)
  story.notes(
    conditionOf(await seeSaying(kube, controlPlane, 'EndpointReady', 'Unknown'), 'EndpointReady')?.message ?? '',
  )

  story.happens('everything is as it should be')
  await kube.apply(offlineSecret(namespace, leadingTo(workload())))
  await askAgain(kube, eksWorkspace, 'mended')
  await kube.seeCondition(cluster, 'Available', 'True', patience)
  story.says(await kube.seeCondition(controlPlane, 'Ready', 'True', patience), ...ofControlPlane)

  story.happens('the template tells another endpoint')
  const elsewhere = { ...leadingTo(workload()), endpoint: `https://localhost:${workload().port}` }
  await kube.apply(offlineSecret(namespace, elsewhere))
  await askAgain(kube, eksWorkspace, 'elsewhere')
  const moved = await seeSaying(kube, controlPlane, 'EndpointReady', 'Changed')
  story.notes(
    masked(conditionOf(moved, 'EndpointReady')?.message ?? '', namespace).replace(/localhost:\d+/, 'localhost:PORT'),
  )
  const followed = await bed.clusterctl(['get', 'kubeconfig', 'demo', '--namespace', namespace])
  expect(followed).toContain(`https://localhost:${workload().port}`)

  story.happens('the template tells a token that is not taken: the last good one stays')
  await kube.apply(offlineSecret(namespace, { ...elsewhere, token: 'no-token-of-it' }))
  await askAgain(kube, eksWorkspace, 'bad-token')
  const kept = await kube.see(
    controlPlane,
    'keeps the last good kubeconfig',
    (seen) => /last good/.test(conditionOf(seen, 'SecretsReady')?.message ?? ''),
    patience,
  )
  story.says(kept, ...ofControlPlane)
  story.notes(masked(conditionOf(kept, 'SecretsReady')?.message ?? '', namespace))
  await kube.remove(cluster)
  await kube.seeGone(cluster, patience)
  await story.end('heal')
}, 300_000)

test('an upgrade walks one minor version at a time, and one that fails leaves a cluster that serves', async () => {
  const story = aTeller()
  const namespace = await aStage('upgrade')
  const objects = aCaptCluster({ namespace, controlPlane: { additionalTags: { 'no-version': '1.36' } } })
  const { cluster, controlPlane, all } = objects
  const eks = aWorkspaceTemplateApply({ namespace, name: 'demo-eks-controlplane' })
  const tellVersions = (seen: KubeObject) => {
    const { version, versions } = seen['status'] as {
      readonly version?: string
      readonly versions?: readonly { readonly version: string }[]
    }
    story.notes(`version ${version}, versions ${versions?.map((each) => each.version).join()}`)
  }
  await kube.apply(...all)
  await kube.seeCondition(cluster, 'Available', 'True', patience)

  story.happens('two minor versions further are asked for, and EKS has only one of them')
  await asGuided(bed, 'life.md', namespace, '"version":"v1.36.2"')
  const failed = await seeSaying(kube, controlPlane, 'EKSApplied', 'TerraformFailed')
  story.says(failed, ...ofControlPlane)
  tellVersions(failed)
  story.notes(masked(conditionOf(failed, 'RollingOut')?.message ?? '', namespace))
  expect(await asGuided(bed, 'life.md', namespace, '"RollingOut"')).toMatch(/^v1\.35 from Kubernetes 1\.35 to 1\.36: /)
  expect(attributesIn(await readState(kube, eks), 'cluster')['output']).toMatchObject({ value: { version: '1.35' } })
  await tellDescribed(story, objects)

  story.happens('EKS has it')
  await kube.patch(controlPlane, { spec: { additionalTags: { 'no-version': null } } })
  const done = await kube.see(
    controlPlane,
    'runs 1.36',
    ({ status }) => (status as { readonly version?: string }).version === 'v1.36.2',
    patience,
  )
  tellVersions(done)
  story.says(await seeSaying(kube, controlPlane, 'RollingOut', 'NotRollingOut'), ...ofControlPlane)

  story.happens('an older version is asked for')
  await kube.patch(controlPlane, { spec: { version: 'v1.35.0' } })
  const refused = await seeSaying(kube, controlPlane, 'EKSApplied', 'DowngradeNotAllowed')
  story.says(refused, ...ofControlPlane)
  story.notes(conditionOf(refused, 'EKSApplied')?.message ?? '')
  tellVersions(refused)
  await kube.remove(cluster)
  await kube.seeGone(cluster, patience)
  await story.end('upgrade')
}, 300_000)
