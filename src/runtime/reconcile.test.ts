// What carrying out sends, as far as it can be told without an API server: the stories beside this have a real one.
import { expect, test } from 'vitest'
import { controlPlane, network, noted } from '../../test/controlplanes.ts'
import { CAPTCluster } from '../api/captcluster.ts'
import { CAPTControlPlane } from '../api/captcontrolplane.ts'
import { promise, type Said, tellConditions, vocabulary } from '../api/condition.ts'
import type { Kind } from '../api/kind.ts'
import { ConfigMap } from '../api/neighbours.ts'
import type { KubeObject, OwnerReference } from '../api/resource.ts'
import { ApiError } from '../kube/errors.ts'
import type { Effect } from './plan.ts'
import { carryOut, type Hands, type Subject } from './reconcile.ts'

const say = vocabulary(CAPTCluster.words)
const owner: OwnerReference = { apiVersion: 'x/v1', kind: 'X', name: 'x', uid: 'x', controller: true }
const core: OwnerReference = { apiVersion: 'y/v1', kind: 'Y', name: 'y', uid: 'y' }
const aMap = (metadata: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'demo', ...metadata },
})

const ofNetwork = { kind: CAPTCluster, subject: network, conditions: [say('Ready', 'Provisioned')] }

async function carry(
  wanted: KubeObject,
  existing: KubeObject | undefined,
  trouble?: Error,
  { kind, subject, conditions }: { kind: Kind; subject: Subject; conditions: readonly Said[] } = ofNetwork,
) {
  const sent: string[] = []
  let told = ''
  const hands = {
    client: {
      async apply(_: unknown, __: unknown, { force }: { force: boolean }) {
        sent.push(force ? 'by force' : 'asking')
        if (trouble) throw trouble
        return wanted
      },
      async patch(_: unknown, __: unknown, change: object) {
        told = JSON.stringify(change)
      },
    },
    read: { get: () => existing },
    fieldManager: 'capt-test',
    now: () => '2026-11-16T12:00:00Z',
  } as unknown as Hands
  const plan = {
    effects: [{ do: 'apply', resource: ConfigMap, object: wanted }],
    conditions,
    wake: 'onChange',
  } as const
  const failure = await carryOut(kind, subject, plan, hands).then(
    () => undefined,
    (error: unknown) => error,
  )
  return { sent, told, failure }
}

test.each<[string, object, object, readonly string[]]>([
  ['all is said already', { ownerReferences: [owner] }, { ownerReferences: [owner] }, []],
  [
    'others own it too',
    { ownerReferences: [owner] },
    { ownerReferences: [core, { ...owner, blockOwnerDeletion: true }] },
    [],
  ],
  ['others hold it too', { finalizers: ['a'] }, { finalizers: ['b', 'a'] }, []],
  ['others annotated it', noted('a').metadata, { annotations: { a: '', b: '' } }, []],
  ['it lost its owner', { ownerReferences: [owner] }, { ownerReferences: [core] }, ['by force']],
  [
    'its owner is not in charge any more',
    { ownerReferences: [owner] },
    { ownerReferences: [{ ...owner, controller: false }] },
    ['by force'],
  ],
  ['it lost a finalizer', { finalizers: ['a'] }, { finalizers: ['b'] }, ['by force']],
  ['an annotation differs', noted('a', '1').metadata, noted('a', '2').metadata, ['by force']],
])('when %s', async (_, wanted, there, sent) => {
  expect((await carry(aMap(wanted), aMap({ uid: 'u', ...there }))).sent).toEqual(sent)
})

test('what nobody has seen is made, but not by force', async () => {
  expect((await carry(aMap({}), undefined)).sent).toEqual(['asking'])
})

const conflict = (message: string) =>
  new ApiError({ doing: 'apply ConfigMap demo', code: 409, reason: 'Conflict', message })

test.each([
  [
    'a write that came late is no news, and nothing is newly true',
    conflict('Operation cannot be fulfilled on configmaps: the object has been modified'),
    '',
  ],
  [
    'fields that somebody else has set are',
    conflict('Apply failed with 1 conflict: conflict with "kubectl-create" using v1: .type'),
    'WriteFailed',
  ],
  [
    'and so is what the API server refuses',
    new ApiError({ doing: 'apply', code: 422, reason: 'Invalid', message: 'no' }),
    'WriteFailed',
  ],
])('%s', async (_, trouble, reason) => {
  const { told, failure } = await carry(aMap({}), undefined, trouble)
  expect(failure).toBe(trouble)
  expect(told).toContain(reason && `"type":"Ready","status":"Unknown","reason":"${reason}"`)
  expect(told).not.toContain('Provisioned')
})

