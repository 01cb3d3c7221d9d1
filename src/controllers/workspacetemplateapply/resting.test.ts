import { expect, test } from 'vitest'
import {
  altered,
  asked,
  changed,
  condition,
  deeds,
  done,
  having,
  made,
  messageOf,
  noted,
  nowhereYet,
  theirs,
} from '../../../test/applies.ts'
import { blockMoveAnnotation } from '../../api/contract.ts'
import { annotations } from '../../api/keys.ts'
import { crossplane, type Workspace, type WorkspaceCondition } from '../../api/workspace.ts'
import type { StateHome } from '../../terraform/statehome.ts'
import { decide } from './decide.ts'
import type { Seen, Where } from './seen.ts'

const since = '2026-11-16T11:59:50.500Z' // ten seconds ago
const pause = { ...asked.pause, by: ['Cluster team/demo is paused (spec.paused)'] }
const orphaned = { managementPolicies: ['Observe', 'Create', 'Update', 'LateInitialize'] }
const rests = (more: object = {}): readonly WorkspaceCondition[] => [
  condition('Synced', 'False', 'ReconcilePaused', { lastTransitionTime: '2026-11-16T11:59:50Z', ...more }),
]
const readied = (conditions: readonly WorkspaceCondition[], notes: object = {}): Workspace => {
  const paused = { [crossplane.paused]: 'true', [annotations.paused]: 'true', [annotations.moved]: since }
  return altered(made(asked, conditions, { ...paused, ...notes }), {}, orphaned)
}
const s3: StateHome = { is: 'elsewhere', place: 's3 (bucket states)' }
const inCluster: StateHome = { is: 'bound', why: 'is in a Secret of a cluster' }
const seeing = (workspace: Workspace, where: Partial<Where>, more: Partial<Seen> = {}): Seen => ({
  ...having(workspace, where),
  pause,
  ...more,
})
const byCrossplane = (workspace: Workspace, home: StateHome = s3) => seeing(workspace, { isCrossplane: true }, { home })
const answered = (seen: Seen): Seen => ({
  ...seen,
  luggage: {
    metadata: {
      name: 'vpc-state',
      ...seen.luggage?.metadata,
      annotations: { ...seen.luggage?.metadata.annotations, [annotations.moved]: since },
    },
  },
})

test('where Crossplane runs Terraform and rests, the manager says where the state is, and it may be moved', () => {
  const seen = byCrossplane(readied(rests()))
  const effect = decide(seen).effects.find((each) => each.do === 'patch')
  const luggage = { backend: 'other', group: 'tf.m.upbound.io', externalName: 'team.vpc', place: 's3 (bucket states)' }
  expect(effect).toMatchObject({
    object: { kind: 'Secret', metadata: { name: 'vpc-state', uid: 'uid-of-luggage' } },
    change: {
      metadata: { annotations: { [annotations.state]: JSON.stringify(luggage), [annotations.moved]: since } },
      data: { tfstate: null },
    },
  })
  const then = decide(answered(seen))
  expect(deeds(then)).toBe('apply Workspace team/vpc, patch WorkspaceTemplateApply team/vpc')
  expect(JSON.stringify(then.effects.at(-1))).toContain(`"${blockMoveAnnotation}":null`)
})

test.each<[string, Seen]>([
  ['Terraform may be at work', byCrossplane(readied(done))],
  ['it rested in an earlier pause', byCrossplane(readied(rests({ observedGeneration: 0 })))],
  ['it rested long ago', byCrossplane(readied(rests({ lastTransitionTime: '2026-11-16T11:50:00Z' })))],
  [
    'it was killed while it built',
    byCrossplane(readied(rests(), { [crossplane.createPending]: '2026-11-16T11:00:00Z' })),
  ],
  ['the state is in the cluster', byCrossplane(readied(rests()), inCluster)],
  ['it is asked just now', byCrossplane(made(asked, rests()))],
  ['its Secret is not there', { ...byCrossplane(readied(rests())), luggage: undefined }],
  ['our engine serves it', seeing(readied(rests()), {}, { home: s3 })],
])('nothing is answered for when %s', (_, seen) => {
  expect(deeds(decide(seen))).toBe('apply Workspace team/vpc')
})

