// Clusters of every shape that the examples and the spec allow, each brought to Available on real core and deleted again.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { externalNameOf } from '../../src/terraform/identity.ts'
import type { KubeObject } from '../bed/kube.ts'
import { aWorkload, theBed } from '../bed/story.ts'
import { aCaptCluster, documentsIn, leadingTo, offlineSecret, offlineTemplates, within } from '../clusters.ts'
import { aWorkspaceTemplate, aWorkspaceTemplateApply } from '../given.ts'
import {
  conditionOf,
  patience,
  readState,
  seeDestroyed,
  seeEvent,
  seeNoTraces,
  seeSaying,
  toldTerraform,
  tracesOf,
  workspaceOf,
} from '../lives.ts'

const bed = theBed()
const { kube } = bed
const workload = aWorkload()

async function aStage(story: string): Promise<string> {
  const namespace = await bed.namespace(story)
  await kube.apply(offlineSecret(namespace, leadingTo(workload())), ...offlineTemplates(namespace))
  return namespace
}

async function seeAvailable(cluster: KubeObject): Promise<void> {
  await kube.seeCondition(cluster, 'Available', 'True', patience)
}

async function removed(cluster: KubeObject): Promise<void> {
  await kube.remove(cluster)
  await kube.seeGone(cluster, patience)
}

const told = async (namespace: string, apply: string, resource: string) =>
  toldTerraform(kube, aWorkspaceTemplateApply({ namespace, name: apply }), resource)

const example = (file: string, namespace: string) => {
  const objects = within(namespace, documentsIn(`clusters/${file}`))
  const cluster = objects.find(({ kind }) => kind === 'Cluster')
  if (!cluster) throw new Error(`${file} has no Cluster`)
  return { cluster, objects }
}

test('each example of a cluster is tried here', () => {
  expect(readdirSync(resolve(import.meta.dirname, '../../examples/clusters')).toSorted()).toEqual([
    'existing-vpc.yaml',
    'minimal.yaml',
    'private-endpoint.yaml',
    'retained-vpc.yaml',
  ])
  expect(readdirSync(resolve(import.meta.dirname, '../../examples/clusterclass')).toSorted()).toEqual([
    'class.yaml',
    'cluster.yaml',
  ])
})

// Core looks for a kubeconfig every 30 seconds: they wait for it together.
test.concurrent('the minimal one needs one file and one command', async () => {
  const namespace = await aStage('minimal')
  const { cluster } = example('minimal.yaml', namespace)
  await kube.kubectl([
    'apply',
    '--namespace',
    namespace,
    '-f',
    join(import.meta.dirname, '../../examples/clusters/minimal.yaml'),
  ])
  await seeAvailable(cluster)
  await removed(cluster)
  await seeNoTraces(kube, namespace)
  expect((await seeDestroyed(bed, namespace, 2)).length).toBe(2)
}, 300_000)

test.concurrent('an existing VPC and its subnets are handed on to EKS, and never touched', async () => {
  const namespace = await aStage('existing')
  const { cluster, objects } = example('existing-vpc.yaml', namespace)
  await kube.apply(...objects)
  await seeAvailable(cluster)
  expect(await told(namespace, 'existing-vpc-eks-controlplane', 'cluster')).toMatchObject({
    vpc: 'vpc-0123456789abcdef0',
    subnets: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
  })
  await removed(cluster)
  expect(await seeDestroyed(bed, namespace, 1)).toEqual(['existing-vpc-eks-controlplane'])
  await seeNoTraces(kube, namespace)
}, 300_000)

