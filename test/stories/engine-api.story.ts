// The Workspace API that we serve takes what was recorded of the real provider-terraform, and keeps every field of it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from '../bed/kube.ts'
import { theBed } from '../bed/story.ts'

const bed = theBed()
const { kube } = bed

const recorded = parseAllDocuments(readFileSync(join(import.meta.dirname, 'workspaces.yaml'), 'utf8')).map(
  (each) => each.toJS() as KubeObject,
)

// Tried, not kept: an engine is at work here, and would write a status of its own. What is paused it leaves alone.
test.each(recorded)(
  '$apiVersion $kind/$metadata.name is stored as it was recorded, status included',
  async (object) => {
    const isNamespaced = object.apiVersion.startsWith('tf.m.') && object.kind !== 'ClusterProviderConfig'
    const namespace = await bed.namespace('engine')
    const { status, ...recordedWish } = object as KubeObject & { status?: object }
    const wish = {
      ...recordedWish,
      metadata: {
        ...object.metadata,
        name: `${object.metadata.name}-${namespace}`,
        ...(isNamespaced && { namespace }),
        annotations: { ...object.metadata.annotations, 'crossplane.io/paused': 'true' },
      },
    }
    await kube.apply(wish)
    const patch = ['--type=merge', '--patch', JSON.stringify(status ? { status } : {})]
    const tried = [
      'patch',
      '-f',
      '-',
      '--dry-run=server',
      '-o',
      'json',
      ...(status ? ['--subresource=status'] : []),
      ...patch,
    ]
    const stored = JSON.parse(await kube.kubectl(tried, JSON.stringify(wish))) as KubeObject
    expect(stored).toMatchObject({ spec: object['spec'], ...(status && { status }) })
    await kube.remove(wish)
  },
)

test('a bare Workspace gets the defaults of the real one, in either scope', async () => {
  const spec = { forProvider: { source: 'Inline', module: 'x' } }
  const defaults = { forProvider: { entrypoint: '', remotePullPolicy: 'Always' }, managementPolicies: ['*'] }
  const clusterWide = { apiVersion: 'tf.upbound.io/v1beta1', kind: 'Workspace', metadata: { name: 'bare' }, spec }
  expect(await kube.trial(clusterWide)).toMatchObject({
    accepted: { spec: { ...defaults, deletionPolicy: 'Delete', providerConfigRef: { name: 'default' } } },
  })
  const namespaced = {
    apiVersion: 'tf.m.upbound.io/v1beta1',
    kind: 'Workspace',
    metadata: { name: 'bare', namespace: 'default' },
    spec,
  }
  const tried = await kube.trial(namespaced)
  expect(tried).toMatchObject({
    accepted: { spec: { ...defaults, providerConfigRef: { kind: 'ClusterProviderConfig', name: 'default' } } },
  })
  expect(tried).not.toHaveProperty('accepted.spec.deletionPolicy')
})

test('the APIs of the other engine are accepted too', async () => {
  const file = join(import.meta.dirname, '../bed/other-engine-crds.yaml')
  await kube.kubectl(['apply', '--server-side', '--dry-run=server', '--field-manager=bed', '-f', file])
  expect(readFileSync(file, 'utf8').match(/^ {2}name: .*opentofu/gm)).toHaveLength(7)
})
