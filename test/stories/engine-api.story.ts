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

test.each(recorded)(
  '$apiVersion $kind/$metadata.name is stored as it was recorded, status included',
  async (object) => {
    const isNamespaced = object.apiVersion.startsWith('tf.m.') && object.kind !== 'ClusterProviderConfig'
    const namespace = await bed.namespace('engine')
    const named = { ...object, metadata: { ...object.metadata, ...(isNamespaced && { namespace }) } }
    const { status, ...wish } = named as KubeObject & { status?: object }
    await kube.apply(wish)
    if (status) await kube.patch(wish, { status }, 'status')
    const stored = JSON.parse(await kube.kubectl(['get', '--raw', pathOf(named)])) as KubeObject
    expect(stored).toMatchObject({ spec: object['spec'], ...(status && { status }) })
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

function pathOf({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): string {
  const within = namespace === undefined ? '' : `/namespaces/${namespace}`
  return `/apis/${apiVersion}${within}/${kind.toLowerCase()}s/${name}`
}
