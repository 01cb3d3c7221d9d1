// A Cluster of the class that we ship, under real core's topology: its life, and who says what of it. Its objects have random names.
import { expect, test } from 'vitest'
import { clusterSecretType } from '../../src/api/contract.ts'
import { crossplane } from '../../src/api/workspace.ts'
import type { KubeObject } from '../bed/kube.ts'
import { aWorkload, theBed } from '../bed/story.ts'
import { aClass, classObjects, leadingTo, masked, offlineSecret, offlineTemplates } from '../clusters.ts'
import { aWorkspaceTemplateApply } from '../given.ts'
import { aTeller } from '../golden.ts'
import { conditionOf, eventsOf, patience, seeDestroyed, seeNoTraces, seeSaying, toldTerraform } from '../lives.ts'
import { until } from '../until.ts'

const bed = theBed()
const { kube } = bed
const workload = aWorkload()

test('a Cluster of a class comes up, follows its variables, its version and its class, and leaves nothing', async () => {
  const story = aTeller()
  const namespace = await bed.namespace('class')
  await kube.apply(offlineSecret(namespace, leadingTo(workload())), ...offlineTemplates(namespace))
  const { clusterClass, networkTemplate, controlPlaneTemplate, cluster, topology } = aClass({ namespace })
  await kube.apply(networkTemplate, controlPlaneTemplate, clusterClass)
  await kube.seeCondition(clusterClass, 'VariablesReady', 'True')

  story.happens('a user applies a Cluster of the class')
  await kube.apply(cluster)
  const available = await kube.seeCondition(cluster, 'Available', 'True', patience)
  story.says(available, 'TopologyReconciled', 'InfrastructureReady', 'ControlPlaneAvailable', 'Available')
  const { network, controlPlane } = classObjects(available)
  const eks = aWorkspaceTemplateApply({ namespace, name: `${controlPlane.metadata.name}-eks-controlplane` })
  const vpc = aWorkspaceTemplateApply({ namespace, name: `${network.metadata.name}-vpc` })
  const tell = (text: string) =>
    story.notes(
      masked(
        text.replaceAll(controlPlane.metadata.name, 'RANDOM').replaceAll(network.metadata.name, 'RANDOM'),
        namespace,
      ),
    )
  for (const each of [network, controlPlane])
    expect(each.metadata.name.slice(namespace.length)).toMatch(/^-[a-z0-9]{5}$/)
  const tellTemplate = async () => {
    const status = (await kube.read(controlPlane))?.['status'] as { readonly template?: object } | undefined
    tell(`made of ${JSON.stringify(status?.template)}`)
  }
  const tellTold = async () => {
    tell(`Terraform was told of the VPC: ${JSON.stringify(await toldTerraform(kube, vpc, 'vpc'))}`)
    const { subnets: _, vpc: __, ...others } = (await toldTerraform(kube, eks, 'cluster')) as Record<string, unknown>
    tell(`Terraform was told of EKS: ${JSON.stringify(others)}`)
  }
  await tellTemplate()
  await tellTold()
  const types = new Set<unknown>([clusterSecretType, crossplane.connectionSecretType])
  const secrets = (await kube.list('v1', 'Secret', namespace)).filter(({ type }) => types.has(type))
  for (const { metadata } of secrets) tell(`Secret ${metadata.name}`)
  const seeTold = async (what: string, isSo: (told: Record<string, unknown>) => boolean) =>
    until(
      what,
      async () => isSo((await toldTerraform(kube, eks, 'cluster')) as Record<string, unknown>) || undefined,
      patience,
    )

  story.happens('the user changes tags and ranges')
  const endpointAccess = { public: true, private: false, publicCIDRs: ['198.51.100.0/24', '203.0.113.0/24'] }
  await kube.patch(cluster, topology({ tags: { cost: '7' }, endpointAccess }))
  await seeTold('EKS has the ranges', ({ cidrs }) => (cidrs as unknown[]).length === 2)
  await until(
    'the VPC has the tags',
    async () => JSON.stringify(await toldTerraform(kube, vpc, 'vpc')).includes('cost') || undefined,
    patience,
  )
  await tellTold()

  const tellRefusal = async (asked: Promise<unknown>, where: RegExp) => {
    const told = await asked.then(String, (error: Error) => error.message)
    tell(where.exec(told)?.[0] ?? told)
  }
  story.happens('the user asks for ranges of an API server that is not public')
  const contradiction = { public: false, private: true, publicCIDRs: ['203.0.113.0/24'] }
  await tellRefusal(
    kube.patch(cluster, topology({ endpointAccess: contradiction })),
    /publicCIDRs are for .*?remove them/,
  )
  const unreadable = { public: true, publicCIDRs: ['203.0.113.0'] }
  await tellRefusal(kube.patch(cluster, topology({ endpointAccess: unreadable })), /publicCIDRs\[0\]: .*?should match/)

  story.happens('the user asks for two minor versions more, and the class names none')
  await tellRefusal(
    kube.patch(cluster, { spec: { topology: { version: 'v1.36.2' } } }),
    /spec\.topology\.version: (?<why>.*)/,
  )

  story.happens('the user protects the control plane by hand, of which the class says nothing')
  await kube.patch(controlPlane, { spec: { deletionProtection: true } })

  story.happens('the class is edited: it names the versions there are')
  await kube.patch(clusterClass, { spec: { kubernetesVersions: ['v1.34.0', 'v1.35.1', 'v1.36.2'] } })
  const asked = { spec: { topology: { version: 'v1.36.2' } } }
  await until('the class is known', async () => kube.patch(cluster, asked).then(() => true), patience)
  await kube.see(
    controlPlane,
    'runs 1.36',
    ({ status }) => (status as { readonly version?: string }).version === 'v1.36.2',
    patience,
  )
  const done = await kube.see(
    cluster,
    'has arrived',
    (seen) =>
      conditionOf(seen, 'TopologyReconciled')?.status === 'True' && conditionOf(seen, 'RollingOut')?.status === 'False',
    patience,
  )
  story.says(done, 'TopologyReconciled', 'RollingOut', 'Available')
  const steps = (await eventsOf(kube, cluster))
    .map(({ note }) => /version change .*/.exec(String(note))?.[0])
    .filter((step) => step !== undefined)
  for (const step of steps.toSorted()) tell(step)

  story.happens('both templates of the class are edited, and one has a new version')
  await kube.patch(networkTemplate, { spec: { template: { spec: { destructiveChanges: 'Allow' } } } })
  await kube.patch(controlPlaneTemplate, {
    spec: { templateVersion: '1.1.0', template: { spec: { controlPlaneConfig: { upgradePolicy: 'Standard' } } } },
  })
  await seeTold('EKS has the policy', ({ policy }) => policy === 'STANDARD')
  const isAllowed = ({ spec }: KubeObject) =>
    (spec as { readonly destructiveChanges?: string }).destructiveChanges === 'Allow'
  await kube.see(network, 'follows its template', isAllowed, patience)
  await tellTemplate()

  story.happens('the user asks for another region, which would be another cluster')
  await kube.patch(cluster, topology({ region: 'eu-west-1' }))
  const refused = await kube.see(
    cluster,
    'says that it cannot be',
    (seen) => /region/.test(conditionOf(seen, 'TopologyReconciled')?.message ?? ''),
    patience,
  )
  tell(conditionOf(refused, 'TopologyReconciled')?.message ?? '')
  await kube.patch(cluster, topology({}))
  await kube.seeCondition(cluster, 'TopologyReconciled', 'True', patience)
  await seeSaying(kube, controlPlane, 'Ready', 'Ready')

  story.happens('the user deletes the Cluster, which is protected until the user says otherwise')
  await tellRefusal(kube.remove(cluster), /Cluster \S+ owns .*/)
  await kube.patch(controlPlane, { spec: { deletionProtection: false } })
  await kube.removeWhenFree(cluster)
  await kube.seeGone(cluster, patience)
  await seeNoTraces(kube, namespace)
  tell(`destroyed: ${(await seeDestroyed(bed, namespace, 2)).join(', then ')}`)
  await until(
    'garbage collection has taken the Secrets',
    async () => {
      const left = (await kube.list('v1', 'Secret', namespace)).filter(({ metadata }) =>
        metadata.name.startsWith(namespace),
      )
      return left.length === 0 ? true : undefined
    },
    patience,
  )
  await story.end('clusterclass')
}, 400_000)
