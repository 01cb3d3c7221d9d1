import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { kinds } from '../../src/api/kinds.ts'
import { crdOf } from './crd.ts'

const manifests = resolve(import.meta.dirname, '../../manifests')

describe.each(kinds)('the CRD of $kind', (kind) => {
  const crd = crdOf(kind)

  test('is named as Cluster API computes the name: the plural of its kind in lower case', () => {
    const singular = kind.kind.toLowerCase()
    const plural = singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`
    expect(crd.metadata.name).toBe(`${plural}.${kind.group}`)
  })

  test('says which version speaks which contract exactly when core reads it', () => {
    expect(crd.metadata.labels['cluster.x-k8s.io/v1beta2']).toBe(kind.isContract ? 'v1beta1' : undefined)
    expect(crd.metadata.labels['cluster.x-k8s.io/provider']).toMatch(/^(infrastructure|control-plane)-capt$/)
  })

  test('holds nothing that clusterctl would take for a variable of its own', () => {
    expect(readFileSync(join(manifests, `crds/${crd.metadata.name}.yaml`), 'utf8')).not.toContain('${')
  })
})
