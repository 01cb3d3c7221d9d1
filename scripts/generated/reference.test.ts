import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { CAPTAddonInstance } from '../../src/api/captaddoninstance.ts'
import { kinds } from '../../src/api/kinds.ts'
import { fieldsOf, isBuilt, unreadFields } from './reference.ts'

const src = resolve(import.meta.dirname, '../../src')

test('a field that no source mentions is found', () => {
  expect(unreadFields(CAPTAddonInstance, 'const { addonName } = spec')).toEqual(['clusterName'])
  expect(unreadFields(CAPTAddonInstance, 'const { addonName, clusterName } = spec')).toEqual([])
})

test('a controller that is built reads every field that is its to read', () => {
  const unread = kinds
    .filter(({ readBy }) => isBuilt(readBy))
    .flatMap((kind) => {
      const files = globSync([`${src}/controllers/${kind.readBy}/*.ts`, `${src}/{terraform,secrets,addons}/*.ts`])
      const sources = files.filter((file) => !file.endsWith('.test.ts')).map((file) => readFileSync(file, 'utf8'))
      return unreadFields(kind, sources.join('\n')).map((path) => `${kind.kind} ${path}`)
    })
  expect(unread).toEqual([])
})

test('the fields of a list and of a map are found too', () => {
  const schema = {
    properties: {
      list: { items: { properties: { a: {} } } },
      map: { additionalProperties: { properties: { b: {} } } },
    },
  }
  expect(fieldsOf(schema).map(({ path }) => path)).toEqual(['list', 'list[].a', 'map', 'map.*.b'])
})
