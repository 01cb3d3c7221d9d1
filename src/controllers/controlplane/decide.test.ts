import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { condition, messageOf, now } from '../../../test/applies.ts'
import {
  aHeldWorkspace,
  anEks,
  aSecretOf,
  aVpc,
  awaiting,
  built,
  but,
  cluster,
  controlPlane,
  copies,
  ensure,
  existing,
  fresh,
  gone,
  incomplete,
  late,
  network,
  no,
  noted,
  ofCP,
  paused,
  plainly,
  promisesOnly,
  refused,
  rejected,
  saysOf,
  serving,
  spot,
  tokens,
  unprovisioned,
  unsaid,
  withSecrets,
} from '../../../test/controlplanes.ts'
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import type { Plan } from '../../runtime/plan.ts'
import { decide } from './decide.ts'
import type { Seen } from './seen.ts'

const does = (seen: Seen) => plainly(decide(seen))

describe('while it is paused', () => {
  const still = (secrets: Partial<Seen['secrets']>) => ({ ...withSecrets(serving, secrets), cluster: paused })
  test.each<{ when: string; seen: Seen; does: string; wake: Plan['wake'] }>([
    { when: 'nothing is due', seen: still({}), does: '', wake: { afterSeconds: 480 } },
    {
      when: 'a token is due',
      seen: still({ copies: copies({ dueIn: 0 }), credential: fresh() }),
      does: tokens,
      wake: { afterSeconds: 480 },
    },
    {
      when: 'one is due and the connection has changed',
      seen: still({ copies: copies({ dueIn: 0, isCurrent: false }), credential: fresh() }),
      does: tokens,
      wake: { afterSeconds: 480 },
    },
    {
      when: 'the connection has changed',
      seen: still({ copies: copies({ isCurrent: false }), credential: fresh() }),
      does: '',
      wake: { afterSeconds: 480 },
    },
    {
      when: 'one is due and AWS is out',
      seen: still({ copies: copies({ dueIn: 0 }), credential: refused(false) }),
      does: '',
      wake: { afterSeconds: 5 },
    },
    {
      when: 'one is due and the new one is rejected',
      seen: still({ copies: copies({ dueIn: -1 }), credential: fresh(rejected) }),
      does: '',
      wake: { afterSeconds: 5 },
    },
    {
      when: 'one is due and the new one is rejected, as was told',
      seen: ofCP(still({ copies: copies({ dueIn: -1 }), credential: fresh(rejected) }), {
        status: {
          ...serving.controlPlane.status,
          conditions: [condition('Paused', 'True', 'Paused', { message: 'x' })],
        },
      }),
      does: '',
      wake: { afterSeconds: 60 },
    },
    {
      when: 'one is over, and somebody has to mend something at AWS',
      seen: still({
        copies: copies({ dueIn: -8, goodFor: -1 }),
        credential: { is: 'refused', mend: 'elsewhere', why: 'x' },
      }),
      does: '',
      wake: { afterSeconds: 60 },
    },
    {
      when: 'one is over, its sister is good, and the new one is rejected',
      seen: still({
        copies: new Map([...copies({ dueIn: -1, goodFor: -1 }), ...[...copies({ dueIn: -1 })].slice(0, 1)]),
        credential: fresh(rejected),
      }),
      does: 'apply Secret control-plane-kubeconfig',
      wake: { afterSeconds: 5 },
    },
    {
      when: 'one is over and the API server is out',
      seen: still({ copies: copies({ dueIn: -8, goodFor: -1 }), credential: fresh(no('x')) }),
      does: tokens,
      wake: { afterSeconds: 480 },
    },
    {
      when: 'one is over for good',
      seen: still({ copies: copies({ dueIn: -8, goodFor: -1 }), credential: refused(true) }),
      does: '',
      wake: 'onChange',
    },
    {
      when: 'somebody spoilt the copies',
      seen: still({ copies: copies({ isIntact: false, dueIn: 0 }), credential: fresh() }),
      does: '',
      wake: { afterSeconds: 840 },
    },
    { when: 'it has none', seen: { ...built, cluster: paused }, does: '', wake: 'onChange' },
  ])('and $when', ({ seen, does: deeds, wake }) => {
    const plan = decide(seen)
    expect(does(seen)).toBe(deeds)
    expect(plan.wake).toEqual(wake)
    expect(plan).toMatchObject({ others: 'stay', conditions: [{ type: 'Paused', status: 'True' }] })
    expect(plan.status).toBeUndefined()
  })
})

