// Every rule of every kind, on the real API server: an example it refuses, with the sentence it says, and one it accepts.
import { describe, expect, test } from 'vitest'
import { crdOf, specOf } from '../../scripts/generated/crd.ts'
import { fieldsOf } from '../../scripts/generated/reference.ts'
import type { Kind } from '../../src/api/kind.ts'
import { kinds } from '../../src/api/kinds.ts'
import { theBed } from '../bed/story.ts'
import { aSpecimen, changed, ruleExamples, specimenSpec } from '../specimens.ts'

const bed = theBed()
const { kube } = bed
const namespace = 'default'

const kindOf = (name: string): Kind => {
  const kind = kinds.find((each) => each.kind === name)
  if (!kind) throw new Error(`no kind ${name}`)
  return kind
}

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
    for (const { path } of fieldsOf(specOf(kind))) expect(explained).toContain(path.split('.').at(-1))
  })
})

test.each(ruleExamples)('$kind: $says', async ({ kind: name, with: base, at, not, but, says }) => {
  const kind = kindOf(name)
  expect(await kube.trial(aSpecimen(kind, namespace, changed(kind, at, not, base)))).toMatchObject({
    refused: expect.stringContaining(says) as string,
  })
  expect(await kube.trial(aSpecimen(kind, namespace, changed(kind, at, but, base)))).toHaveProperty('accepted')
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

test.each([
  ['region', 'us-east-1'],
  ['serviceIPv4CIDR', '10.100.0.0/16'],
])('CAPTControlPlane keeps its %s also when all of controlPlaneConfig is taken away', async (field, value) => {
  const kind = kindOf('CAPTControlPlane')
  const own = await bed.namespace('kept')
  const controlPlane = aSpecimen(kind, own, changed(kind, `controlPlaneConfig.${field}`, value))
  await kube.apply(controlPlane)
  await expect(kube.patch(controlPlane, { spec: { controlPlaneConfig: null } })).rejects.toThrow(
    `${field} cannot be changed`,
  )
})

test('CAPTControlPlane takes a range of Services only until the cluster is there', async () => {
  const kind = kindOf('CAPTControlPlane')
  const own = await bed.namespace('ranged')
  const controlPlane = aSpecimen(kind, own)
  await kube.apply(controlPlane)
  await kube.patch(controlPlane, { status: { version: 'v1.34.0' } }, 'status')
  const setRange = async () =>
    kube.patch(controlPlane, { spec: { controlPlaneConfig: { serviceIPv4CIDR: '10.100.0.0/16' } } })
  await expect(setRange()).rejects.toThrow('serviceIPv4CIDR cannot be set any more')
  await kube.patch(controlPlane, { status: { version: null } }, 'status')
  await setRange()
  await kube.patch(controlPlane, { status: { version: 'v1.34.0' } }, 'status')
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