test.concurrent('a VPC that is retained stays with its state, and an event says where', async () => {
  const namespace = await aStage('retained')
  const { cluster, objects } = example('retained-vpc.yaml', namespace)
  const apply = aWorkspaceTemplateApply({ namespace, name: 'retained-vpc-vpc' })
  await kube.apply(...objects)
  await seeAvailable(cluster)
  await removed(cluster)
  expect(await seeDestroyed(bed, namespace, 1)).toEqual(['retained-vpc-eks-controlplane'])
  expect((await readState(kube, apply)).resources.map(({ name }) => name)).toContain('vpc')
  expect(await kube.read(workspaceOf('tf.m.upbound.io', apply))).toBeDefined()
  const notes = await seeEvent(kube, apply, 'Retained')
  expect(notes).toContain(externalNameOf({ namespace, name: 'retained-vpc-vpc' }))
  const retained = /: see kubectl (?<found>.*) and kubectl (?<kept>.*)$/m.exec(notes)?.groups ?? {}
  for (const command of Object.values(retained))
    expect(await kube.kubectl(command.split(' '))).toContain('retained-vpc-vpc')
  expect(Object.keys(retained)).toEqual(['found', 'kept'])
  const left = await tracesOf(kube, namespace, 'retained-vpc-eks-controlplane')
  expect(left.filter((each) => !each.endsWith('-vpc-connection'))).toEqual([]) // of the other, which stays
}, 300_000)

test.concurrent('an API server that is reached by another address is still known by its certificate', async () => {
  const namespace = await bed.namespace('private')
  const { host, port } = workload()
  // What the template tells is not to be reached from here: nobody listens there.
  const there = { ...leadingTo(workload()), endpoint: 'https://localhost:1' }
  await kube.apply(offlineSecret(namespace, there), ...offlineTemplates(namespace))
  const { cluster, objects } = example('private-endpoint.yaml', namespace)
  const text = JSON.stringify(objects).replace('https://eks.example.internal:443', `https://${host}:${port}`)
  await kube.apply(...(JSON.parse(text) as KubeObject[]))
  await seeAvailable(cluster)
  expect(
    await kube.read({ ...cluster, apiVersion: 'controlplane.cluster.x-k8s.io/v1beta1', kind: 'CAPTControlPlane' }),
  ).toMatchObject({
    spec: { controlPlaneEndpoint: { host: 'localhost', port: 1 } },
  })
  const kubeconfig = await bed.clusterctl(['get', 'kubeconfig', 'private-endpoint', '--namespace', namespace])
  expect(kubeconfig).toContain(`server: https://${host}:${port}`)
  expect(kubeconfig).toContain('tls-server-name: localhost')
  expect(await told(namespace, 'private-endpoint-eks-controlplane', 'cluster')).toMatchObject({
    public: false,
    private: true,
    services: '172.20.0.0/16',
  })
  await removed(cluster)
}, 300_000)

test.concurrent('whatever its objects are called, everything in the spec reaches Terraform', async () => {
  const namespace = await aStage('spec')
  const { cluster, network, controlPlane } = aCaptCluster({
    namespace,
    cluster: {
      infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'CAPTCluster', name: 'net-x7k2' },
      controlPlaneRef: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'CAPTControlPlane', name: 'plane-q9' },
    },
    network: { region: 'us-gov-west-1', vpcConfig: { name: 'blue' }, additionalTags: { team: 'a' } },
    controlPlane: {
      additionalTags: { team: 'a', cost: 'b c' },
      controlPlaneConfig: {
        endpointAccess: { public: true, private: false, publicCIDRs: ['203.0.113.0/24'] },
        addons: [
          { name: 'vpc-cni', version: 'v1.19.0-eksbuild.1', configurationValues: '{"a":1}' },
          { name: 'coredns' },
        ],
        upgradePolicy: 'Standard',
        serviceIPv4CIDR: '10.96.0.0/16',
      },
    },
  })
  await kube.apply(
    { ...network, metadata: { namespace, name: 'net-x7k2' } },
    { ...controlPlane, metadata: { namespace, name: 'plane-q9' } },
    cluster,
  )
  await seeAvailable(cluster)
  expect(await told(namespace, 'net-x7k2-vpc', 'vpc')).toEqual({
    name: 'blue',
    region: 'us-gov-west-1',
    tags: { team: 'a' },
  })
  expect(await told(namespace, 'plane-q9-eks-controlplane', 'cluster')).toMatchObject({
    name: namespace,
    region: 'us-gov-west-1',
    version: '1.34',
    public: true,
    private: false,
    cidrs: ['203.0.113.0/24'],
    policy: 'STANDARD',
    services: '10.96.0.0/16',
    tags: { team: 'a', cost: 'b c' },
  })
  const { resources } = await readState(kube, aWorkspaceTemplateApply({ namespace, name: 'plane-q9-eks-controlplane' }))
  const addons = resources.find(({ name }) => name === 'addon')?.instances.map(({ attributes }) => attributes['input'])
  expect(JSON.stringify(addons)).toContain('v1.19.0-eksbuild.1')
  expect(
    (await kube.read({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'demo-kubeconfig' } }))?.['type'],
  ).toBe('cluster.x-k8s.io/secret')
  await removed(cluster)
  await seeNoTraces(kube, namespace)
}, 300_000)

