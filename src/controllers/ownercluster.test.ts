import { expect, test } from 'vitest'
import { but, cluster, controlPlane, network } from '../../test/controlplanes.ts'
import { CAPTCluster } from '../api/captcluster.ts'
import type { Cluster } from '../api/neighbours.ts'
import type { Read } from '../runtime/cache.ts'
import { byClassNamespace, namedBy, ofCluster, ownerClusterOf } from './ownercluster.ts'

const readOf = (only: Cluster) =>
  ({
    get: (_: unknown, { name }: { name: string }) => (name === 'demo' ? only : undefined),
    byIndex: (_: unknown, index: string, value: string) =>
      ofCluster('infrastructureRef').indexes?.[index]?.(only).includes(value) ? [only] : [],
  }) as unknown as Read
const read = readOf(cluster)
const owned = (...owners: readonly object[]) => but(network, { metadata: { ownerReferences: owners } })
const owner = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: 'demo', uid: 'x' }

test.each<[string, typeof network, unknown]>([
  ['the Cluster that owns it', owned(owner), cluster],
  [
    'also under an older version, and as one of several',
    owned({ ...owner, kind: 'Other', name: 'y' }, { ...owner, apiVersion: 'cluster.x-k8s.io/v1beta1' }),
    cluster,
  ],
  ['none, before core has claimed it', owned(), 'none'],
  ['none, if another group has such a kind', owned({ ...owner, apiVersion: 'x/v1' }), 'none'],
  ['gone, if it is not there any more', owned({ ...owner, name: 'left' }), 'gone'],
])('its Cluster is %s', (_, object, found) => {
  expect(ownerClusterOf(read, object)).toBe(found)
})

test('what was stripped of its owner belongs to the Cluster that names it while that is paused, and only then', () => {
  const paused = but(cluster, { spec: { paused: true } })
  expect(ownerClusterOf(readOf(paused), owned())).toBe(paused)
  const plane = but(controlPlane, { metadata: { ownerReferences: [] } })
  expect(ownerClusterOf(readOf(paused), plane)).toBe(paused)
  expect(ownerClusterOf(readOf(paused), but(network, { metadata: { name: 'x', ownerReferences: [] } }))).toBe('none')
})

test('what a Cluster names is found only when it is of our kind', () => {
  const ref = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'CAPTCluster', name: 'demo' }
  const find = (infrastructureRef: object) =>
    namedBy(read, but(cluster, { spec: { infrastructureRef } }), 'infrastructureRef', CAPTCluster)
  expect(find(ref)).toBeDefined()
  expect(find({ ...ref, kind: 'AWSCluster' })).toBeUndefined()
  expect(find({ ...ref, apiGroup: 'x' })).toBeUndefined()
  expect(find({ ...ref, name: 'left' })).toBe('missing')
})

test('of a Cluster is kept what we read, and nothing that makes thousands of them heavy', () => {
  const conditions = ['Available', 'RemoteConnectionProbe'].map((type) => ({
    type,
    status: 'True',
    reason: 'x',
    message: '',
    lastTransitionTime: '',
  }))
  const { resource } = ofCluster('controlPlaneRef')
  const kept = resource.keep(
    but(cluster, {
      spec: { topology: { classRef: { name: 'eks', namespace: 'classes' }, variables: ['big'] }, paused: true },
      status: { conditions },
      metadata: { managedFields: [{}] },
    }),
  )
  expect(JSON.stringify(kept)).not.toMatch(/big|managedFields|"Available"/)
  expect(kept).toMatchObject({
    spec: { paused: true, topology: { classRef: { name: 'eks', namespace: 'classes' } } },
    status: { initialization: { infrastructureProvisioned: true }, conditions: [{ type: 'RemoteConnectionProbe' }] },
  })
  const { status: _, spec: __, ...bare } = cluster
  expect(resource.keep(bare)).toMatchObject({ metadata: { name: 'demo' } })
})

test.each<[string, object, readonly string[]]>([
  ['where its class is', { topology: { classRef: { name: 'eks', namespace: 'classes' } } }, ['classes']],
  ['where it is itself, when its class says no other', { topology: { classRef: { name: 'eks' } } }, ['team']],
  ['nowhere, when it has no class', {}, []],
])('the templates of a Cluster are %s', (_, spec, namespaces) => {
  const { indexes } = ofCluster('controlPlaneRef')
  expect(indexes?.[byClassNamespace]?.(but(cluster, { spec }))).toEqual(namespaces)
})
