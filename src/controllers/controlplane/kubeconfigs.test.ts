import { describe, expect, test } from 'vitest'
import { condition, messageOf } from '../../../test/applies.ts'
import {
  all,
  anEks,
  aSecretOf,
  ask,
  building,
  built,
  but,
  controlPlane,
  copies,
  doesOf,
  eksOutputs,
  fresh,
  gone,
  incomplete,
  late,
  no,
  ofCP,
  plainly,
  point,
  refused,
  rejected,
  saysOf,
  serving,
  tokens,
  unprovisioned,
  unsaid,
  waitingSeen,
  withSecrets,
} from '../../../test/controlplanes.ts'
import type { Plan } from '../../runtime/plan.ts'
import { copyName } from '../../secrets/copies.ts'
import { decide } from './decide.ts'
import type { Seen } from './seen.ts'

const does = (seen: Seen) => plainly(decide(seen))
const ofAnotherType = (name: string) =>
  but(aSecretOf(name, undefined, 'Opaque'), { metadata: { labels: { 'cluster.x-k8s.io/cluster-name': 'demo' } } })
const telling = (message: string): Partial<Seen> =>
  ofCP(serving, { status: { conditions: [condition('SecretsReady', 'True', 'Ready', { message })] } })

// The arrows of the seed's diagram, one by one. What is passed within one pass is not stored.
describe('the state of the Secrets', () => {
  test.each<{ arrow: string; seen: Seen; says: string; does: string }>([
    { arrow: '→ WaitingForSecret: Terraform was not asked', seen: waitingSeen, says: 'WaitingForSecret', does: ask },
    { arrow: '→ WaitingForSecret: Terraform is at work', seen: building, says: 'WaitingForSecret', does: ask },
    {
      arrow: '→ WaitingForSecret: Terraform is done, the Secret is not there',
      seen: withSecrets({ ...built }, { connection: 'absent', credential: { is: 'none' }, answer: { is: 'unasked' } }),
      says: 'WaitingForSecret',
      does: ask,
    },
    {
      arrow: 'WaitingForSecret: it is half written while Terraform is at work',
      seen: { ...building, eks: anEks('running', eksOutputs), secrets: incomplete },
      says: 'WaitingForSecret',
      does: ask,
    },
    {
      arrow: 'WaitingForSecret → ValidatingSecret: AWS is out',
      seen: withSecrets(built, { credential: refused(false), answer: { is: 'unasked' } }),
      says: 'ValidatingSecret',
      does: ask,
    },
    {
      arrow: 'WaitingForSecret → ValidatingSecret: the API server does not answer',
      seen: withSecrets(built, { credential: fresh(no('no answer')), answer: no('no answer') }),
      says: 'ValidatingSecret',
      does: `${all}, ${ask}`,
    },
    {
      arrow: 'ValidatingSecret: it still does not answer',
      seen: {
        ...unsaid,
        controlPlane: but(controlPlane, { status: { conditions: unsaid.controlPlane.status?.conditions } }),
        secrets: { ...serving.secrets, answer: no('no answer') },
      },
      says: 'ValidatingSecret',
      does: ask,
    },
    {
      arrow: 'ValidatingSecret → Ready: it answers',
      seen: {
        ...unsaid,
        controlPlane: but(controlPlane, { status: { conditions: unsaid.controlPlane.status?.conditions } }),
      },
      says: 'Ready',
      does: `${point}, ${ask}`,
    },
    {
      arrow: 'WaitingForSecret → Ready: all within one pass',
      seen: built,
      says: 'Ready',
      does: `${all}, ${point}, ${ask}`,
    },
    {
      arrow: 'ValidatingSecret → Failed: a field is missing',
      seen: { ...built, secrets: incomplete },
      says: 'Failed',
      does: ask,
    },
    {
      arrow: 'ValidatingSecret → Failed: the kubeconfig cannot be used',
      seen: withSecrets(built, {
        credential: refused(true, 'output kubeconfig: its token has expired'),
        answer: { is: 'unasked' },
      }),
      says: 'Failed',
      does: ask,
    },
    {
      arrow: 'Failed → WaitingForSecret: the apply is asked again',
      seen: { ...built, eks: anEks('running', eksOutputs), secrets: incomplete },
      says: 'WaitingForSecret',
      does: ask,
    },
    {
      arrow: 'Failed → Ready: the template was mended',
      seen: ofCP(built, { status: { conditions: [condition('SecretsReady', 'False', 'Failed')] } }),
      says: 'Ready',
      does: `${all}, ${point}, ${ask}`,
    },
    {
      arrow: 'Ready → Ready: the Secret is updated',
      seen: withSecrets(serving, {
        copies: copies({ isCurrent: false }),
        connection: built.secrets.connection,
        credential: fresh(),
      }),
      says: 'Ready',
      does: `${all}, ${ask}`,
    },
    {
      arrow: 'Ready → Ready: the Secret is gone for a moment',
      seen: withSecrets(serving, {
        copies: copies({ isCurrent: false }),
        connection: 'absent',
        credential: { is: 'none' },
      }),
      says: 'Ready',
      does: ask,
    },
    {
      arrow: 'Ready → Ready: the new one is wrong, the last is good',
      seen: withSecrets(serving, { copies: copies({ isCurrent: false }), credential: refused(true) }),
      says: 'Ready',
      does: ask,
    },
    {
      arrow: 'Ready → Ready: the new one is rejected, the last is good',
      seen: withSecrets(serving, { copies: copies({ dueIn: -1 }), credential: fresh(rejected) }),
      says: 'Ready',
      does: ask,
    },
    {
      arrow: 'Ready → WaitingForSecret: the Secret is gone, and the last token is over',
      seen: withSecrets(serving, {
        copies: copies({ goodFor: 0 }),
        connection: 'absent',
        credential: { is: 'none' },
        answer: { is: 'unasked' },
      }),
      says: 'WaitingForSecret',
      does: ask,
    },
    {
      arrow: 'Ready → ValidatingSecret: AWS is out until the last token is over',
      seen: withSecrets(serving, {
        copies: copies({ goodFor: 0 }),
        credential: refused(false),
        answer: { is: 'unasked' },
      }),
      says: 'ValidatingSecret',
      does: ask,
    },
    {
      arrow: 'Ready → ValidatingSecret: the last token is over, the new one is rejected',
      seen: withSecrets(serving, {
        copies: copies({ goodFor: 0, dueIn: -1 }),
        credential: fresh(rejected),
        answer: rejected,
      }),
      says: 'ValidatingSecret',
      does: `${tokens}, ${ask}`,
    },
    {
      arrow: 'ValidatingSecret: and stays so while it lies there, rejected',
      seen: withSecrets(unsaid, { answer: rejected }),
      says: 'ValidatingSecret',
      does: ask,
    },
    {
      arrow: 'Ready: the API server is silent, which is no fault of the Secrets',
      seen: withSecrets(serving, { answer: no('no answer') }),
      says: 'Ready',
      does: ask,
    },
    {
      arrow: 'Ready: a token is renewed',
      seen: withSecrets(serving, { copies: copies({ dueIn: 0 }), credential: fresh() }),
      says: 'Ready',
      does: `${tokens}, ${ask}`,
    },
    {
      arrow: 'Ready: somebody spoilt the copies',
      seen: withSecrets(serving, { copies: copies({ isIntact: false }), credential: fresh() }),
      says: 'Ready',
      does: `${all}, ${ask}`,
    },
    {
      arrow: 'ValidatingSecret: one has another type',
      seen: withSecrets(built, { inTheWay: [ofAnotherType('demo-kubeconfig')] }),
      says: 'ValidatingSecret',
      does: `apply Secret control-plane-kubeconfig, apply Secret user-kubeconfig, apply Secret ca, delete Secret kubeconfig, ${ask}`,
    },
    {
      arrow: 'ValidatingSecret: one has another type, and a token is due',
      seen: withSecrets(serving, {
        copies: copies({ dueIn: 0 }),
        inTheWay: [ofAnotherType('demo-ca')],
        credential: fresh(),
      }),
      says: 'ValidatingSecret',
      does: `${tokens}, delete Secret ca, ${ask}`,
    },
    {
      arrow: 'ValidatingSecret: one has another type, and is on its way already',
      seen: withSecrets(serving, { inTheWay: [but(ofAnotherType('demo-ca'), gone)] }),
      says: 'ValidatingSecret',
      does: ask,
    },
    {
      arrow: 'Ready → ValidatingSecret: the last is rejected, and so is the next',
      seen: withSecrets(serving, { credential: fresh(rejected), answer: rejected }),
      says: 'ValidatingSecret',
      does: ask,
    },
    {
      arrow: 'Ready → Ready: the last is rejected, the next is not',
      seen: withSecrets(serving, { credential: fresh(), answer: rejected }),
      says: 'Ready',
      does: `${tokens}, ${ask}`,
    },
    {
      arrow: "Failed: one of another type is another's",
      seen: withSecrets(built, { inTheWay: [aSecretOf('demo-kubeconfig', 'x', 'Opaque')] }),
      says: 'Failed',
      does: `apply Secret control-plane-kubeconfig, apply Secret user-kubeconfig, apply Secret ca, ${ask}`,
    },
  ])('$arrow', ({ seen, says, does: deeds }) => {
    expect(saysOf(decide(seen), 'SecretsReady')).toBe(says)
    expect(does(seen)).toBe(deeds)
  })

  test('a Secret of another is left alone and named, and the others are looked after', () => {
    const foreign = { secret: aSecretOf('demo-ca', 'kcp'), isIntact: false, isCurrent: false }
    const seen = withSecrets(serving, { copies: new Map([...copies(), ['ca', foreign]]), credential: fresh() })
    expect(messageOf(decide(seen), 'SecretsReady')).toContain('Secret team/demo-ca belongs to Other kcp')
    expect(does(seen)).toBe(ask) // nothing else is to be done: no write, no end of them
    const due = withSecrets(seen, { copies: new Map([...copies({ dueIn: 0 }), ['ca', foreign]]) })
    expect(does(due)).toBe(`${tokens}, ${ask}`)
    expect(decide(due).wake).toEqual({ afterSeconds: 480 })
    expect(decide(seen).status).toMatchObject({ secretsReady: false })
  })

  test('whatever is wrong with them is told together, what is final first', () => {
    const foreign = { secret: aSecretOf('demo-ca', 'kcp'), isIntact: false, isCurrent: false }
    const plan = decide(
      withSecrets(serving, {
        copies: new Map([...copies({ goodFor: 0 }), ['ca', foreign]]),
        inTheWay: [ofAnotherType('demo-user-kubeconfig')],
        credential: refused(false),
        answer: { is: 'unasked' },
      }),
    )
    expect(saysOf(plan, 'SecretsReady')).toBe('Failed')
    expect(messageOf(plan, 'SecretsReady')).toBe(
      'no kubeconfig can be made: AWS is out; it is tried again; Secret team/demo-ca belongs to Other kcp, and is left alone: delete it, or give the Cluster another name; Secret team/demo-user-kubeconfig has another type than cluster.x-k8s.io/secret, and is made anew',
    )
    expect(doesOf(plan)).toContain('count NoCredential, count ForeignSecret, count WrongType')
  })

  test('while the first belongs to another, the second is renewed in time', () => {
    const foreign = { secret: aSecretOf('demo-kubeconfig', 'kcp'), isIntact: false, isCurrent: false }
    const mine = (how: object) => new Map([...copies(how), ['kubeconfig', foreign]] as const)
    expect(decide(withSecrets(serving, { copies: mine({}), credential: fresh() })).wake).toEqual({ afterSeconds: 480 })
    const due = withSecrets(serving, { copies: mine({ dueIn: 0 }), credential: fresh() })
    expect(does(due)).toBe(`apply Secret control-plane-kubeconfig, ${ask}`)
  })

  test('it says what is final and what is tried again', () => {
    const final = decide(withSecrets(built, { credential: refused(true), answer: { is: 'unasked' } }))
    expect([messageOf(final, 'SecretsReady'), final.wake]).toEqual([
      'no kubeconfig can be made: AWS is out',
      'onChange',
    ])
    const passing = decide(withSecrets(built, { credential: refused(false), answer: { is: 'unasked' } }))
    expect(messageOf(passing, 'SecretsReady')).toBe('no kubeconfig can be made: AWS is out; it is tried again')
    expect(passing.wake).toEqual({ afterSeconds: 5 })
  })

  test('trouble is counted once, not with every pass', () => {
    const seen = withSecrets(built, { credential: refused(true), answer: { is: 'unasked' } })
    const plan = decide(seen)
    expect(doesOf(plan)).toContain('count NoCredential')
    const conditions = plan.conditions.map((each) => ({ ...each, lastTransitionTime: '' }))
    expect(doesOf(decide(ofCP(seen, { status: { conditions } })))).toBe(ask)
  })
})

