// Every rule of every kind, on the real API server: an example it refuses, with the sentence it says, and one it accepts.
import { describe, expect, test } from 'vitest'
import { childrenOf, crdOf, messagesIn, type Schema, schemaOf } from '../../scripts/generated/crd.ts'
import type { Kind } from '../../src/api/kind.ts'
import { kinds } from '../../src/api/kinds.ts'
import { theBed } from '../bed/story.ts'
import { aSpecimen, changed, specimenSpec } from '../specimens.ts'

const bed = theBed()
const { kube } = bed
const namespace = 'default'

const kindOf = (name: string): Kind => {
  const kind = kinds.find((each) => each.kind === name)
  if (!kind) throw new Error(`no kind ${name}`)
  return kind
}

interface Example {
  readonly kind: string
  readonly at: string
  readonly not: unknown
  readonly but: unknown
  readonly says: string
}

const examples: readonly Example[] = [
  // names and references
  {
    kind: 'CAPTCluster',
    at: 'vpcTemplateRef.name',
    not: 'Not_A_Name',
    but: 'vpc.v2',
    says: 'write the name of an object: lower-case letters, digits, - and .',
  },
  {
    kind: 'CAPTCluster',
    at: 'vpcTemplateRef.namespace',
    not: 'a.b',
    but: 'shared',
    says: 'write the name of a namespace: lower-case letters, digits and -',
  },
  {
    kind: 'WorkspaceTemplateApply',
    at: 'variablesFrom',
    not: [{ name: '1st', configMap: { name: 'a', key: 'b' } }],
    but: [{ name: 'first', configMap: { name: 'a', key: 'b' } }],
    says: 'write the name of a Terraform variable: letters, digits, _ and -, beginning with a letter or _',
  },
  // network
  {
    kind: 'CAPTCluster',
    at: 'region',
    not: 'tokyo',
    but: 'us-gov-west-1',
    says: 'write an AWS region such as ap-northeast-1 or us-gov-west-1',
  },
  {
    kind: 'CAPTCluster',
    at: 'existingVpcId',
    not: 'vpc-0123456789abcdef0',
    but: undefined,
    says: 'set exactly one of vpcTemplateRef (CAPT builds the VPC) and existingVpcId (there is one already)',
  },
  {
    kind: 'CAPTCluster',
    at: 'existingVpcId',
    not: 'my-vpc',
    but: undefined,
    says: 'write a VPC id such as vpc-0123456789abcdef0',
  },
  {
    kind: 'CAPTCluster',
    at: 'existingSubnets',
    not: { private: ['subnet-0123456789abcdef0'] },
    but: undefined,
    says: 'existingSubnets are subnets of an existing VPC: set existingVpcId too, or remove them',
  },
  {
    kind: 'CAPTMachine',
    at: 'subnetID',
    not: 'subnet-xyz',
    but: 'subnet-0123456789abcdef0',
    says: 'write a subnet id such as subnet-0123456789abcdef0',
  },
  // control plane
  {
    kind: 'CAPTControlPlane',
    at: 'version',
    not: '1.34.0-eks-abc',
    but: '1.34',
    says: 'write a Kubernetes version such as v1.34.0 or 1.34',
  },
  {
    kind: 'CAPTControlPlane',
    at: 'controlPlaneConfig.endpointAccess',
    not: { public: false, private: false },
    but: { public: false, private: true },
    says: 'an API server that is neither public nor private cannot be reached: set one of them to true',
  },
  {
    kind: 'CAPTControlPlane',
    at: 'controlPlaneConfig.endpointAccess',
    not: { public: false, publicCIDRs: ['10.0.0.0/8'] },
    but: { public: true, publicCIDRs: ['10.0.0.0/8', '2001:db8::/32'] },
    says: 'publicCIDRs are for a public endpoint: set public to true, or remove them',
  },
  {
    kind: 'CAPTControlPlane',
    at: 'controlPlaneConfig.serviceIPv4CIDR',
    not: '10.0.0.0',
    but: '10.100.0.0/16',
    says: 'write a range such as 203.0.113.0/24',
  },
  {
    kind: 'CAPTControlPlane',
    at: 'controlPlaneConfig.addons',
    not: [{ name: 'vpc cni' }],
    but: [{ name: 'vpc-cni', version: 'v1.20.0-eksbuild.1' }],
    says: 'write the name of an EKS add-on such as vpc-cni',
  },
  {
    kind: 'CAPTControlPlane',
    at: 'eksClusterName',
    not: '-prod',
    but: 'prod_1',
    says: 'write a name as EKS allows it: letters, digits, - and _, beginning with a letter or digit',
  },
  {
    kind: 'CAPTControlPlane',
    at: 'controlPlaneEndpoint',
    not: { host: 'https://abc.eks.amazonaws.com', port: 443 },
    but: { host: 'abc.eks.amazonaws.com', port: 443 },
    says: 'write a host name or address without https:// and without a path',
  },
  {
    kind: 'CAPTControlPlane',
    at: 'kubeconfig',
    not: { serviceAccount: {} },
    but: { source: 'ServiceAccount', serviceAccount: {} },
    says: 'serviceAccount is for source ServiceAccount: set it, or remove serviceAccount',
  },
  {
    kind: 'CAPTControlPlane',
    at: 'kubeconfig',
    not: { source: 'Template', aws: {} },
    but: { source: 'AWS', aws: {} },
    says: 'aws is not read with source Template: remove it, or choose another source',
  },
  {
    kind: 'CAPTControlPlane',
    at: 'kubeconfig',
    not: { server: '10.0.0.1' },
    but: { server: 'https://10.0.0.1:443' },
    says: 'write an address such as https://10.0.0.1:443',
  },
  {
    kind: 'CAPTControlPlane',
    at: 'kubeconfig',
    not: { aws: { roleARN: 'capt' } },
    but: { aws: { roleARN: 'arn:aws-us-gov:iam::123456789012:role/team/capt' } },
    says: 'write the ARN of a role such as arn:aws:iam::123456789012:role/capt',
  },
  {
    kind: 'CAPTControlPlane',
    at: 'additionalTags',
    not: { ['k'.repeat(129)]: 'v' },
    but: { team: 'platform' },
    says: 'keys have at most 128 characters',
  },
  // templates and applies
  {
    kind: 'WorkspaceTemplate',
    at: 'template.spec.forProvider',
    not: { source: 'Remote', module: 'git::x', inlineFormat: 'HCL' },
    but: { source: 'Inline', module: '{}', inlineFormat: 'JSON', somethingNewer: true },
    says: 'inlineFormat is for source Inline: remove it',
  },
  {
    kind: 'WorkspaceTemplate',
    at: 'variables',
    not: [{ name: 'a', type: 'text' }],
    but: [{ name: 'a', type: 'list(object({ name = string, size = optional(number) }))' }],
    says: 'write a Terraform type such as string or list(string)',
  },
  {
    kind: 'WorkspaceTemplateApply',
    at: 'variablesFrom',
    not: [{ name: 'a', apply: { name: 'vpc', output: 'vpc id' } }],
    but: [{ name: 'a', apply: { name: 'vpc', output: 'karpenter.queue_name' } }],
    says: 'write the path of an output such as vpc_id or karpenter.queue_name',
  },
  {
    kind: 'WorkspaceTemplateApply',
    at: 'variablesFrom',
    not: [{ name: 'a', apply: { name: 'vpc', output: 'id' }, secret: { name: 's', key: 'k' } }],
    but: [{ name: 'a', secret: { name: 's', key: 'k' } }],
    says: 'a variable comes from exactly one of apply, secret and configMap',
  },
  // machines
  {
    kind: 'CAPTMachine',
    at: 'instanceType',
    not: 'large',
    but: 'm7g.large',
    says: 'write an instance type such as m7g.large',
  },
  {
    kind: 'CAPTMachine',
    at: 'labels',
    not: { a: 'no spaces' },
    but: { 'example.com/a': 'b' },
    says: 'a label value has at most 63 letters, digits, -, _ and .',
  },
  {
    kind: 'CAPTMachine',
    at: 'labels',
    not: { ['k'.repeat(318)]: 'v' },
    but: {},
    says: 'keys have at most 317 characters',
  },
  {
    kind: 'CAPTMachine',
    at: 'taints',
    not: [{ key: '!', effect: 'NoSchedule' }],
    but: [
      { key: 'a', effect: 'NoSchedule' },
      { key: 'a', effect: 'NoExecute' },
    ],
    says: 'write a taint key such as example.com/dedicated',
  },
  {
    kind: 'CAPTMachineSet',
    at: 'selector',
    not: { matchLabels: { app: 'a' } },
    but: { matchLabels: {} },
    says: 'the selector must find the machines made of the template: put its matchLabels into template.metadata.labels',
  },
  {
    kind: 'CAPTMachineSet',
    at: 'selector',
    not: { matchExpressions: [{ key: 'app', operator: 'Exists' }] },
    but: { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] },
    says: 'the selector must find the machines made of the template: let template.metadata.labels fit its matchExpressions',
  },
  {
    kind: 'CAPTMachineDeployment',
    at: 'strategy',
    not: { rollingUpdate: { maxUnavailable: '0%', maxSurge: 0 } },
    but: { rollingUpdate: { maxUnavailable: '25%', maxSurge: 0 } },
    says: 'maxUnavailable and maxSurge cannot both be zero, for then no machine could ever be replaced: set one of them to at least 1',
  },
  {
    kind: 'CAPTMachineDeployment',
    at: 'strategy',
    not: { rollingUpdate: { maxUnavailable: '120%' } },
    but: { rollingUpdate: { maxUnavailable: 10_000 } },
    says: 'write a number from 0 to 10000, or a share from 0% to 100%',
  },
  {
    kind: 'CAPTMachineDeployment',
    at: 'strategy',
    not: { type: 'Recreate', rollingUpdate: {} },
    but: { type: 'Recreate' },
    says: 'rollingUpdate is for type RollingUpdate: remove it, or change the type',
  },
  {
    kind: 'CAPTMachineDeployment',
    at: 'minReadySeconds',
    not: 600,
    but: 599,
    says: 'progressDeadlineSeconds must be greater than minReadySeconds, or every change would count as stuck',
  },
  {
    kind: 'CAPTMachinePool',
    at: 'scaling',
    not: { minSize: 3, maxSize: 2 },
    but: { minSize: 2, maxSize: 2 },
    says: 'minSize must not be greater than maxSize',
  },
  {
    kind: 'CAPTMachinePool',
    at: 'scaling',
    not: { minSize: 1, maxSize: 2, desiredSize: 3 },
    but: { minSize: 1, maxSize: 2, desiredSize: 2 },
    says: 'desiredSize must be between minSize and maxSize',
  },
  // add-ons
  {
    kind: 'CAPTAddon',
    at: 'enabledLabel',
    not: { key: '?' },
    but: { key: 'fluxcd.io/enabled' },
    says: 'write a label key such as fluxcd.io/enabled',
  },
  {
    kind: 'CAPTAddon',
    at: 'manifests',
    not: [{ name: 'a' }],
    but: [{ name: 'a', configMap: { namespace: 'b', name: 'c', key: 'd' } }],
    says: 'a manifest is exactly one of inline and configMap',
  },
  {
    kind: 'CAPTAddon',
    at: 'variables',
    not: [{ name: 'name', value: 'x' }],
    but: [{ name: 'NAME', value: 'x' }],
    says: 'write a variable in capitals, such as CLUSTER_NAME',
  },
  {
    kind: 'CAPTAddon',
    at: 'variables',
    not: [{ name: 'NAME' }],
    but: [{ name: 'NAME', clusterField: 'metadata.name' }],
    says: 'a variable comes from exactly one of output, clusterField and value',
  },
]

