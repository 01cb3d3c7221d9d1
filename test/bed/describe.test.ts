import { expect, test } from 'vitest'
import { describeObject } from './describe.ts'

test('an object is shown whole, without its managed fields', () => {
  const metadata = { name: 'demo', managedFields: [{ manager: 'someone' }] }
  expect(describeObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } })).toBe(
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: demo\ndata:\n  a: b\n',
  )
})

test('what a Secret holds is never shown', () => {
  const shown = describeObject({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'demo' },
    data: { token: 'aHVzaA==' },
  })
  expect(shown).toContain('token: "***"')
  expect(shown).not.toContain('aHVzaA==')
})

test('an object that is not there is said not to be', () => {
  expect(describeObject(undefined)).toBe('(no such object)')
})