const told = 'cannot be moved yet: its state is in use by ada'
const toldByEngine = readied(rests({ message: told }))
const frozen = altered(theirs, { labels: { 'capt.appthrust.io/apply': 'team.vpc' } })

const nothing = /^Cluster team\/demo is paused \(spec.paused\)$/

test.each<[string, Seen, RegExp]>([
  ['is asked just now', seeing(made(), {}), nothing],
  ['was asked a second ago', seeing(readied(done, { [annotations.moved]: '2026-11-16T11:59:59Z' }), {}), nothing],
  ['is answered', answered(seeing(readied(rests()), {})), nothing],
  ['may be moved already', noted(seeing(readied(done), {}), { [blockMoveAnnotation]: undefined }), nothing],
  ['has no Workspace', { ...asked, pause }, nothing],
  [
    'waits for our engine',
    seeing(readied(done), {}),
    /cannot be moved yet: Terraform may still be at work, for the engine/,
  ],
  [
    'cannot be moved, as our engine says',
    seeing(toldByEngine, {}),
    /; cannot be moved yet: its state is in use by ada$/,
  ],
  [
    'waits for Crossplane',
    byCrossplane(readied(done)),
    /Crossplane has not said since .* that Workspace team\/vpc rests/,
  ],
  [
    'was killed under Crossplane',
    byCrossplane(readied(rests(), { [crossplane.createPending]: '2026-11-16T11:00:00Z' })),
    /the apply that began at 2026-11-16T11:00:00Z is not known: .*external-create-pending/,
  ],
  [
    'has its state in the cluster',
    byCrossplane(readied(rests()), inCluster),
    /^Cluster team\/demo is paused \(spec.paused\); cannot be moved: its state is in a Secret of a cluster; .* such as s3, .*kubectl annotate workspacetemplateapply vpc --namespace team clusterctl.cluster.x-k8s.io\/block-move-$/,
  ],
  [
    'has lost its Secret',
    { ...seeing(readied(rests()), {}), luggage: undefined },
    /its Secret for the state is not there/,
  ],
  [
    'is served by nobody',
    { ...asked, pause, where: { ...nowhereYet, isServed: false } },
    /nobody serves Workspaces in tf.m/,
  ],
  [
    'has a Workspace that is being deleted',
    seeing(altered(readied(done), { deletionTimestamp: '2026-11-16T11:00:00Z' }), {}),
    /cannot be moved: Workspace team\/vpc is being deleted: let it go on first$/,
  ],
  [
    'has lost its Workspace, and what told of its state',
    { ...asked, pause, apply: changed(asked.apply, {}, {}, { workspaceName: 'vpc', workspaceAPI: 'tf.m.upbound.io' }) },
    /cannot be moved: its Workspace is away, and nothing tells of the state it was on/,
  ],
  ['waits for adoption', seeing(frozen, {}), /Workspace team\/vpc is left alone/],
])('people who wait for clusterctl are told of one that %s', (_, seen, why) => {
  expect(messageOf(decide(seen), 'Paused')).toMatch(why)
})

test.each<[string, Seen, object | string]>([
  [
    'a moment, for what may be told then',
    seeing(readied(done, { [annotations.moved]: '2026-11-16T11:59:59Z' }), {}),
    { afterSeconds: 2 },
  ],
  [
    'half a minute, for a ProviderConfig, which is not watched',
    byCrossplane(readied(done), inCluster),
    { afterSeconds: 30 },
  ],
  ['nothing but a change', byCrossplane(readied(done)), 'onChange'],
])('it waits for %s', (_, seen, wake) => {
  expect(decide(seen).wake).toEqual(wake)
})
