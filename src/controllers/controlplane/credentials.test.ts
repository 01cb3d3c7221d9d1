import { describe, expect, test } from 'vitest'
import { messageOf } from '../../../test/applies.ts'
import { anEks, but, controlPlane, gone, paused, saysOf } from '../../../test/controlplanes.ts'
import { aConnection, aWorld, eks, inMinutes, outputs, probed, type World } from '../../../test/passes.ts'
import { aCA } from '../../../test/pki.ts'
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { Secret } from '../../api/neighbours.ts'
import { seal } from '../../api/sealed.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { AwsError } from '../../aws/errors.ts'
import { writeKubeconfig } from '../../secrets/kubeconfig.ts'

const all = ['demo-kubeconfig', 'demo-control-plane-kubeconfig', 'demo-user-kubeconfig', 'demo-ca'].map(
  (each) => `write ${each}`,
)
const tokens = all.slice(0, 2)

describe('pass by pass', () => {
  test('the first makes everything, the next finds nothing to do and reads nothing', async () => {
    const { pass, value } = aWorld()
    const first = await pass()
    expect(first.did).toEqual(['read demo-eks-connection', 'sign', 'greet as token-1', ...all])
    expect(first.says).toBe('Ready Available')
    expect(value('demo-kubeconfig')).toContain('token-1')
    expect(value('demo-kubeconfig')).toBe(value('demo-control-plane-kubeconfig'))
    const calm = await pass({ of: probed })
    expect([calm.did, calm.says]).toEqual([[], 'Ready Available'])
  })

  test('until core reaches the cluster it is asked with what is kept, but not when it has just answered', async () => {
    const { pass, state } = aWorld()
    await pass()
    expect((await pass()).did).toEqual([])
    state.now = inMinutes(1)
    expect((await pass()).did).toEqual(['read demo-kubeconfig', 'greet as token-1'])
  })

  test('a token that is due is renewed, and only where it is', async () => {
    const { pass, state, value } = aWorld()
    await pass()
    state.now = inMinutes(10)
    expect((await pass({ of: probed })).did).toEqual([
      'read demo-eks-connection',
      'sign',
      'greet as token-2',
      ...tokens,
    ])
    expect(value('demo-kubeconfig')).toContain('token-2')
    expect((await pass({ of: probed })).did).toEqual([])
  })

  test('so it is while it is paused, and nothing else', async () => {
    const { pass, state, remove } = aWorld()
    await pass()
    state.now = inMinutes(10)
    expect((await pass({ of: paused })).did).toEqual([
      'read demo-eks-connection',
      'sign',
      'greet as token-2',
      ...tokens,
    ])
    remove('demo-ca')
    expect((await pass({ of: paused })).did.filter((each) => each.startsWith('write'))).toEqual([])
  })

  test.each<[string, (world: World) => unknown, readonly string[]]>([
    ['a copy is deleted', ({ remove }) => remove('demo-ca'), ['write demo-ca']],
    [
      'a copy loses its label',
      ({ alter }) => alter('demo-user-kubeconfig', { labels: {} }),
      ['write demo-user-kubeconfig'],
    ],
    ['somebody writes into the kubeconfig', ({ alter }) => alter('demo-kubeconfig', { managedFields: [] }), tokens],
    [
      'somebody takes away when it is to be renewed',
      ({ alter, get }) => {
        const { 'capt.appthrust.io/token-renews': _, ...annotations } =
          get('demo-kubeconfig')?.metadata.annotations ?? {}
        const fieldsV1 = { 'f:data': { 'f:value': {} } }
        alter('demo-kubeconfig', {
          annotations,
          managedFields: [{ manager: 'capt-controlplane', operation: 'Apply', fieldsV1 }],
        })
      },
      tokens,
    ],
    ['the connection is written again', ({ alter }) => alter('demo-eks-connection', { resourceVersion: '2' }), all],
  ])('when %s it is made good, once', async (_, happens, written) => {
    const world = aWorld()
    await world.pass()
    happens(world)
    const { did } = await world.pass({ of: probed })
    expect(did.filter((each) => each.startsWith('write'))).toEqual(written)
    expect((await world.pass({ of: probed })).did).toEqual([])
  })

  test('when the connection is gone the kubeconfigs stay', async () => {
    const { pass, remove } = aWorld()
    await pass()
    remove('demo-eks-connection')
    expect(await pass({ of: probed })).toMatchObject({ did: [], says: 'Ready Available' })
  })

  test('a new token that is rejected does not make a cluster unavailable that core reaches', async () => {
    const { pass, state } = aWorld()
    await pass()
    state.now = inMinutes(10)
    state.answer = { is: 'no', why: '401' }
    const { did, says, plan } = await pass({ of: probed })
    expect(did).toEqual(['read demo-eks-connection', 'sign', 'greet as token-2'])
    expect(says).toBe('Ready Available')
    expect(plan.wake).not.toBe('onChange')
  })

  test('who is silent is asked once, who refuses a credential with the other one, too', async () => {
    const { pass, state } = aWorld()
    await pass()
    state.now = inMinutes(10)
    state.answer = { is: 'no', why: '403' }
    const refused = ['read demo-eks-connection', 'sign', 'greet as token-2', 'read demo-kubeconfig']
    expect((await pass()).did).toEqual([...refused, 'greet as token-1'])
    state.answer = { is: 'no', why: 'nobody listens', isSilent: true }
    const alone = ['read demo-eks-connection', 'sign', 'greet as token-3', 'read demo-kubeconfig']
    expect((await pass()).did).toEqual(alone)
  })

  test('who is silent is not asked for a token of an account again, nor greeted', async () => {
    const { pass, state } = aWorld()
    const spec = { kubeconfig: { source: 'ServiceAccount' } }
    await pass({ spec })
    state.now = inMinutes(60 * 20)
    state.answer = { is: 'no', why: 'nobody listens', isSilent: true }
    const { did, plan } = await pass({ spec })
    expect(did.filter((each) => /^(account|greet)/.test(each))).toHaveLength(1)
    expect(JSON.stringify(plan.conditions).match(/no token of an account can be had: nobody listens/g)).toHaveLength(1)
  })

  test('while nobody answers it is not Ready, and the kubeconfig is there for when somebody does', async () => {
    const { pass, state } = aWorld({ answer: { is: 'no', why: 'no answer' } })
    expect((await pass()).says).toBe('ValidatingSecret NotAnswering')
    expect(await pass()).toMatchObject({
      did: ['read demo-kubeconfig', 'greet as token-1'],
      says: 'ValidatingSecret NotAnswering',
    })
    state.answer = { is: 'yes' }
    const { says, plan } = await pass()
    expect([says, plan.status?.['initialized']]).toEqual(['Ready Available', true])
  })

  test('a ServiceAccount renews with its own token', async () => {
    const { pass, state } = aWorld()
    const spec = { kubeconfig: { source: 'ServiceAccount' } }
    expect((await pass({ spec })).did).toEqual([
      'read demo-eks-connection',
      'sign',
      'account as token-1',
      'greet as of-account-2',
      ...all,
    ])
    state.now = inMinutes(60 * 20)
    const again = await pass({ of: probed, spec })
    expect(again.did).toEqual([
      'read demo-eks-connection',
      'read demo-kubeconfig',
      'account as of-account-2',
      'greet as of-account-3',
      ...tokens,
    ])
  })
})

