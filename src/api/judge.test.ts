import { expect, test } from 'vitest'
import { CAPTCluster } from './captcluster.ts'
import { CAPTMachineDeployment } from './captmachinedeployment.ts'
import { judge } from './judge.ts'
import { WorkspaceTemplateApply } from './workspacetemplateapply.ts'

const network = { region: 'ap-northeast-1', vpcTemplateRef: { name: 'vpc' } }

test('a good object has no complaint', () => {
  expect(judge(CAPTCluster, { metadata: { name: 'demo' }, spec: network })).toEqual([])
})

test('a complaint names the place and says what to write', () => {
  expect(judge(CAPTCluster, { spec: { ...network, region: 'tokyo' } })).toEqual([
    'spec.region: write an AWS region such as ap-northeast-1 or us-gov-west-1',
  ])
  expect(judge(CAPTCluster, { spec: { ...network, existingVpcId: 'vpc-0123456789abcdef0' } })).toEqual([
    'spec: set exactly one of vpcTemplateRef (CAPT builds the VPC) and existingVpcId (there is one already)',
  ])
})

test('a name that does not fit into labels is a complaint of its own', () => {
  expect(judge(CAPTCluster, { metadata: { name: 'n'.repeat(64) }, spec: network })).toEqual([
    'metadata.name: has more than 63 characters: choose a shorter one',
  ])
})

test('rules are judged after defaults are filled in, and a field that is null is one that is not there', () => {
  const template = { spec: { workspaceTemplateRef: { name: 'node' } } }
  expect(judge(CAPTMachineDeployment, { spec: { template, minReadySeconds: 600 } })).toHaveLength(1)
  expect(judge(CAPTMachineDeployment, { spec: { template, minReadySeconds: null, selector: null } })).toEqual([])
})

test('null is a value where any JSON is', () => {
  expect(judge(WorkspaceTemplateApply, { spec: { templateRef: { name: 'a' }, variables: { a: null } } })).toEqual([])
})

test('an object without a spec is told so', () => {
  expect(judge(CAPTCluster, {})).toHaveLength(1)
})