describe.each(kinds)('$kind', (kind) => {
  test('its specimen is accepted', async () => {
    expect(await kube.trial(aSpecimen(kind, namespace))).toHaveProperty('accepted')
  })

  test('a name that does not fit into labels is refused', async () => {
    const tried = await kube.trial(aSpecimen(kind, namespace, specimenSpec(kind), 'n'.repeat(64)))
    expect(tried).toMatchObject({ refused: expect.stringContaining('the name has more than 63 characters') as string })
  })

  test('kubectl explains it down to the leaves', async () => {
    const explained = await kube.kubectl(['explain', crdOf(kind).metadata.name, '--recursive'])
    for (const path of leavesOf(schemaOf(kind).properties?.['spec'] ?? {})) expect(explained).toContain(path.at(-1))
  })
})

test.each(examples)('$kind: $says', async ({ kind: name, at, not, but, says }) => {
  const kind = kindOf(name)
  expect(await kube.trial(aSpecimen(kind, namespace, changed(kind, at, not)))).toMatchObject({
    refused: expect.stringContaining(says) as string,
  })
  expect(await kube.trial(aSpecimen(kind, namespace, changed(kind, at, but)))).toHaveProperty('accepted')
})

test('an existing VPC is not retained but left alone', async () => {
  const kind = kindOf('CAPTCluster')
  const existing = { region: 'ap-northeast-1', existingVpcId: 'vpc-0123456789abcdef0' }
  expect(await kube.trial(aSpecimen(kind, namespace, existing))).toHaveProperty('accepted')
  expect(await kube.trial(aSpecimen(kind, namespace, { ...existing, retainVpcOnDelete: true }))).toMatchObject({
    refused: expect.stringContaining('an existing VPC is never deleted: remove retainVpcOnDelete') as string,
  })
})