describe('what is not asked', () => {
  test('nothing before Terraform is done, nor of an apply that is not ours', async () => {
    const { pass, put } = aWorld()
    put(WorkspaceTemplateApply, anEks('running'))
    expect((await pass()).did).toEqual([])
    put(WorkspaceTemplateApply, but(anEks('done', outputs), { metadata: { ownerReferences: [] } }))
    const { did, seen, says } = await pass()
    expect([did, seen.eks, says]).toEqual([[], undefined, 'WaitingForSecret NotCreated'])
    expect(seen.taken).toBeDefined()
  })

  test('nothing of one that leaves before it had any', async () => {
    const { pass, put } = aWorld()
    put(CAPTControlPlane, but(controlPlane, gone))
    expect((await pass()).did).toEqual([])
  })

  test('no token for a cluster of another name', async () => {
    const { pass, put } = aWorld()
    put(WorkspaceTemplateApply, anEks('done', { ...outputs, cluster_name: 'other' }))
    const { did, says } = await pass()
    expect([did, says]).toEqual([['read demo-eks-connection'], 'Failed ConnectionIncomplete'])
  })
})

describe('a Secret of another type in the way', () => {
  const opaque = { ...aConnection('demo-kubeconfig', { value: 'x' }), type: 'Opaque' }
  const labels = { 'cluster.x-k8s.io/cluster-name': 'demo' }
  const { apiVersion, kind } = controlPlane
  const owner = { apiVersion, kind, name: 'demo', uid: 'of an older life' }
  const other = { apiVersion: 'x/v1', kind: 'Other', name: 'o', uid: 'o', controller: true }
  // Long enough for copies to be there, or for us to wonder.
  const standing = but(eks, { status: { lastAppliedTime: '2026-11-16T11:00:00Z' } })
  const inTheWay = (metadata: object, name = 'demo-kubeconfig', type = 'Opaque') => {
    const world = aWorld()
    world.put(Secret, { ...opaque, type, metadata: { ...opaque.metadata, name, ...metadata } } as Secret)
    world.put(WorkspaceTemplateApply, standing)
    return world
  }

  test.each<[string, object]>([
    ['it has the label of the Cluster', { labels }],
    ['the predecessor made it', { ownerReferences: [{ ...owner, controller: true }] }],
    ['it is owned by the control plane among others', { ownerReferences: [owner] }],
    ['we wrote into it', { managedFields: [{ manager: 'capt-controlplane', operation: 'Apply' }] }],
  ])('is deleted and made anew when %s', async (_, metadata) => {
    const { pass, value } = inTheWay(metadata)
    const { did, says, plan } = await pass()
    expect(did).toContain('delete demo-kubeconfig')
    expect([says, plan.wake]).toEqual(['ValidatingSecret ConnectionIncomplete', { afterSeconds: 1 }])
    expect((await pass()).says).toBe('Ready Available')
    expect(value('demo-kubeconfig')).toContain('token')
  })

  test.each<[string, object, string, string]>([
    ['it is of another', { ownerReferences: [other] }, 'Opaque', 'belongs to Other o'],
    ['it is of another, whatever its label says', { ownerReferences: [other], labels }, 'Opaque', 'belongs to Other o'],
    [
      'it is for another Cluster',
      { labels: { 'cluster.x-k8s.io/cluster-name': 'x' } },
      'Opaque',
      'is labelled as one of Cluster x',
    ],
    [
      'nothing says whose it is',
      {},
      'kubernetes.io/tls',
      'has type kubernetes.io/tls, and nothing on it says that it is of Cluster demo',
    ],
  ])('is left alone and looked at again when %s', async (_, metadata, type, why) => {
    const { pass, get } = inTheWay(metadata, 'demo-kubeconfig', type)
    for (const { did, says, plan } of [await pass(), await pass(), await pass()]) {
      expect([says, plan.wake]).toEqual(['Failed ConnectionIncomplete', { afterSeconds: 60 }])
      expect(messageOf(plan, 'SecretsReady')).toBe(
        `Secret team/demo-kubeconfig ${why}, and is left alone: delete it, or give the Cluster another name`,
      )
      expect(did.filter((each) => /^(write|delete) demo-kubeconfig/.test(each))).toEqual([])
    }
    expect(get('demo-kubeconfig')).toMatchObject({ type, data: opaque.data })
  })

  test.each(['demo-ca', 'demo-user-kubeconfig', 'demo-control-plane-kubeconfig'])(
    'is named, and the cluster serves on, when it is %s',
    async (name) => {
      const { pass, get } = inTheWay({}, name, 'kubernetes.io/tls')
      const { says, plan } = await pass()
      expect([says, saysOf(plan, 'Ready')]).toEqual(['Failed Available', 'NotReady'])
      expect(get(name)).toMatchObject({ type: 'kubernetes.io/tls' })
      expect((await pass({ of: probed })).did.filter((each) => !each.startsWith('read'))).toEqual([]) // no token for it
    },
  )

  test('is told no bytes of', async () => {
    const { seen } = await inTheWay({ labels }).pass()
    expect(seen.secrets.inTheWay).toMatchObject([{ metadata: { name: 'demo-kubeconfig' } }])
    expect(seen.secrets.inTheWay[0]).not.toHaveProperty('data')
  })

  test('is found though the cache knows it for another reason', async () => {
    const { pass, put } = aWorld()
    put(Secret, aConnection('demo-ca', { x: 'y' }))
    const { did, says } = await pass()
    expect([did.includes('write demo-ca'), says]).toEqual([false, 'Failed Available'])
  })

  test('and does not go, keeps no token from being renewed, and is not chased', async () => {
    const { pass, state } = inTheWay({ labels, finalizers: ['theirs'] }, 'demo-ca')
    expect((await pass({ of: probed })).did).toContain('delete demo-ca')
    expect((await pass({ of: probed })).did).not.toContain('delete demo-ca')
    state.now = inMinutes(10)
    const { did, says, plan } = await pass({ of: probed })
    expect(did.filter((each) => each.startsWith('write'))).toEqual(tokens)
    expect([says, plan.wake]).toEqual(['ValidatingSecret Available', { afterSeconds: 60 }])
  })
})

