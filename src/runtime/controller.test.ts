import { expect, test } from 'vitest'
import { CAPTCluster } from '../api/captcluster.ts'
import { Secret } from '../api/neighbours.ts'
import type { KubeObject, OwnerReference } from '../api/resource.ts'
import { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import type { Read } from './cache.ts'
import { itself, mapped, ownerOf } from './controller.ts'

const owner = (apiVersion: string, kind: string, name: string): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid: name,
})
const owned = (...ownerReferences: readonly OwnerReference[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Any',
  metadata: { name: 'child', namespace: 'default', ownerReferences },
})
const nothing: Read = { get: () => undefined, list: () => [], byIndex: () => [], keysAt: () => [] }
const group = 'infrastructure.cluster.x-k8s.io'

test.each<[string, KubeObject, readonly string[]]>([
  ['nobody', owned(), []],
  ['one of the kind', owned(owner(`${group}/v1beta1`, 'CAPTCluster', 'demo')), ['demo']],
  ['one of a version to come', owned(owner(`${group}/v2`, 'CAPTCluster', 'demo')), ['demo']],
  ['one of another kind', owned(owner(`${group}/v1beta1`, 'CAPTMachine', 'demo')), []],
  ['one of another group', owned(owner('example.com/v1beta1', 'CAPTCluster', 'demo')), []],
  [
    'two',
    owned(owner(`${group}/v1beta1`, 'CAPTCluster', 'a'), owner(`${group}/v1beta1`, 'CAPTCluster', 'b')),
    ['a', 'b'],
  ],
])('a child of %s wakes its owners of the kind, in its own namespace', (_, child, woken) => {
  const keys = ownerOf(WorkspaceTemplateApply).wakes(child, CAPTCluster, nothing)
  expect(keys).toEqual(woken.map((name) => ({ namespace: 'default', name })))
})

test('an object wakes itself, wherever it is', () => {
  const metadata = { name: 'demo' }
  expect(itself(CAPTCluster).wakes({ ...owned(), metadata }, CAPTCluster, nothing)).toEqual([{ name: 'demo' }])
})

test('a source says what it watches, no more than it was told', () => {
  const scope = { labels: 'capt.appthrust.io/watch' }
  expect(mapped(Secret, () => [], { scope })).toMatchObject({ resource: Secret, scope })
})