test('a Fargate profile has no nodes of its own', async () => {
  const kind = kindOf('CAPTMachinePool')
  const fargate = { ...specimenSpec(kind), nodeType: 'Fargate' }
  expect(await kube.trial(aSpecimen(kind, namespace, fargate))).toHaveProperty('accepted')
  expect(await kube.trial(aSpecimen(kind, namespace, { ...fargate, capacityType: 'Spot' }))).toMatchObject({
    refused: expect.stringContaining('a Fargate profile has no nodes of its own') as string,
  })
})

test.each([
  ['CAPTCluster', 'region', 'us-east-1', 'eu-west-1', 'region cannot be changed'],
  ['CAPTControlPlane', 'eksClusterName', 'prod', 'staging', 'eksClusterName cannot be changed'],
  ['CAPTControlPlane', 'controlPlaneConfig.region', 'us-east-1', 'eu-west-1', 'region cannot be changed'],
  [
    'CAPTControlPlane',
    'controlPlaneConfig.serviceIPv4CIDR',
    '10.100.0.0/16',
    '10.101.0.0/16',
    'serviceIPv4CIDR cannot be changed',
  ],
])('%s keeps its %s', async (name, at, first, second, says) => {
  const kind = kindOf(name)
  const own = await bed.namespace('kept')
  await kube.apply(aSpecimen(kind, own, changed(kind, at, first)))
  await expect(kube.apply(aSpecimen(kind, own, changed(kind, at, second)))).rejects.toThrow(says)
  await kube.apply(aSpecimen(kind, own, changed(kind, at, first)))
})