describe('an endpoint that only the connection tells', () => {
  const { cluster_endpoint: address, ...rest } = outputs

  test('is not forgotten when nobody answers at first', async () => {
    const { pass, put, state } = aWorld({ answer: { is: 'no', why: 'no answer' } })
    put(WorkspaceTemplateApply, but(eks, { status: { outputs: rest } }))
    put(Secret, aConnection('demo-eks-connection', { cluster_endpoint: address }))
    expect((await pass()).did).toEqual(['read demo-eks-connection', 'sign', 'greet as token-1', ...all])
    const { plan } = await pass()
    expect(saysOf(plan, 'EndpointReady')).toBe('Known')
    state.answer = { is: 'yes' }
    const { says, plan: then } = await pass()
    expect(says).toBe('Ready Available')
    expect(then.effects).toContainEqual(
      expect.objectContaining({ change: { spec: { controlPlaneEndpoint: { host: 'api.example', port: 443 } } } }),
    )
    expect((await pass({ of: probed })).did).toEqual([]) // it is written down now
  })
})

const rejected = { is: 'no', why: 'it does not take the credential (401)', isRejected: true } as const

describe('a token that is due', () => {
  const foreign = { ownerReferences: [{ apiVersion: 'x/v1', kind: 'Other', name: 'o', uid: 'o', controller: true }] }

  test.each<[string, (world: World) => unknown]>([
    ['is missing', ({ remove }) => remove('demo-control-plane-kubeconfig')],
    ['was edited', ({ alter }) => alter('demo-control-plane-kubeconfig', { managedFields: [] })],
    ["is another's", ({ alter }) => alter('demo-control-plane-kubeconfig', foreign)],
  ])('is renewed in a pause though its sister %s', async (_, happens) => {
    const world = aWorld()
    await world.pass()
    happens(world)
    expect((await world.pass({ of: paused })).did).toEqual([])
    world.state.now = inMinutes(10)
    const { did } = await world.pass({ of: paused })
    expect(did).toEqual(['read demo-eks-connection', 'sign', 'greet as token-2', 'write demo-kubeconfig'])
    expect((await world.pass({ of: paused })).did).toEqual([])
  })

  test.each<[string, (world: World) => unknown, string]>([
    ['is missing', ({ remove }) => remove('demo-control-plane-kubeconfig'), 'write demo-control-plane-kubeconfig'],
    [
      'was edited',
      ({ alter }) => alter('demo-control-plane-kubeconfig', { managedFields: [] }),
      'write demo-control-plane-kubeconfig',
    ],
  ])('is not given up for one that is rejected though its sister %s', async (_, happens, written) => {
    const world = aWorld()
    await world.pass()
    happens(world)
    world.state.answer = rejected
    const { did, says, plan } = await world.pass({ of: probed })
    expect(did.filter((each) => each.startsWith('write'))).toEqual([written])
    expect(world.value('demo-kubeconfig')).toContain('token-1')
    expect(says).toBe('Ready Available')
    expect(messageOf(plan, 'SecretsReady')).toMatch(/^the last good kubeconfig stays: /)
  })

  test('is renewed of what the outputs tell while the connection is gone', async () => {
    const { pass, state, remove } = aWorld()
    await pass()
    remove('demo-eks-connection')
    const [before] = [messageOf((await pass({ of: probed })).plan, 'SecretsReady')]
    expect(before).toContain('waits for Secret demo-eks-connection')
    state.now = inMinutes(10)
    const { did, says, plan } = await pass({ of: probed })
    expect([did, says]).toEqual([['sign', 'greet as token-2', ...tokens], 'Ready Available'])
    expect(messageOf(plan, 'SecretsReady')).toBe(before) // and it is no news
    expect((await pass({ of: probed })).did).toEqual([])
  })

  test.each<[string, object | undefined]>([
    ['of the template', undefined],
    ['of the template, as was asked', { kubeconfig: { source: 'Template' } }],
  ])('waits for the connection to come again when it is %s', async (_, spec = {}) => {
    const { pass, put, state, remove } = aWorld()
    const way = { server: 'https://api.example', ca: aCA, token: seal('from-template') }
    put(Secret, aConnection('demo-eks-connection', { kubeconfig: writeKubeconfig('x', way).open() }))
    await pass({ spec })
    remove('demo-eks-connection')
    remove('demo-ca')
    state.now = inMinutes(10)
    expect((await pass({ spec, of: probed })).did).toEqual([])
  })

  test('is renewed in a pause though the control plane was stripped of its owner', async () => {
    const { pass, state } = aWorld()
    await pass()
    state.now = inMinutes(10)
    const still = { ...probed, spec: { ...probed.spec, paused: true } }
    const { did } = await pass({ of: still, on: { ownerReferences: [] } })
    expect(did.filter((each) => each.startsWith('write'))).toEqual(tokens)
  })

  test('is renewed while the cluster leaves, as long as EKS is there', async () => {
    const { pass, put, state } = aWorld()
    await pass()
    state.now = inMinutes(10)
    const { did, plan } = await pass({ on: gone.metadata })
    expect(did).toEqual(['read demo-eks-connection', 'sign', 'greet as token-2', ...tokens])
    expect(plan.wake).not.toBe('onChange')
    put(WorkspaceTemplateApply, but(eks, { metadata: { ownerReferences: [], name: 'demo-eks-controlplane' } }))
    state.now = inMinutes(20)
    expect((await pass()).did).toEqual([])
  })

  test.each<[string, object]>([
    ['has lost its status', { status: undefined }],
    ['never converged, as far as it says', { status: { applied: undefined, outputs: undefined } }],
  ])('is renewed though the apply %s', async (_, lost) => {
    const { pass, put, state } = aWorld()
    put(Secret, aConnection('demo-eks-connection', outputs))
    await pass()
    put(WorkspaceTemplateApply, { ...eks, ...lost })
    state.now = inMinutes(10)
    const { did, says } = await pass({ of: probed })
    expect(did.filter((each) => each.startsWith('write'))).toEqual(all) // of the connection, for there are no outputs
    expect(says).toBe('Ready Available')
  })

  test('is not signed before the cluster has told its name again', async () => {
    const { pass, put, state } = aWorld()
    await pass()
    put(WorkspaceTemplateApply, { ...eks, status: undefined } as unknown as WorkspaceTemplateApply)
    put(Secret, aConnection('demo-eks-connection', { ...outputs, cluster_name: 'other' }))
    state.now = inMinutes(10)
    expect((await pass({ of: probed })).did).toEqual(['read demo-eks-connection'])
  })
})