describe('whether it is Available', () => {
  test.each<[string, Seen, string]>([
    [
      'while a new kubeconfig is rejected and the last is answered',
      withSecrets(serving, { copies: copies({ dueIn: -1 }), credential: fresh(rejected) }),
      'Available',
    ],
    [
      'while neither is answered',
      withSecrets(serving, { copies: copies({ dueIn: -1 }), credential: fresh(rejected), answer: rejected }),
      'NotAnswering',
    ],
    ...(['controlPlaneKubeconfig', 'userKubeconfig', 'ca'] as const).map((role): [string, Seen, string] => {
      const secret = aSecretOf(copyName(role, 'demo'), 'x')
      const foreign = { secret, isIntact: false, isCurrent: false }
      return [
        `though the Secret for ${role} belongs to another`,
        withSecrets(serving, { copies: new Map([...copies(), [role, foreign]]) }),
        'Available',
      ]
    }),
    [
      'while one of another type is cleared away',
      withSecrets(serving, { inTheWay: [ofAnotherType('demo-ca')] }),
      'Available',
    ],
    [
      'when the kubeconfig belongs to another',
      withSecrets(serving, {
        copies: new Map([
          ...copies(),
          ['kubeconfig', { secret: aSecretOf('demo-kubeconfig', 'x'), isIntact: false, isCurrent: false }],
        ]),
      }),
      'ConnectionIncomplete',
    ],
    ['without an endpoint', { ...built, eks: anEks('done', {}), secrets: incomplete }, 'ConnectionIncomplete'],
    [
      'without Secrets',
      withSecrets(built, { credential: refused(true), answer: { is: 'unasked' } }),
      'ConnectionIncomplete',
    ],
    ['before the API server was asked', withSecrets(serving, { answer: { is: 'unasked' } }), 'ConnectionIncomplete'],
    [
      'when the apply is gone',
      {
        ...serving,
        eks: undefined,
        secrets: { ...serving.secrets, connection: 'absent', credential: { is: 'none' }, answer: { is: 'unasked' } },
      },
      'NotCreated',
    ],
  ])('%s', (_, seen, says) => {
    expect(saysOf(decide(seen), 'Available')).toBe(says)
  })
})

