import { describe, expect, test } from 'vitest'
import {
  anEks,
  but,
  cluster,
  controlPlane,
  existing,
  network,
  noted,
  ofCP,
  waitingSeen,
} from '../../../test/controlplanes.ts'
import type { JsonRecord } from '../../api/record.ts'
import { askForEks, connectionName, eksApplyName, eksNameOf, regionOf, servicesOf } from './eks.ts'
import type { Seen } from './seen.ts'

const wish = (seen: Seen, of = cluster) => {
  const effect = askForEks(seen, of, '1.34')
  if (effect.do !== 'apply') throw new Error(effect.do)
  return effect.object as unknown as { metadata: object; spec: Record<string, unknown> }
}

const of = (range: string) => ({ services: { cidrBlocks: [range] } })
const asking = (run: 'new' | 'failed' | 'done') =>
  but(anEks(run), { spec: { variables: { service_ipv4_cidr: '10.96.0.0/16' } } })

describe('what Terraform is asked for', () => {
  test('EKS in the network that was built, whose outputs are followed', () => {
    const { metadata, spec } = wish(waitingSeen)
    expect(metadata).toMatchObject({
      name: 'demo-eks-controlplane',
      namespace: 'team',
      labels: { 'cluster.x-k8s.io/cluster-name': 'demo' },
      ownerReferences: [{ kind: 'CAPTControlPlane', name: 'demo', controller: true }],
    })
    expect(spec).toEqual({
      templateRef: { name: 'eks' },
      variables: {
        cluster_name: 'demo',
        kubernetes_version: '1.34',
        region: 'ap-northeast-1',
        tags: {},
        environment: 'production',
      },
      variablesFrom: ['vpc_id', 'private_subnets', 'public_subnets', 'azs'].map((name) => ({
        name,
        apply: { name: 'demo-vpc', output: name },
        optional: name !== 'vpc_id',
      })),
      writeConnectionSecretToRef: { name: 'demo-eks-connection' },
      retainOnDelete: false,
    })
  })

  test('with all that a user can say of it', () => {
    const spec = {
      workspaceTemplateRef: { name: 'eks', namespace: 'shared' },
      additionalTags: { team: 'a' },
      eksClusterName: 'demo-eks',
      providerConfigRef: { kind: 'ProviderConfig', name: 'acme' },
      destructiveChanges: 'Allow',
      retainOnDelete: true,
      controlPlaneConfig: {
        endpointAccess: { public: true, private: false, publicCIDRs: ['203.0.113.0/24'] },
        addons: [{ name: 'vpc-cni', version: 'v1', configurationValues: '{}' }, { name: 'coredns' }],
        upgradePolicy: 'Extended',
        serviceIPv4CIDR: '10.100.0.0/16',
      },
    }
    const { variables, ...rest } = wish(ofCP(waitingSeen, { spec })).spec
    expect(variables).toMatchObject({
      cluster_name: 'demo-eks',
      tags: { team: 'a' },
      endpoint_public_access: true,
      endpoint_private_access: false,
      endpoint_public_access_cidrs: ['203.0.113.0/24'],
      addons: { 'vpc-cni': { addon_version: 'v1', configuration_values: '{}' }, coredns: {} },
      upgrade_policy: 'EXTENDED',
      service_ipv4_cidr: '10.100.0.0/16',
    })
    expect(rest).toMatchObject({
      templateRef: spec.workspaceTemplateRef,
      providerConfigRef: spec.providerConfigRef,
      destructiveChanges: 'Allow',
      retainOnDelete: true,
    })
  })

  test('in a VPC that is there already, with its subnets', () => {
    const [inner, outer] = [['subnet-0123456789abcdef0'], ['subnet-0123456789abcdef1']]
    const { variables, variablesFrom } = wish({
      ...waitingSeen,
      network: existing({ existingSubnets: { private: inner, public: outer } }),
    }).spec
    expect(variables).toMatchObject({ vpc_id: 'vpc-0123456789abcdef0', private_subnets: inner, public_subnets: outer })
    expect(variablesFrom).toBeUndefined()
  })

  test('in a network that somebody else manages, as its CAPTCluster tells', () => {
    const managed = but(network, {
      ...noted('cluster.x-k8s.io/managed-by'),
      status: { vpcId: 'vpc-0123456789abcdef0', failureDomains: [{ name: 'a' }, { name: 'b' }] },
    })
    const { variables, variablesFrom } = wish({ ...waitingSeen, network: managed }).spec
    expect(variables).toMatchObject({ vpc_id: 'vpc-0123456789abcdef0', azs: ['a', 'b'] })
    expect(variablesFrom).toBeUndefined()
  })

  test('in a network of which another provider knows, nothing is said of it', () => {
    const { variables, variablesFrom } = wish({ ...waitingSeen, network: undefined }).spec
    expect([variables, variablesFrom]).toEqual([
      { cluster_name: 'demo', kubernetes_version: '1.34', tags: {}, environment: 'production' },
      undefined,
    ])
  })

  test('with the ranges that the Cluster names, IPv4 for Services', () => {
    const ranges = { services: { cidrBlocks: ['fd00::/108', '10.96.0.0/12'] }, pods: { cidrBlocks: ['10.0.0.0/16'] } }
    expect(wish(waitingSeen, but(cluster, { spec: { clusterNetwork: ranges } })).spec['variables']).toMatchObject({
      service_ipv4_cidr: '10.96.0.0/12',
      pod_cidr_blocks: ['10.0.0.0/16'],
    })
  })

  test('in the account where it is, whatever is wanted later', () => {
    const providerConfigRef = { kind: 'ClusterProviderConfig', name: 'acme' }
    const wanting = ofCP(waitingSeen, { spec: { providerConfigRef } })
    expect(wish(wanting).spec['providerConfigRef']).toEqual(providerConfigRef)
    expect(wish({ ...wanting, eks: anEks('done') }).spec).not.toHaveProperty('providerConfigRef')
  })

  test.each<[string, object, object, string | undefined, string]>([
    ['what is wanted, before Terraform was run', asking('new'), of('10.97.0.0/16'), '10.97.0.0/16', ''],
    ['what it was', asking('done'), of('10.96.0.0/16'), '10.96.0.0/16', ''],
    ['what it was, though nobody says so any more', asking('done'), {}, '10.96.0.0/16', ''],
    ['what it was, though another is wanted', asking('done'), of('10.97.0.0/16'), '10.96.0.0/16', 'to 10.97.0.0/16'],
    ['what it was, as long as it may be there', asking('failed'), of('10.97.0.0/16'), '10.96.0.0/16', 'asks for'],
    ['what EKS chose', anEks('done'), of('10.97.0.0/16'), undefined, 'the range they were given'],
  ])('with a range of Services that is %s', (_, eks, clusterNetwork, range, notFollowed) => {
    const seen = { ...waitingSeen, eks } as Seen
    const named = but(cluster, { spec: { clusterNetwork } })
    expect((wish(seen, named).spec['variables'] as JsonRecord)['service_ipv4_cidr']).toBe(range)
    expect(servicesOf(seen, named).notFollowed).toContain(notFollowed)
    expect(servicesOf(seen, named).notFollowed === '').toBe(notFollowed === '')
  })

  test("from the network's apply under the name that the predecessor wrote down", () => {
    const old = but(network, { spec: { workspaceTemplateApplyName: 'old-vpc' } })
    expect(JSON.stringify(wish({ ...waitingSeen, network: old }).spec['variablesFrom'])).toContain('"name":"old-vpc"')
  })
})

