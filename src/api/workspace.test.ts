import { expect, test } from 'vitest'
import { packageOf } from './workspace.ts'

const definition = (apiVersion: string) => ({
  metadata: { name: 'it', ownerReferences: [{ apiVersion, kind: 'ProviderRevision', name: 'theirs', uid: '1' }] },
})

test.each([
  ['pkg.crossplane.io/v1', 'theirs'],
  ['crossplane.io/v1', 'theirs'],
  ['notcrossplane.io/v1', undefined],
  ['helm.cattle.io/v1', undefined],
])('a kind that an object of %s owns is of the package %s', (apiVersion, name) => {
  expect(packageOf(definition(apiVersion))?.name).toBe(name)
})

test('a kind that nobody owns is of no package', () => {
  expect(packageOf({ metadata: { name: 'it' } })).toBeUndefined()
})
