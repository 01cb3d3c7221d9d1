// Every situation there is, walked through. What comes of them in their order is tried in `pass.test.ts`.
import { expect, test } from 'vitest'
import { annotations as ours } from '../api/keys.ts'
import { crossplane, type ManagementPolicy, type Workspace, type WorkspaceCondition } from '../api/workspace.ts'
import { noteOf, type Planned } from '../terraform/planned.ts'
import { type Changes, type Done, decide, type Failure, type Phase, type Seen, type Step } from './decide.ts'

const nothing: Planned = { create: [], update: [], replace: [], delete: [] }
const changes = (planned: Partial<Planned>, again: readonly string[] = []): Changes => {
  const interrupted = again.length > 0 ? { startedAt: 'then', again } : undefined
  const all = { ...nothing, ...planned }
  return { planned: all, interrupted, note: noteOf(all, { revision: 'r', ...(interrupted && { interrupted }) }) }
}
const creates = changes({ create: ['a'] })
const updates = changes({ update: ['a'] })
const deletes = changes({ delete: ['a'] })
const again = changes({ create: ['a'] }, ['a'])
const unproven: Changes = { ...creates, isUnproven: true }
const failure = (phase: Phase): Failure => ({ phase, told: 'why' })

const finalizerSets = [[], [crossplane.finalizer], [crossplane.finalizer, 'example.com/hold']]
const policySets: readonly (readonly ManagementPolicy[])[] = [
  ['*'],
  ['Observe'],
  ['Observe', 'Create', 'Delete'],
  ['Observe', 'Update'],
  ['Create'],
  [],
]
const annotationSets: readonly Readonly<Record<string, string>>[] = [
  {},
  { [crossplane.externalName]: 'demo' },
  { [crossplane.externalName]: 'demo', [crossplane.createPending]: '1' },
  { [crossplane.externalName]: 'demo', [crossplane.createPending]: '1', [crossplane.createSucceeded]: '2' },
  { [crossplane.externalName]: 'demo', [ours.guard]: 'Hold' },
  { [crossplane.externalName]: 'demo', [ours.guard]: 'Hold', [ours.approve]: deletes.note.id },
  { [crossplane.externalName]: 'demo', [ours.cli]: 'terraform 1.5.7' },
  { [crossplane.externalName]: 'demo', [ours.cli]: 'tofu 1.11.0' },
  { [crossplane.externalName]: 'demo', [crossplane.paused]: 'true' },
  { [crossplane.externalName]: 'demo', [ours.moved]: 'noon' },
]
const lastTransitionTime = '2026-11-15T23:23:50Z'
const conditionSets: readonly (readonly WorkspaceCondition[])[] = [
  [],
  [{ type: 'Ready', status: 'True', reason: 'Available', lastTransitionTime }],
  [{ type: 'Ready', status: 'False', reason: 'Deleting', observedGeneration: 2, lastTransitionTime }],
]
const furnished: Done = { connected: 'whole', isInitialised: true }
const doneSets: readonly Done[] = [
  {},
  { failed: failure('connect') },
  { failed: { ...failure('connect'), isLacking: true } },
  { connected: 'whole' },
  furnished,
  { connected: 'bare', isInitialised: true },
  { ...furnished, plan: 'same' },
  { ...furnished, plan: 'same', isPublished: true },
  ...[creates, updates, deletes, again, unproven].flatMap((plan): readonly Done[] => [
    { ...furnished, plan },
    { ...furnished, plan, begun: 'create' },
    { ...furnished, plan, begun: 'update', isApplied: true },
    { ...furnished, plan, begun: 'update', isApplied: true, isPublished: true },
    { ...furnished, plan, begun: 'create', failed: failure('create') },
  ]),
  { ...furnished, isDestroyed: true },
  { ...furnished, isForgotten: true },
  { isReleased: true },
]

const surroundings = [
  [undefined, false],
  ['no Terraform found', false],
  [undefined, true],
] as const

function* everySituation(): Generator<Seen> {
  for (const finalizers of finalizerSets)
    for (const managementPolicies of policySets)
      for (const annotations of annotationSets)
        for (const deletionTimestamp of [undefined, '2026-11-15T23:23:50Z'])
          for (const [blocked, isEnding] of surroundings)
            for (const done of doneSets)
              for (const conditions of conditionSets) {
                const workspace: Workspace = {
                  apiVersion: 'tf.upbound.io/v1beta1',
                  kind: 'Workspace',
                  metadata: {
                    name: 'demo',
                    generation: 2,
                    annotations,
                    finalizers,
                    ...(deletionTimestamp && { deletionTimestamp }),
                  },
                  spec: { forProvider: { source: 'Inline', module: '' }, managementPolicies },
                  status: { conditions },
                }
                yield { workspace, plural: 'workspaces.tf.upbound.io', cli: 'tofu 1.12.6', blocked, isEnding, done }
              }
}

