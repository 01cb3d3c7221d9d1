import { expect, test } from 'vitest'
import { at } from '../../../test/applies.ts'
import { anApply, anEks, aSecretOf, but, cluster, controlPlane, ensure, network } from '../../../test/controlplanes.ts'
import { CAPTCluster } from '../../api/captcluster.ts'
import { CAPTControlPlane, CAPTControlPlaneTemplate } from '../../api/captcontrolplane.ts'
import { Cluster, Secret } from '../../api/neighbours.ts'
import { type Key, type KubeObject, keyOf, type Resource, tellKey } from '../../api/resource.ts'
import { WorkspaceTemplate } from '../../api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Read } from '../../runtime/cache.ts'
import type { Controller } from '../../runtime/controller.ts'
import type { Indexes } from '../../runtime/store.ts'
import { captClusterController } from '../captcluster/index.ts'
import { controlPlaneController } from './index.ts'
import { nowhere } from './outside.ts'

const topology = but(controlPlane, {
  metadata: { name: 'demo-x7k2p' },
  spec: { ...ensure.spec, eksClusterName: 'prod' },
})
const control = controlPlaneController(nowhere)
const indexesOf = (resource: Resource) =>
  Object.assign(
    {},
    ...control.wokenBy.filter((each) => each.resource.kind === resource.kind).map((each) => each.indexes),
  ) as Indexes<KubeObject>
const valuesAt = (resource: Resource, index: string, object: KubeObject) => indexesOf(resource)[index]?.(object) ?? []
const adopted = but(anApply('old', topology, 'done'), { spec: { writeConnectionSecretToRef: { name: 'old-outputs' } } })
const usual = but(anApply('any', topology, 'done'), {
  spec: { writeConnectionSecretToRef: { name: 'demo-eks-connection' } },
})
const ofNetwork = but(anApply('demo-vpc', network, 'done'), { spec: { writeConnectionSecretToRef: { name: 'vpc' } } })
const named = but(cluster, {
  spec: {
    controlPlaneRef: { apiGroup: CAPTControlPlane.group, kind: 'CAPTControlPlane', name: 'demo-x7k2p' },
    topology: { classRef: { name: 'eks', namespace: 'classes' } },
  },
})
const read = {
  get: (resource: Resource, { name }: Key) =>
    name !== 'demo' ? undefined : resource === Cluster ? named : resource === CAPTCluster ? network : undefined,
  keysAt: (resource: Resource, index: string, value: string) =>
    [topology, named, network]
      .filter(({ kind }) => kind === resource.kind)
      // A network is found as a control plane is.
      .filter((each) => valuesAt(each === network ? CAPTControlPlane : resource, index, each).includes(value))
      .map(keyOf),
  byIndex: (resource: Resource, index: string, value: string) =>
    [adopted, usual, ofNetwork].filter((each) => indexesOf(resource)[index]?.(each).includes(value)),
} as unknown as Read

function woken({ wokenBy, kind }: Controller, resource: Resource, object: KubeObject) {
  const keys = wokenBy
    .filter((each) => each.resource.kind === resource.kind)
    .flatMap((each) => each.wakes(object, kind, read))
  return [...new Set(keys.map(tellKey))]
}
const ofTopology = (namespace: string): KubeObject => ({
  apiVersion: 'x/v1',
  kind: 'CAPTControlPlaneTemplate',
  metadata: { namespace, name: 'capt-eks' },
})
const aTemplate = (name: string): KubeObject => ({ apiVersion: 'x/v1', kind: 'WorkspaceTemplate', metadata: at(name) })
const it = 'team/demo-x7k2p'

test.each<[string, Resource, KubeObject, readonly string[]]>([
  ['itself', CAPTControlPlane, topology, [it]],
  [
    'one that has the same name in EKS',
    CAPTControlPlane,
    but(controlPlane, { spec: { eksClusterName: 'prod' } }),
    ['team/demo', it],
  ],
  ['its apply', WorkspaceTemplateApply, anApply('any', topology, 'done'), [it]],
  ['the spot role it waits for', WorkspaceTemplateApply, anApply('spot-role-default', undefined, 'done'), [it]],
  ['the template that says in which account', WorkspaceTemplate, aTemplate('eks'), [it]],
  ['no template of others', WorkspaceTemplate, aTemplate('vpc'), []],
  ['the template of its class', CAPTControlPlaneTemplate, ofTopology('classes'), [it]],
  ['no template of classes elsewhere', CAPTControlPlaneTemplate, ofTopology('team'), []],
  ['its Cluster', Cluster, named, [it]],
  ['its network', CAPTCluster, network, [it]],
  ['its connection', Secret, aSecretOf('demo-eks-connection', undefined), [it]],
  ['its connection, when that has a name of its own', Secret, aSecretOf('old-outputs', undefined), [it]],
  ['the connection of the network', Secret, aSecretOf('vpc', undefined), []],
  ['a Secret of somebody else', Secret, aSecretOf('demo-password', 'x'), []],
  ['the apply of the network', WorkspaceTemplateApply, anApply('demo-vpc', network, 'done'), []],
])('a control plane is woken by %s', (_, resource, object, keys) => {
  expect(woken(control, resource, object)).toEqual(keys)
})

test.each<[string, Resource, KubeObject, readonly string[]]>([
  ['itself', CAPTCluster, network, ['team/demo']],
  ['its apply', WorkspaceTemplateApply, anApply('demo-vpc', network, 'done'), ['team/demo']],
  ['its Cluster', Cluster, named, ['team/demo']],
  ['the control plane beside it', CAPTControlPlane, topology, ['team/demo']],
  ['the apply of the control plane', WorkspaceTemplateApply, anEks('done'), []],
  [
    'the Cluster of another provider',
    Cluster,
    but(named, { spec: { infrastructureRef: { apiGroup: 'x', kind: 'CAPTCluster', name: 'demo' } } }),
    [],
  ],
])('a network is woken by %s', (_, resource, object, keys) => {
  expect(woken(captClusterController, resource, object)).toEqual(keys)
})