test('CAPTCluster keeps its existingVpcId', async () => {
  const kind = kindOf('CAPTCluster')
  const own = await bed.namespace('kept')
  const inVpc = (existingVpcId: string) => aSpecimen(kind, own, { region: 'us-east-1', existingVpcId })
  await kube.apply(inVpc('vpc-0123456789abcdef0'))
  await expect(kube.apply(inVpc('vpc-0123456789abcdef1'))).rejects.toThrow('existingVpcId cannot be changed')
})

test('a network that was built is not swapped for another VPC', async () => {
  const kind = kindOf('CAPTCluster')
  const own = await bed.namespace('built')
  const built = aSpecimen(kind, own)
  await kube.apply(built)
  await kube.patch(built, { status: { vpcId: 'vpc-0123456789abcdef0' } }, 'status')
  const swap = async (existingVpcId: string) => kube.patch(built, { spec: { existingVpcId, vpcTemplateRef: null } })
  await expect(swap('vpc-0123456789abcdef1')).rejects.toThrow(
    'the cluster lives in the VPC that status.vpcId names: existingVpcId can only be that one',
  )
  await swap('vpc-0123456789abcdef0')
})

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))
const manyLabels = Object.fromEntries(many(64, (index) => [`${'k'.repeat(310)}${index}`, 'v'.repeat(63)]))