describe('when it leaves', () => {
  const going: Seen = { ...ofCP(serving, gone), inside: { is: 'clean' } }
  const retained = ofCP(going, { spec: { retainOnDelete: true } })
  const free = 'removeFinalizer captcontrolplane'
  const letGo = 'patch demo-eks-controlplane, delete demo-eks-controlplane'
  const cleaned = but(anEks('done'), noted('capt.appthrust.io/cleanup', 'done'))
  test.each<{ when: string; seen: Seen; does: string }>([
    { when: 'EKS is there', seen: going, does: letGo },
    {
      when: 'EKS is there, and knows that nothing is left in it',
      seen: { ...going, eks: cleaned },
      does: 'delete demo-eks-controlplane',
    },
    { when: 'EKS is to stay', seen: retained, does: 'patch demo-eks-controlplane, delete demo-eks-controlplane' },
    {
      when: 'EKS is to stay, as the apply knows',
      seen: { ...retained, eks: but(cleaned, { spec: { retainOnDelete: true } }) },
      does: 'delete demo-eks-controlplane',
    },
    { when: 'EKS goes', seen: { ...going, eks: but(cleaned, gone) }, does: '' },
    {
      when: 'EKS goes, deleted by others',
      seen: { ...going, eks: but(anEks('done'), gone) },
      does: 'patch demo-eks-controlplane',
    },
    {
      when: 'EKS goes, and is to stay after all',
      seen: { ...retained, eks: but(cleaned, gone) },
      does: 'patch demo-eks-controlplane',
    },
    {
      when: 'a token is due',
      seen: withSecrets(going, { copies: copies({ dueIn: 0 }), credential: fresh() }),
      does: `${letGo}, ${tokens}`,
    },
    {
      when: 'a token is due, and EKS goes',
      seen: {
        ...withSecrets(going, { copies: copies({ dueIn: 0 }), credential: fresh() }),
        eks: but(cleaned, gone),
      },
      does: tokens,
    },
    {
      when: 'a token is due, and EKS is gone',
      seen: { ...withSecrets(going, { copies: copies({ dueIn: 0 }), credential: fresh() }), eks: undefined },
      does: free,
    },
    { when: 'EKS is gone', seen: { ...going, eks: undefined }, does: free },
    {
      when: 'it is forced',
      seen: ofCP(going, noted('capt.appthrust.io/force-delete', 'true')),
      does: 'patch demo-eks-controlplane, delete demo-eks-controlplane',
    },
    {
      when: 'it is forced, and there is nothing to give up',
      seen: { ...ofCP(going, noted('capt.appthrust.io/force-delete', 'true')), eks: undefined },
      does: free,
    },
    { when: "another's apply has the name", seen: { ...going, eks: undefined, taken: anEks('done') }, does: free },
    { when: 'its Cluster is gone', seen: { ...going, cluster: 'gone' }, does: letGo },
    { when: 'it never had one', seen: { ...going, cluster: 'none', eks: undefined }, does: free },
    { when: 'it is paused', seen: { ...going, cluster: paused }, does: '' },
    {
      when: 'clusterctl has moved it',
      seen: ofCP(going, noted('clusterctl.cluster.x-k8s.io/delete-for-move')),
      does: '',
    },
  ])('and $when', ({ seen, does: deeds }) => {
    expect(does(seen)).toBe(deeds)
  })
  test.each<[string, Partial<Seen>, boolean]>([
    ['waits until its network knows that, too', { vpc: aVpc('done') }, true],
    ['goes when its network knows that', { vpc: but(aVpc('done'), { spec: { retainOnDelete: true } }) }, false],
    ['goes when it is too late for its network', { vpc: but(aVpc('done'), gone) }, false],
    ['goes when its network is none of ours', { network: undefined, vpc: undefined }, false],
    [
      'goes when its network is given up, too',
      { vpc: aVpc('done'), network: but(network, noted('capt.appthrust.io/force-delete', 'true')) },
      false,
    ],
  ])('one that is to stay, or is given up, %s', (_, more, waits) => {
    const forced = ofCP(going, noted('capt.appthrust.io/force-delete', 'true'))
    for (const seen of [retained, forced]) {
      const plan = decide({ ...seen, ...more })
      expect(plan.effects.length === 0).toBe(waits)
      const told =
        'waits until CAPTCluster team/demo has told WorkspaceTemplateApply team/demo-vpc that the network stays'
      expect(messageOf(plan, 'Deleting').startsWith(told)).toBe(waits)
    }
    expect(does({ ...going, vpc: aVpc('done') })).toBe(letGo)
  })
  test('its finalizer holds until a live read finds no apply', () => {
    const of = (seen: Seen) =>
      decide(seen).effects.flatMap((each) =>
        each.do === 'removeFinalizer' ? each.onceGone.map(({ key }) => key.name) : [],
      )
    expect(of({ ...going, eks: undefined })).toEqual(['demo-eks-controlplane'])
    expect(of({ ...ofCP(going, { spec: { workspaceTemplateApplyName: 'old' } }), eks: undefined })).toEqual(['old'])
  })
  test('it says what it waits for', () => {
    expect(saysOf(decide(going), 'Available', 'Ready', 'Deleting')).toBe('Deleting Deleting Deleting')
    expect(messageOf(decide(going), 'Deleting')).toContain('WorkspaceTemplateApply team/demo-eks-controlplane')
  })
})