test.concurrent('a class and a Cluster of it need two files, and do what their comments say', async () => {
  const namespace = await aStage('fromclass')
  const folder = resolve(import.meta.dirname, '../..')
  const run = async (file: string, beginning: string, more: readonly string[] = []) => {
    const text = readFileSync(join(folder, 'examples/clusterclass', file), 'utf8')
    const [, command = ''] = new RegExp(`^# {3}kubectl (${beginning}.*)$`, 'm').exec(text) ?? []
    const args = command.replace('examples/', `${folder}/examples/`).match(/'[^']*'|\S+/g) ?? []
    return kube.kubectl([...args.map((each) => each.replaceAll("'", '')), '--namespace', namespace, ...more])
  }
  const waiting = ['--timeout=150s']
  await run('class.yaml', 'apply')
  expect(await run('class.yaml', 'get clusterclass')).toContain('capt-eks')
  expect(await run('class.yaml', 'get captcontrolplanetemplate')).toMatch(/capt-eks +1\.0\.0 +EKS, with what/)
  await run('cluster.yaml', 'apply')
  await run('cluster.yaml', 'wait cluster', waiting)
  expect(await run('cluster.yaml', 'get')).toMatch(/from-class +from-class +v1\.34\.0 +v1\.34\.0 +\S+ +1\.0\.0 +True/)
  await run('cluster.yaml', 'patch')
  await run('cluster.yaml', 'wait captcontrolplane', waiting)
  expect(await told(namespace, 'from-class-eks-controlplane', 'cluster')).toMatchObject({
    name: 'from-class',
    version: '1.35',
    tags: { team: 'platform' },
    cidrs: ['203.0.113.0/24'],
  })
  await run('cluster.yaml', 'delete', ['--timeout=120s'])
  await seeNoTraces(kube, namespace)
}, 400_000)

