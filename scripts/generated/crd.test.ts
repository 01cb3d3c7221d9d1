import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { kinds } from '../../src/api/kinds.ts'
import { ruleExamples } from '../../test/specimens.ts'
import { childrenOf, crdOf, messagesIn, type Schema, specOf, statusOf } from './crd.ts'

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

  test('describes every field', () => {
    expect([...undescribed(specOf(kind), ['spec']), ...undescribed(statusOf(kind), ['status'])]).toEqual([])
  })

  test('bounds every field', () => {
    expect([...unbounded(specOf(kind), ['spec']), ...unbounded(statusOf(kind), ['status'])]).toEqual([])
  })

  test('has an example for each of its rules', () => {
    const shown = new Set(ruleExamples.map(({ says }) => says))
    const said = new Set(messagesIn(specOf(kind)))
    expect([...said].filter((message) => !shown.has(message) && !message.includes('cannot be changed'))).toEqual([])
  })

  test('holds nothing that clusterctl would take for a variable of its own', () => {
    expect(readFileSync(join(manifests, `crds/${crd.metadata.name}.yaml`), 'utf8')).not.toContain('${')
  })
})

function undescribed(schema: Schema, path: readonly string[]): string[] {
  const own = schema.description || path.at(-1) === '[]' ? [] : [path.join('.')]
  return [...own, ...childrenOf(schema).flatMap(([name, child]) => undescribed(child, [...path, name || '[]']))]
}

function unbounded(schema: Schema, path: readonly string[]): string[] {
  const bound = { string: schema.enum ? 'enum' : 'maxLength', array: 'maxItems', integer: 'maximum' }[schema.type ?? '']
  const isEndlessMap = schema.additionalProperties !== undefined && schema['maxProperties'] === undefined
  const own = (bound !== undefined && schema[bound] === undefined) || isEndlessMap ? [path.join('.')] : []
  return [...own, ...childrenOf(schema).flatMap(([name, child]) => unbounded(child, [...path, name || '[]']))]
}
