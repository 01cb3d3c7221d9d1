import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { type Dependency, dependencyOnApply, dependencyOnWorkspace, ringOf, tellDependencies } from './dependencies.ts'

function anApply(name: string, uses: readonly string[] = [], waitsFor: readonly string[] = []): WorkspaceTemplateApply {
  return {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
    kind: 'WorkspaceTemplateApply',
    metadata: { name, namespace: 'team', generation: 2 },
    spec: {
      templateRef: { name: 'any' },
      deletionProtection: false,
      retainOnDelete: false,
      variablesFrom: uses.map((other, index) => ({
        name: `v${index}`,
        apply: { name: other, output: 'id' },
        optional: false,
      })),
      waitForWorkspaces: waitsFor.map((other) => ({ name: other })),
    },
  }
}
const saying = (status: 'True' | 'False', reason: string, observedGeneration = 2): WorkspaceTemplateApply => ({
  ...anApply('net'),
  status: {
    conditions: [{ type: 'Ready', status, reason, message: 'as it says', observedGeneration, lastTransitionTime: '' }],
  },
})
const leaving = (apply: WorkspaceTemplateApply): WorkspaceTemplateApply => ({
  ...apply,
  metadata: { ...apply.metadata, deletionTimestamp: '2026-11-16T12:00:00Z' },
})

test.each<[string, WorkspaceTemplateApply, string]>([
  ['one that is ready', saying('True', 'Ready'), 'ready'],
  ['one that was ready before it changed', saying('True', 'Ready', 1), 'waiting'],
  ['one that nobody has looked at', anApply('net'), 'waiting'],
  ['one that is being built', saying('False', 'Creating'), 'waiting'],
  ['one that failed', saying('False', 'TerraformFailed'), 'failed'],
  ['one that waits for one that failed', saying('False', 'DependencyFailed'), 'failed'],
  ['one that is being deleted', leaving(saying('True', 'Ready')), 'waiting'],
])('%s', (_, apply, is) => {
  expect(dependencyOnApply('net', apply).is).toBe(is)
})

test('of many that failed some are told, and those that only wait for one are told as that', () => {
  const one = dependencyOnApply('net', saying('False', 'TerraformFailed'))
  const next = dependencyOnApply('eks', saying('False', 'DependencyFailed'))
  const many = Array.from({ length: 132 }, (_, index) => ({ ...one, name: `net-${index}`, why: 'x'.repeat(4000) }))
  expect(tellDependencies([one, next], undefined, false).message).toBe(
    'net failed: as it says; eks failed: what it waits for has failed',
  )
  const { message } = tellDependencies(many, undefined, false)
  expect(message).toContain(' and 122 more')
  expect(message.length).toBeLessThan(6000)
})

test('where there is no such apply, a Workspace of that name will do', () => {
  const workspace = {
    apiVersion: 'tf.upbound.io/v1beta1',
    kind: 'Workspace',
    metadata: { name: 'net', generation: 1 },
    spec: { forProvider: { source: 'Inline', module: '' } },
  } as const
  const synced = { type: 'Synced', status: 'True', reason: 'ReconcileSuccess', observedGeneration: 1 } as const
  const ready = { type: 'Ready', status: 'True', reason: 'Available', lastTransitionTime: '' } as const
  const conditions = [ready, { ...synced, lastTransitionTime: '' }]
  expect(dependencyOnWorkspace('net', undefined).is).toBe('waiting')
  expect(dependencyOnWorkspace('net', workspace).is).toBe('waiting')
  expect(dependencyOnWorkspace('net', { ...workspace, status: { conditions } }).is).toBe('ready')
  const error = { ...synced, status: 'False', reason: 'ReconcileError', message: 'no', lastTransitionTime: '' } as const
  expect(dependencyOnWorkspace('net', { ...workspace, status: { conditions: [error] } }).is).toBe('failed')
})

const given = (...applies: readonly WorkspaceTemplateApply[]) => {
  const all = new Map(applies.map((apply) => [apply.metadata.name, apply]))
  return (name: string) => all.get(name)
}

test.each<[string, readonly WorkspaceTemplateApply[], string | undefined]>([
  ['nobody', [anApply('a')], undefined],
  ['itself', [anApply('a', ['a'])], 'a a'],
  ['one that waits for it', [anApply('a', ['b']), anApply('b', [], ['a'])], 'a b a'],
  ['a chain', [anApply('a', ['b']), anApply('b', ['c']), anApply('c')], undefined],
  ['others that wait for each other', [anApply('a', ['b']), anApply('b', ['c']), anApply('c', ['b'])], undefined],
  [
    'a diamond that ends at itself',
    [anApply('a', ['b', 'c']), anApply('b', ['d']), anApply('c', ['d']), anApply('d', ['a'])],
    'a b d a',
  ],
])('who waits for %s', (_, applies, ring) => {
  const [first = anApply('none')] = applies
  expect(ringOf(first, given(...applies))?.join(' ')).toBe(ring)
})

test('a ring is found exactly when one can come back to where one started', () => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const edges = fc.array(fc.tuple(fc.constantFrom(...names), fc.constantFrom(...names)), { maxLength: 10 })
  fc.assert(
    fc.property(edges, (all) => {
      const applies = names.map((name) =>
        anApply(
          name,
          all.filter(([from]) => from === name).map(([, to]) => to),
        ),
      )
      for (const apply of applies) {
        const reached = new Set<string>()
        const walk = (name: string): void => {
          for (const [from, to] of all) {
            if (from !== name || reached.has(to)) continue
            reached.add(to)
            walk(to)
          }
        }
        walk(apply.metadata.name)
        const ring = ringOf(apply, given(...applies))
        expect(ring !== undefined).toBe(reached.has(apply.metadata.name))
        for (const [index, name] of (ring ?? []).slice(1).entries()) {
          expect(all).toContainEqual([ring?.[index], name])
        }
      }
    }),
  )
})

test.each<[string, readonly Dependency[], readonly string[] | undefined, string]>([
  ['nothing', [], undefined, 'Ready: '],
  [
    'a failed one before those that are waited for',
    [
      { what: 'Secret', name: 'db', is: 'waiting', why: '' },
      { what: 'Workspace', name: 'net', is: 'failed', why: 'no quota' },
    ],
    undefined,
    'DependencyFailed: net failed: no quota',
  ],
  [
    'Secrets before Workspaces',
    [
      { what: 'Secret', name: 'db', is: 'waiting', why: '' },
      { what: 'Secret', name: 'ca', is: 'ready', why: '' },
      { what: 'Workspace', name: 'net', is: 'waiting', why: 'Creating' },
    ],
    undefined,
    'WaitingForSecrets: waits for db',
  ],
  [
    'all of a kind, and why',
    [
      { what: 'Workspace', name: 'net', is: 'waiting', why: 'Creating' },
      { what: 'Workspace', name: 'dns', is: 'waiting', why: '' },
    ],
    undefined,
    'WaitingForWorkspaces: waits for net (Creating), dns',
  ],
  [
    'the ring',
    [],
    ['a', 'b', 'a'],
    'DependencyCycle: they wait for each other: a → b → a. Take one of the references out',
  ],
])('told is %s', (_, dependencies, ring, told) => {
  const { reason, message } = tellDependencies(dependencies, ring, false)
  expect(`${reason}: ${message}`).toBe(told)
})