test.concurrent('a class in another namespace serves a Cluster in an existing VPC, and a variable protects that', async () => {
  const namespace = await aStage('ofclass')
  const classes = await bed.namespace('classes')
  await kube.apply(...within(classes, documentsIn('clusterclass/class.yaml')))
  const [cluster] = within(namespace, documentsIn('clusterclass/cluster.yaml'))
  if (!cluster) throw new Error('the example has no Cluster')
  const [privateSubnets, region] = [['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'], 'us-gov-west-1']
  const wanted = (deletionProtection: boolean) => ({
    spec: {
      topology: {
        classRef: { name: 'capt-eks', namespace: classes },
        version: 'v1.34.0',
        variables: [
          { name: 'region', value: region },
          { name: 'existingVpc', value: { id: 'vpc-0123456789abcdef0', privateSubnets } },
          { name: 'eksClusterName', value: namespace },
          { name: 'deletionProtection', value: deletionProtection },
        ],
      },
    },
  })
  await kube.apply({ ...cluster, ...wanted(true) })
  await seeAvailable(cluster)
  expect(await told(namespace, 'from-class-eks-controlplane', 'cluster')).toMatchObject({
    name: namespace,
    region,
    vpc: 'vpc-0123456789abcdef0',
    subnets: privateSubnets,
  })
  const controlPlane = { ...cluster, apiVersion: 'controlplane.cluster.x-k8s.io/v1beta1', kind: 'CAPTControlPlane' }
  expect((await kube.read(controlPlane))?.['status']).toMatchObject({
    template: { name: 'capt-eks', templateVersion: '1.0.0', description: 'EKS, with what every cluster of ours has.' },
  })
  await expect(kube.remove(cluster)).rejects.toThrow(/deletionProtection/)
  await kube.patch(cluster, wanted(false))
  const isFree = ({ spec }: KubeObject) => !(spec as { readonly deletionProtection: boolean }).deletionProtection
  for (const [apiVersion, kind] of [
    ['controlplane.cluster.x-k8s.io/v1beta1', 'CAPTControlPlane'],
    ['infrastructure.cluster.x-k8s.io/v1beta1', 'CAPTCluster'],
  ] as const)
    await kube.see({ ...cluster, apiVersion, kind }, 'may be deleted', isFree, patience)
  await kube.removeWhenFree(cluster)
  await kube.seeGone(cluster, patience)
  await seeNoTraces(kube, namespace)
}, 400_000)

test.concurrent('what somebody else manages is not touched', async () => {
  const namespace = await aStage('managed')
  const { network, cluster, all } = aCaptCluster({ namespace })
  const managed = {
    ...network,
    metadata: { ...network.metadata, annotations: { 'cluster.x-k8s.io/managed-by': 'somebody' } },
  }
  await kube.apply(managed, ...all.slice(1))
  await kube.see(network, 'is claimed by core', ({ metadata }) => metadata.ownerReferences !== undefined, patience)
  await seeSaying(kube, all[1] ?? cluster, 'EKSApplied', 'WaitingForClusterInfrastructureReady')
  expect((await kube.read(network))?.['status']).toBeUndefined()
  expect((await kube.read(network))?.metadata.finalizers).toBeUndefined()
  await removed(cluster)
}, 300_000)

test.concurrent('the role for EC2 Spot comes before EKS, is shared, and stays', async () => {
  const namespace = await aStage('spot')
  const there =
    'Error: creating IAM Service Linked Role: InvalidInput: Service role name AWSServiceRoleForEC2Spot has been taken in this account'
  const module = `variable "is_there" { default = true }
resource "terraform_data" "role" {
  lifecycle {
    precondition {
      condition     = !var.is_there
      error_message = "${there}"
    }
  }
}`
  const { cluster, controlPlane, all } = aCaptCluster({
    namespace,
    controlPlane: { controlPlaneConfig: { spotServiceLinkedRole: 'Ensure' } },
  })
  await kube.apply(...all)
  const waiting = await kube.see(
    controlPlane,
    'waits for the role',
    (seen) =>
      conditionOf(seen, 'EKSApplied')?.reason === 'WaitingForSpotRole' &&
      /there is no WorkspaceTemplate .*spot-role-create/.test(conditionOf(seen, 'SpotRoleReady')?.message ?? ''),
    patience,
  )
  expect(conditionOf(waiting, 'SpotRoleReady')?.reason).toBe('Failed')
  await kube.apply(aWorkspaceTemplate({ namespace, name: 'spot-role-create', module }))
  await seeAvailable(cluster)
  const role = conditionOf((await kube.read(controlPlane)) ?? controlPlane, 'SpotRoleReady')
  expect(role).toMatchObject({
    status: 'True',
    reason: 'Ensured',
    message: `WorkspaceTemplateApply ${namespace}/spot-role-default found it there already`,
  })
  await removed(cluster)
  const apply = aWorkspaceTemplateApply({ namespace, name: 'spot-role-default' })
  expect((await kube.read(apply))?.metadata).toMatchObject({ name: 'spot-role-default' })
  expect((await kube.read(apply))?.metadata.ownerReferences).toBeUndefined()
}, 300_000)