const one = <T>(...values: readonly T[]) => fc.constantFrom(...values)
const situations: fc.Arbitrary<Seen> = fc.record({
  controlPlane: fc
    .tuple(
      one(controlPlane, serving.controlPlane, unsaid.controlPlane),
      one<object>({}, gone, late, { metadata: { finalizers: [] } }, noted('cluster.x-k8s.io/paused'), {
        metadata: { creationTimestamp: undefined },
      }),
      one<object>(
        {},
        ensure,
        { spec: { version: 'v1.30.0' } },
        { spec: { version: 'v1.40.0' } },
        { spec: { retainOnDelete: true } },
        { spec: { eksClusterName: undefined } },
      ),
      one(
        {},
        { status: {} },
        {
          status: {
            conditions: [condition('SecretsReady', 'False', 'Failed'), condition('Available', 'False', 'NotAnswering')],
          },
        },
        { status: { initialization: {}, workspaceStatus: {} } },
      ),
    )
    .map(([of, ...changes]) => changes.reduce(but<CAPTControlPlane>, of)),
  now: one(now, new Date('2026-11-17T00:00:00Z')),
  cluster: one<Seen['cluster']>('none', 'gone', cluster, paused, unprovisioned),
  network: one<Seen['network']>(undefined, 'missing', network, existing()),
  eks: one(
    undefined,
    ...(['new', 'running', 'failed', 'held', 'done'] as const).map((run) => anEks(run)),
    but(anEks('done'), gone),
    awaiting(anEks('done')),
    anEks('done', {}),
    but(anEks('done'), { status: { conditions: undefined } }),
  ),
  taken: one(undefined, anEks('done')),
  left: one(undefined, aHeldWorkspace('demo-eks-controlplane')),
  vpc: one(undefined, aVpc('done'), but(aVpc('done'), { spec: { retainOnDelete: true } })),
  accountOfTemplate: one(undefined, { kind: 'ClusterProviderConfig', name: 'default' }),
  spotRole: one(undefined, spot('failed'), spot('done')),
  claimedBy: one(undefined, { name: 'x' }),
  namesake: one(undefined, { name: 'x' }),
  template: one(undefined, { name: 'capt-eks' }),
  secrets: fc.record({
    revision: one('r1'),
    copies: one<Seen['secrets']['copies']>(
      new Map(),
      copies(),
      copies({ dueIn: -1 }),
      copies({ goodFor: -1, dueIn: -5 }),
      copies({ isIntact: false }),
    ),
    inTheWay: one(
      [],
      ...['demo-ca', 'demo-kubeconfig'].flatMap((name) => [
        [aSecretOf(name, undefined, 'Opaque')],
        [
          but(aSecretOf(name, undefined, 'Opaque'), {
            metadata: { labels: { 'cluster.x-k8s.io/cluster-name': 'demo' } },
          }),
        ],
      ]),
    ),
    connection: one<Seen['secrets']['connection']>('absent', 'unread', incomplete.connection, built.secrets.connection),
    credential: one<Seen['secrets']['credential']>(
      { is: 'kept' },
      { is: 'none' },
      fresh(),
      fresh(no('x')),
      fresh(rejected),
      refused(true),
      refused(false),
      { is: 'refused', mend: 'elsewhere', why: 'AccessDenied' },
    ),
    answer: one<Seen['secrets']['answer']>({ is: 'yes' }, no('x'), rejected, { is: 'unasked' }),
  }),
  inside: one<Seen['inside']>(
    { is: 'unasked' },
    { is: 'clean' },
    { is: 'left', services: ['default/web'] },
    { is: 'unknown', why: 'x' },
  ),
})

