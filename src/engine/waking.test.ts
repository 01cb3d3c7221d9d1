import { expect, test } from 'vitest'
import { annotations as ours } from '../api/keys.ts'
import type { ObjectMeta } from '../api/resource.ts'
import { crossplane, type Workspace } from '../api/workspace.ts'
import { isNews, pollAfterSeconds } from './waking.ts'

const aWorkspace = (metadata: Partial<ObjectMeta> = {}): Workspace => ({
  apiVersion: 'tf.upbound.io/v1beta1',
  kind: 'Workspace',
  metadata: { name: 'demo', generation: 1, ...metadata },
  spec: { forProvider: { source: 'Inline', module: '' } },
})
const noted = (annotations: Record<string, string>) => ({ annotations })

test.each<[string, Partial<ObjectMeta>]>([
  ['a new generation', { generation: 2 }],
  ['a deletion', { deletionTimestamp: '2026-11-15T23:23:50Z' }],
  ['a label', { labels: { a: 'b' } }],
  ['a word of a user', noted({ [ours.approve]: 'abc' })],
  ['a request to look', noted({ [crossplane.reconcileRequestedAt]: 'now' })],
  ['a pause', noted({ [crossplane.paused]: 'true' })],
  ['another external name', noted({ [crossplane.externalName]: 'other' })],
  ["somebody's finalizer", { finalizers: ['example.com/hold'] }],
])('%s is news', (_, metadata) => {
  expect(isNews(aWorkspace(), aWorkspace(metadata))).toBe(true)
  expect(isNews(aWorkspace(metadata), aWorkspace())).toBe(true)
})

test.each<[string, Partial<ObjectMeta>]>([
  ['the external name we gave it', noted({ [crossplane.externalName]: 'demo' })],
  ['how far a create is', noted({ [crossplane.createPending]: 'x', [crossplane.createSucceeded]: 'y' })],
  ['what a plan would do', noted({ [ours.plan]: '{}', [ours.cli]: 'tofu 1.12.6' })],
  ['our finalizer', { finalizers: [crossplane.finalizer] }],
  ['another version of its status', { resourceVersion: '2' }],
])('%s is no news', (_, metadata) => {
  expect(isNews(aWorkspace(), aWorkspace(metadata))).toBe(false)
})

test('that somebody takes the name of the command line away is news: they have converted the state', () => {
  expect(isNews(aWorkspace(noted({ [ours.cli]: 'terraform 1.11.4' })), aWorkspace())).toBe(true)
})

test('a Workspace that was not known is news', () => {
  expect(isNews(undefined, aWorkspace())).toBe(true)
})

test.each([
  ['600 s, sooner', {}, 0, 540],
  ['600 s', {}, 0.5, 600],
  ['600 s, later', {}, 1, 660],
  ['as the Workspace says', noted({ [crossplane.pollInterval]: '1h' }), 0.5, 3600],
  ['as it says, and never at once', noted({ [crossplane.pollInterval]: '1s' }), 0, 1],
  ['as ever, when it says nothing that can be read', noted({ [crossplane.pollInterval]: 'often' }), 0.5, 600],
] as const)('it is polled after %s', (_, metadata, drawn, seconds) => {
  const poll = { pollMs: 600_000, jitterMs: 60_000, random: () => drawn }
  expect(pollAfterSeconds(aWorkspace(metadata), poll)).toBe(seconds)
})