describe('when it wakes by itself', () => {
  test.each<[string, Seen, Plan['wake']]>([
    [
      'for nothing, while the network is late already',
      { ...ofCP(waitingSeen, late), cluster: unprovisioned },
      'onChange',
    ],
    ['when the network is late', { ...waitingSeen, cluster: unprovisioned }, { afterSeconds: 600 }],
    ['when Terraform is late', building, { afterSeconds: 29 * 60 }],
    ['when a token is due', serving, { afterSeconds: 480 }],
    ['when the one just made is due', built, { afterSeconds: 480 }],
    [
      'when a token is over, if it cannot be renewed',
      withSecrets(serving, { copies: copies({ dueIn: -1, goodFor: 1 }), credential: refused(true) }),
      { afterSeconds: 60 },
    ],
    [
      'for nothing, when it is over and that is final',
      withSecrets(serving, {
        copies: copies({ dueIn: -9, goodFor: -1 }),
        credential: refused(true),
        answer: { is: 'unasked' },
      }),
      'onChange',
    ],
    [
      'each minute, when somebody has to mend it at AWS',
      withSecrets(serving, {
        copies: copies({ dueIn: -9, goodFor: -1 }),
        credential: { is: 'refused', mend: 'elsewhere', why: 'AccessDenied' },
        answer: { is: 'unasked' },
      }),
      { afterSeconds: 60 },
    ],
    [
      'soon, when AWS is out',
      withSecrets(serving, { copies: copies({ dueIn: 0 }), credential: refused(false) }),
      { afterSeconds: 5 },
    ],
    [
      'not so soon, when it is out for long',
      withSecrets(
        { ...serving, ...telling('AWS is out') },
        { copies: copies({ dueIn: -5 }), credential: refused(false) },
      ),
      { afterSeconds: 60 },
    ],
    [
      'at once, when one of another type was deleted',
      withSecrets(built, { inTheWay: [ofAnotherType('demo-kubeconfig')] }),
      { afterSeconds: 1 },
    ],
  ])('%s', (_, seen, wake) => {
    expect(decide(seen).wake).toEqual(wake)
  })
})