const saidOf = ({ conditions }: Plan, type: string) => conditions.find((each) => each.type === type)?.status
const isBegun = (status: unknown) => (status as CAPTControlPlane['status'])?.initialization?.controlPlaneInitialized
const names =
  /WorkspaceTemplateApply|Service|spec\.|Cluster|Secret|output|demo|kubeconfig|Terraform is asked|everything is gone/
const isPlain = (type: string) => ['Paused', 'Deleting', 'RollingOut'].includes(type)

test.each<[string, (plan: Plan, seen: Seen) => boolean]>([
  ['it acts or says why it waits', ({ effects, conditions }) => effects.length + conditions.length > 0],
  [
    'it destroys only what leaves',
    ({ effects }, { controlPlane: { metadata } }) =>
      metadata.deletionTimestamp !== undefined ||
      !effects.some((each) => each.do === 'delete' && each.resource.kind === 'WorkspaceTemplateApply'),
  ],
  [
    'it destroys nothing of which it is not known that nothing is left inside, but by a word of the user',
    ({ effects }, { controlPlane: { spec, status }, eks, inside }) =>
      inside.is === 'clean' ||
      (spec.retainOnDelete && eks?.spec.retainOnDelete) ||
      (spec.retainOnDelete && JSON.stringify(effects).includes('"retainOnDelete":true')) ||
      !(status?.initialization?.controlPlaneInitialized || spec.controlPlaneEndpoint) ||
      !JSON.stringify(effects).includes('"capt.appthrust.io/cleanup":"done"'),
  ],
  [
    'it leaves the Cluster to Cluster API',
    ({ effects }) => effects.every((each) => !('object' in each) || each.object.kind !== 'Cluster'),
  ],
  [
    'what was initialized stays so',
    ({ status = {} }, { controlPlane: { status: before } }) =>
      isBegun(status) !== false && (!isBegun(before) || !('initialized' in status) || isBegun(status) === true),
  ],
  [
    'it is never Available without an endpoint and a kubeconfig that was answered',
    (plan, { secrets: { credential, answer, inTheWay } }) =>
      saidOf(plan, 'Available') !== 'True' ||
      (saidOf(plan, 'EndpointReady') === 'True' &&
        (answer.is === 'yes' || (credential.is === 'fresh' && credential.answer.is === 'yes')) &&
        !inTheWay.some(({ metadata }) => metadata.name === 'demo-kubeconfig')),
  ],
  [
    'it is never Ready while something else is not',
    (plan) =>
      saidOf(plan, 'Ready') !== 'True' ||
      ['Available', 'SecretsReady', 'EndpointReady', 'EKSApplied'].every((type) => saidOf(plan, type) === 'True'),
  ],
  [
    'no Secret is deleted that does not say that it is of this cluster',
    ({ effects }) =>
      effects.every(
        (each) => each.do !== 'delete' || each.resource.kind !== 'Secret' || each.object.metadata.labels !== undefined,
      ),
  ],
  ['it does not wake all the time', ({ wake }) => wake === 'onChange' || wake.afterSeconds >= 1],
  ['what it only promises it says so', promisesOnly],
  [
    'it says only what it has words for',
    ({ conditions }) => conditions.every(({ type }) => Object.keys(CAPTControlPlane.words).includes(type)),
  ],
  [
    'what is not so names an object or a field',
    ({ conditions }) =>
      conditions.every(({ type, status, message }) => status !== 'False' || isPlain(type) || names.test(message)),
  ],
])('in every situation %s', (_, holds) => {
  fc.assert(
    fc.property(situations, (seen) => {
      expect(holds(decide(seen), seen)).toBe(true)
    }),
    { numRuns: 1000 },
  )
})