const vpc = (reason: 'VPCCreating' | 'VPCCreationFailed' | 'VPCCreated') => say('VPCReady', reason)
const ready = (reason: 'Provisioned' | 'NotProvisioned') => say('Ready', reason)
const before = [ready('NotProvisioned'), vpc('VPCCreating')]
const event: Effect = { do: 'tell', type: 'Warning', reason: 'VPCCreationFailed', note: 'quota' }

test.each<[what: string, saying: readonly Said[], effects: readonly Effect[], is: 'written' | 'put off' | 'nothing']>([
  ['other words', [ready('NotProvisioned'), vpc('VPCCreationFailed')], [], 'put off'],
  ['other words, with an event', [ready('NotProvisioned'), vpc('VPCCreationFailed')], [event], 'written'],
  ['that it is ready', [ready('Provisioned'), vpc('VPCCreated')], [], 'written'],
  ['the same again', before, [], 'nothing'],
  ['that it leaves', [ready('NotProvisioned'), say('Deleting', 'Deleting')], [], 'written'],
])('who may wait, and has to say %s', async (what, conditions, effects, is) => {
  const now = '2026-11-16T12:00:00Z'
  const said = tellConditions([], { words: CAPTCluster.words, said: before, others: 'stay', generation: 1, now })
  const leaves = what === 'that it leaves' && { deletionTimestamp: now, finalizers: ['ours'] }
  const metadata = { ...network.metadata, generation: 1, ...leaves }
  const subject = { ...network, metadata, status: { conditions: said } }
  const sent: object[] = []
  const hands = {
    client: {
      async patch(__: unknown, ___: unknown, change: object) {
        sent.push(change)
        return subject
      },
    },
    record() {},
    fieldManager: 'capt-test',
    now: () => now,
  } as unknown as Hands
  const seen = { ...subject, status: { ...subject.status, observedGeneration: 1 } }
  const plan = { effects, conditions, others: 'stay', wake: 'onChange' } as const
  const { isPutOff } = await carryOut(CAPTCluster, seen, plan, hands, true)
  expect([sent.length, isPutOff]).toEqual([is === 'written' ? 1 : 0, is === 'put off'])
})

test('a write that is refused is told where Cluster API shows it, and what it was for is not told as done', async () => {
  const tell = vocabulary(CAPTControlPlane.words)
  const asked = 'Terraform is asked for demo'
  const conditions = [promise(tell('EKSApplied', 'Applying', asked)), tell('Available', 'NotCreated', asked)]
  const trouble = new ApiError({ doing: 'apply', code: 422, reason: 'Invalid', message: 'no' })
  const of = { kind: CAPTControlPlane, subject: controlPlane, conditions }
  const { told } = await carry(aMap({}), undefined, trouble, of)
  for (const type of ['EKSApplied', 'Available', 'Ready'])
    expect(told).toContain(`"type":"${type}","status":"Unknown","reason":"WriteFailed"`)
  expect(told).not.toContain(asked)
})

test('an object gets its finalizer and what is noted on it in one write', async () => {
  const sent: object[] = []
  const hands = {
    client: {
      async patch(_: unknown, __: unknown, { metadata }: { metadata: object }) {
        sent.push(metadata)
        return network
      },
    },
    fieldManager: 'capt-test',
    now: () => '2026-11-16T12:00:00Z',
  } as unknown as Hands
  const { uid, resourceVersion } = network.metadata
  const subject = { ...network, metadata: { ...network.metadata, finalizers: [] } }
  const effects = [
    { do: 'addFinalizer', finalizer: 'ours' },
    { do: 'patch', resource: CAPTCluster, object: subject, change: { metadata: { annotations: { a: '1' } } } },
  ] as const
  await carryOut(CAPTCluster, subject, { effects, conditions: [], others: 'stay', wake: 'onChange' }, hands)
  expect(sent).toEqual([
    { uid, ...(resourceVersion && { resourceVersion }), finalizers: ['ours'], annotations: { a: '1' } },
  ])
})