describe('names', () => {
  test('are those of the predecessor where it wrote one down', () => {
    expect(eksApplyName(but(controlPlane, { spec: { workspaceTemplateApplyName: 'old' } }))).toBe('old')
    const eks = but(anEks('done'), { spec: { writeConnectionSecretToRef: { name: 'old-connection' } } })
    expect(connectionName(controlPlane, eks)).toBe('old-connection')
  })
  test('of applies are never longer than the API server allows', () => {
    const name = 'n'.repeat(63)
    expect(eksApplyName(but(controlPlane, { metadata: { name } }))).toMatch(/^n{42}-[0-9a-f]{20}$/)
    const from = wish({ ...waitingSeen, network: but(network, { metadata: { name } }) }).spec['variablesFrom']
    expect(JSON.stringify(from)).toMatch(/"name":"n{42}-[0-9a-f]{20}"/)
  })
  test('in EKS and of Secrets are those of the Cluster, whatever a topology calls the control plane', () => {
    const random = but(controlPlane, { metadata: { name: 'demo-x7k2p' }, spec: { eksClusterName: undefined } })
    expect(eksNameOf(random)).toBe('demo')
    expect(connectionName(random, undefined)).toBe('demo-eks-connection')
    expect(eksApplyName(random)).toBe('demo-x7k2p-eks-controlplane')
  })
})

test.each<[string, Parameters<typeof regionOf>[0], string | undefined]>([
  ['its own', ofCP(waitingSeen, { spec: { controlPlaneConfig: { region: 'eu-west-1' } } }), 'eu-west-1'],
  ['that of its network', waitingSeen, 'ap-northeast-1'],
  [
    'what the predecessor noted on the Cluster',
    {
      ...waitingSeen,
      network: undefined,
      cluster: but(cluster, { metadata: { annotations: { 'cluster.x-k8s.io/region': 'us-east-1' } } }),
    },
    'us-east-1',
  ],
  [
    'where it was asked for, while its network is not there',
    {
      ...waitingSeen,
      network: 'missing',
      eks: but(anEks('done'), { spec: { variables: { region: 'eu-north-1' } } }),
    },
    'eu-north-1',
  ],
  ['none', { ...waitingSeen, network: undefined }, undefined],
])('the region is %s', (_, seen, region) => {
  expect(regionOf(seen)).toBe(region)
})