test.each<[string, object]>([
  [
    'CAPTCluster',
    {
      region: 'us-east-1',
      existingVpcId: 'vpc-0123456789abcdef0',
      existingSubnets: { private: many(32, (n) => `subnet-${String(n).padStart(17, '0')}`) },
      additionalTags: Object.fromEntries(many(50, (n) => [`${'t'.repeat(126)}${n}`, 'v'.repeat(256)])),
    },
  ],
  [
    'CAPTControlPlane',
    {
      version: 'v1.34.0',
      workspaceTemplateRef: { name: 'n'.repeat(253) },
      controlPlaneConfig: {
        endpointAccess: { public: true, publicCIDRs: many(40, (n) => `10.0.${n}.0/24`) },
        addons: many(50, (n) => ({ name: `${'a'.repeat(98)}${n}`, configurationValues: 'x'.repeat(16_384) })),
      },
    },
  ],
  [
    'CAPTMachineDeployment',
    {
      selector: {
        matchLabels: manyLabels,
        matchExpressions: many(16, () => ({
          key: Object.keys(manyLabels)[0],
          operator: 'In',
          values: many(32, () => 'v'.repeat(63)),
        })),
      },
      template: {
        metadata: { labels: manyLabels },
        spec: {
          workspaceTemplateRef: { name: 'x' },
          labels: manyLabels,
          taints: many(50, (n) => ({ key: `${'k'.repeat(310)}${n}`, effect: 'NoExecute' })),
        },
      },
    },
  ],
  [
    'WorkspaceTemplate',
    {
      template: { spec: { forProvider: { source: 'Inline', module: 'm'.repeat(204_800) } } },
      variables: many(200, (n) => ({ name: `v${n}`, type: `object({ ${'a'.repeat(4000)} = string })` })),
    },
  ],
  [
    'WorkspaceTemplateApply',
    {
      templateRef: { name: 'x' },
      variablesFrom: many(100, (n) => ({ name: `v${n}`, apply: { name: 'n'.repeat(253), output: 'o'.repeat(253) } })),
      waitForSecrets: many(32, () => ({ name: 's'.repeat(253) })),
    },
  ],
  [
    'CAPTAddon',
    {
      clusterSelector: { matchLabels: manyLabels },
      manifests: many(4, (n) => ({ name: `m${n}`, inline: 'x'.repeat(262_144) })),
      variables: many(64, (n) => ({ name: `V${n}`, value: 'x'.repeat(4096) })),
    },
  ],
])('the largest %s is judged within the budget of the API server', async (name, spec) => {
  expect(await kube.trial(aSpecimen(kindOf(name), namespace, spec))).toHaveProperty('accepted')
})

test('every field has a bound', () => {
  expect(kinds.flatMap((kind) => unbounded(schemaOf(kind).properties?.['spec'] ?? {}, [kind.kind]))).toEqual([])
})

test('every rule of every kind has its example', () => {
  const shown = new Set([
    ...examples.map(({ says }) => says),
    'an existing VPC is never deleted: remove retainVpcOnDelete',
    'a Fargate profile has no nodes of its own: remove scaling, taints, instanceTypes and capacityType',
  ])
  const said = new Set(kinds.flatMap((kind) => messagesIn(schemaOf(kind).properties?.['spec'] ?? {})))
  expect([...said].filter((message) => !shown.has(message) && !message.includes('cannot be changed'))).toEqual([])
})

test('every field has a description', () => {
  const silent = kinds.flatMap((kind) =>
    undescribed(schemaOf(kind).properties?.['spec'] ?? {}, [kind.kind, 'spec']).concat(
      undescribed(schemaOf(kind).properties?.['status'] ?? {}, [kind.kind, 'status']),
    ),
  )
  expect(silent).toEqual([])
})

function leavesOf(schema: Schema, path: string[] = []): string[][] {
  const children = childrenOf(schema)
  if (children.length === 0) return path.length > 0 ? [path] : []
  return children.flatMap(([name, child]) => leavesOf(child, name === '' ? path : [...path, name]))
}

function undescribed(schema: Schema, path: string[]): string[] {
  const own = schema.description ? [] : [path.join('.')]
  const ofItems = path.at(-1) === '[]'
  return [
    ...(ofItems ? [] : own),
    ...childrenOf(schema).flatMap(([name, child]) => undescribed(child, [...path, name || '[]'])),
  ]
}

function unbounded(schema: Schema, path: string[]): string[] {
  const bound = { string: schema.enum ? 'enum' : 'maxLength', array: 'maxItems', integer: 'maximum' }[schema.type ?? '']
  const isMap = schema.additionalProperties !== undefined && schema['maxProperties'] === undefined
  const own = (bound !== undefined && schema[bound] === undefined) || isMap ? [path.join('.')] : []
  return [...own, ...childrenOf(schema).flatMap(([name, child]) => unbounded(child, [...path, name || '[]']))]
}