describe('a kubeconfig that is rejected', () => {
  const of = (source: string) => ({ kubeconfig: { source } })
  const later = inMinutes(2)

  test('is made anew at once, when it is ours', async () => {
    const { pass, state, value } = aWorld()
    await pass({ spec: of('AWS') })
    state.answers = { 'token-1': rejected }
    state.now = later
    const { did, says } = await pass()
    expect(did).toEqual([
      'read demo-kubeconfig',
      'greet as token-1',
      'read demo-eks-connection',
      'sign',
      'greet as token-2',
      ...tokens,
    ])
    expect([says, value('demo-kubeconfig').includes('token-2')]).toEqual(['Ready Available', true])
  })

  test('is not written again and again when the next is rejected, too', async () => {
    const { pass, state } = aWorld({ answer: rejected })
    expect((await pass({ spec: of('AWS') })).did).toContain('write demo-kubeconfig')
    for (const [minutes, wake] of [
      [0, 5],
      [2, 60],
    ] as const) {
      state.now = inMinutes(minutes)
      const { did, says, plan } = await pass()
      expect(did.filter((each) => each.startsWith('write'))).toEqual([])
      expect([says, plan.wake]).toEqual(['ValidatingSecret NotAnswering', { afterSeconds: wake }])
    }
  })

  test('goes by its bootstrap, when the account is gone', async () => {
    const { pass, state } = aWorld()
    await pass({ spec: of('ServiceAccount') })
    state.answers = { 'of-account-2': rejected }
    state.now = later
    expect((await pass()).did).toEqual([
      'read demo-kubeconfig',
      'greet as of-account-2',
      'read demo-eks-connection',
      'sign',
      'account as token-3',
      'greet as of-account-4',
      ...tokens,
    ])
  })

  const way = { server: 'https://api.example', ca: aCA, token: seal('from-template') }
  const written = aConnection('demo-eks-connection', { kubeconfig: writeKubeconfig('x', way).open() })
  const remark = 'the API server does not take the output kubeconfig (401): a token signed at AWS is used instead'

  test('of the template gives way to one of AWS, which is said for as long as it is so', async () => {
    const { pass, put, state, value } = aWorld()
    put(Secret, written)
    await pass()
    expect(value('demo-kubeconfig')).toContain('from-template')
    state.answers = { 'from-template': rejected }
    state.now = later
    const { says, plan } = await pass()
    expect([says, messageOf(plan, 'SecretsReady')]).toEqual(['Ready Available', remark])
    expect(value('demo-kubeconfig')).toContain('token-1')
    expect(messageOf((await pass({ of: probed })).plan, 'SecretsReady')).toBe(remark)
    state.now = inMinutes(12)
    expect(messageOf((await pass({ of: probed })).plan, 'SecretsReady')).toBe(remark)
    expect(value('demo-kubeconfig')).toContain('token-2')
    put(Secret, { ...written, metadata: { ...written.metadata, resourceVersion: '2' } })
    state.answers = {}
    expect(messageOf((await pass({ of: probed })).plan, 'SecretsReady')).toBe('')
    expect(value('demo-kubeconfig')).toContain('from-template')
  })

  test('of the template stays where there is nothing else', async () => {
    const { pass, put, state, value } = aWorld({ answer: rejected })
    put(Secret, written)
    state.aws = new AwsError({ doing: 'find AWS credentials', why: 'there are none', isFinal: true })
    expect((await pass()).says).toBe('ValidatingSecret NotAnswering')
    expect((await pass()).did.filter((each) => each.startsWith('write'))).toEqual([])
    expect(value('demo-kubeconfig')).toContain('from-template')
  })

  test("of the template is the template's to mend, when that was asked for", async () => {
    const { pass, put } = aWorld({ answer: rejected })
    put(Secret, written)
    await pass({ spec: of('Template') })
    const { did, says } = await pass()
    expect(did).toEqual(['read demo-kubeconfig', 'greet as from-template'])
    expect(says).toBe('ValidatingSecret NotAnswering')
  })
})

test('what cannot be renewed in a pause is told and counted once, and all other conditions stay', async () => {
  const { pass, state } = aWorld()
  await pass()
  state.now = inMinutes(10)
  state.aws = new AwsError({ doing: 'assume the role', why: 'AccessDenied', isFinal: true })
  const { plan } = await pass({ of: paused })
  expect(messageOf(plan, 'Paused')).toBe(
    'Cluster team/demo is paused (spec.paused); a token is due, and cannot be renewed: no kubeconfig can be made: cannot assume the role: AccessDenied',
  )
  expect(plan).toMatchObject({ others: 'stay', wake: { afterSeconds: 60 } })
  expect(plan.effects.map((each) => each.do)).toEqual(['count', 'tell'])
  expect((await pass({ of: paused })).plan.effects).toEqual([])
  state.aws = undefined
  const { plan: then } = await pass({ of: paused })
  expect([messageOf(then, 'Paused'), then.effects.length]).toEqual(['Cluster team/demo is paused (spec.paused)', 2])
})