const runs: ReadonlySet<Step['do']> = new Set(['init', 'plan', 'apply', 'destroy', 'forget', 'publish', 'begin'])
const changesTheWorld: ReadonlySet<Step['do']> = new Set(['apply', 'destroy', 'forget'])
const applies = (step: Step) => step.do === 'apply' || step.do === 'begin'
const isLeaving = ({ workspace: { metadata } }: Seen) => metadata.deletionTimestamp !== undefined
const allows = ({ workspace: { spec } }: Seen, ...actions: ManagementPolicy[]) =>
  ['*' as const, ...actions].some((action) => spec.managementPolicies?.includes(action))

// What would be wrong with that step.
const wrongs: Readonly<Record<string, (seen: Seen, step: Step) => boolean>> = {
  'it does something although it is paused': ({ workspace: { metadata, spec } }, step) =>
    (metadata.annotations?.[crossplane.paused] !== undefined || spec.managementPolicies?.length === 0) &&
    step.do !== 'rest' &&
    step.do !== 'handOver',
  'it runs something although nothing can be run': ({ blocked }, step) => blocked !== undefined && runs.has(step.do),
  'it runs something before it holds the Workspace': ({ workspace: { metadata } }, step) =>
    runs.has(step.do) && !metadata.finalizers?.includes(crossplane.finalizer),
  'it changes the world in a folder that is not initialised': ({ done }, step) =>
    changesTheWorld.has(step.do) && done.isInitialised !== true,
  'it destroys what is to stay': (seen, step) =>
    (step.do === 'destroy' || step.do === 'forget') && !(isLeaving(seen) && allows(seen, 'Delete')),
  'it destroys what somebody else holds': ({ workspace: { metadata } }, step) =>
    (step.do === 'destroy' || step.do === 'forget') && metadata.finalizers?.length !== 1,
  'it lets go what is not leaving': (seen, step) => step.do === 'release' && !isLeaving(seen),
  'it applies to what is leaving, or may not be changed': (seen, step) =>
    applies(step) && (isLeaving(seen) || !allows(seen, 'Create', 'Update')),
  'it changes what another family has made': ({ workspace: { metadata } }, step) =>
    (applies(step) || changesTheWorld.has(step.do)) && metadata.annotations?.[ours.cli] === 'terraform 1.5.7',
  'it deletes what is guarded, unapproved': ({ workspace: { metadata }, done }, step) =>
    applies(step) &&
    done.plan === deletes &&
    metadata.annotations?.[ours.guard] !== undefined &&
    metadata.annotations[ours.approve] !== deletes.note.id,
  'it begins something although the engine ends': ({ isEnding }, step) =>
    isEnding && ['init', 'plan', 'begin', 'destroy'].includes(step.do),
  'it runs something for what was moved away': ({ workspace: { metadata } }, step) =>
    metadata.annotations?.[ours.moved] !== undefined && runs.has(step.do),
  'it makes again what may be there': ({ done }, step) =>
    applies(step) && (done.plan === again || done.plan === unproven),
}

test('in every situation it does what it may, and nothing else', () => {
  const reached = new Set<Step['do']>()
  const wrong: unknown[] = []
  for (const seen of everySituation()) {
    const step = decide(seen)
    reached.add(step.do)
    for (const [what, isSo] of Object.entries(wrongs)) if (isSo(seen, step)) wrong.push({ what, seen, step })
  }
  expect(wrong.slice(0, 2)).toEqual([])
  const everyStep =
    'apply begin claim connect destroy forget handOver init name plan publish release rest settle sign tell'
  expect([...reached].toSorted()).toEqual(everyStep.split(' '))
})

function saidOf(plan: Changes): string {
  const [seen] = everySituation()
  if (!seen) throw new Error('there is no situation')
  const annotations = {
    [crossplane.externalName]: 'demo',
    [ours.guard]: 'Hold',
    [ours.apply]: 'team/network',
  }
  const metadata = { ...seen.workspace.metadata, annotations, finalizers: [crossplane.finalizer] }
  const step = decide({ ...seen, workspace: { ...seen.workspace, metadata }, done: { ...furnished, plan } })
  return step.do === 'rest' ? step.said.map(({ message }) => message).join('\n') : ''
}

test('the approval is asked for where it is read: on the apply a Workspace was made for', () => {
  expect(saidOf(deletes)).toContain(
    `kubectl annotate workspacetemplateapply network --namespace team --overwrite capt.appthrust.io/approve=${deletes.note.id}`,
  )
})

test('where an apply was interrupted and the plan deletes something, both are told: one word approves them', () => {
  expect(saidOf(changes({ create: ['a'], delete: ['b'] }, ['a']))).toContain(
    'held for approval: this plan deletes 1 and replaces 0: b; and the apply that began at then was interrupted, and this plan would create again what it may have made: a; look whether that is there, then approve with: kubectl',
  )
  expect(saidOf(again)).toContain('held for approval: the apply that began at then was interrupted')
})
