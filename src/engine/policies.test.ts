import { expect, test } from 'vitest'
import { type ManagementPolicy, type WorkspaceSpec, workspaceAPIs } from '../api/workspace.ts'
import { isOrphan, orphaned } from '../terraform/policies.ts'
import { policiesOf } from './policies.ts'

const told = (managementPolicies: readonly ManagementPolicy[], deletionPolicy?: 'Delete' | 'Orphan') => {
  const spec: WorkspaceSpec = {
    forProvider: { source: 'Inline', module: '' },
    managementPolicies,
    ...(deletionPolicy && { deletionPolicy }),
  }
  const policies = policiesOf(spec)
  if (policies.is !== 'allowed') return policies.is
  return (['create', 'update', 'delete'] as const).filter((each) => policies[each]).join(' ')
}

test.each<[readonly ManagementPolicy[], string]>([
  [['*'], 'create update delete'],
  [['Observe', 'Create', 'Update', 'LateInitialize', 'Delete'], 'create update delete'],
  [['Observe'], ''],
  [[], 'paused'],
  [['Observe', 'Create', 'Update', 'Delete'], 'create update delete'],
  [['Observe', 'Create', 'Update', 'LateInitialize'], 'create update'],
  [['Observe', 'Create', 'Update'], 'create update'],
  [['Observe', 'Create', 'Delete', 'LateInitialize'], 'create delete'],
  [['Observe', 'Create', 'LateInitialize'], 'create'],
  [['Observe', 'Create', 'Delete'], 'create delete'],
  [['Observe', 'Create'], 'create'],
  [['Observe', 'Delete'], 'delete'],
  [['Observe', 'Update'], 'update'],
  [['Observe', 'LateInitialize'], ''],
  [['Observe', 'Observe'], ''],
  [['Create'], 'unsupported'],
  [['*', 'Observe'], 'unsupported'],
])('managementPolicies %j allow: %s', (policies, allowed) => {
  expect(told(policies)).toBe(allowed)
})

test.each([
  undefined,
  ['*'],
  ['Observe', 'Create', 'Update', 'LateInitialize', 'Delete'],
  ['Observe', 'Create', 'Delete'],
])(
  'what the manager makes an orphan of is none that an engine destroys, whatever was allowed before: %j',
  (managementPolicies) => {
    for (const api of Object.values(workspaceAPIs)) {
      for (const deletionPolicy of api.isNamespaced ? [undefined] : [undefined, 'Delete', 'Orphan']) {
        const spec = {
          forProvider: { source: 'Inline', module: '' },
          managementPolicies,
          deletionPolicy,
        } as WorkspaceSpec
        const isDestroyed = (each: WorkspaceSpec) => {
          const policies = policiesOf(each)
          return policies.is === 'allowed' && policies.delete
        }
        expect(isDestroyed({ ...spec, ...orphaned(api, spec) })).toBe(false)
        expect(isOrphan(api, spec)).toBe(!isDestroyed(spec))
      }
    }
  },
)

test('a spec that says nothing allows everything', () => {
  expect(policiesOf({ forProvider: { source: 'Inline', module: '' } })).toEqual({
    is: 'allowed',
    create: true,
    update: true,
    delete: true,
  })
})

test('a set that is not supported is told in the words of Crossplane', () => {
  const spec: WorkspaceSpec = {
    forProvider: { source: 'Inline', module: '' },
    managementPolicies: ['Create', 'Delete'],
  }
  expect(policiesOf(spec)).toEqual({
    is: 'unsupported',
    why: '`spec.managementPolicies` is set to a value([Create Delete]) which is not supported. Check docs for supported policies',
  })
})

test.each<[readonly ManagementPolicy[], boolean]>([
  [['*'], false],
  [['Observe', 'Create', 'Update'], false],
  [['Observe', 'Create', 'Update', 'Delete'], true], // as Crossplane: said outright
])('with deletionPolicy Orphan, %j: is it destroyed: %s', (policies, isDestroyed) => {
  expect(told(policies, 'Orphan').includes('delete')).toBe(isDestroyed)
})
