// Passes over a world in memory: a cache that knows no bytes, an API server that does, and what lies outside.
import { describe, expect, test } from 'vitest'
import { condition, now as noon } from '../../../test/applies.ts'
import { anEks, but, cluster, controlPlane, eksOutputs, network, paused, saysOf } from '../../../test/controlplanes.ts'
import { aCA, base64 } from '../../../test/pki.ts'
import { CAPTCluster } from '../../api/captcluster.ts'
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import type { Said } from '../../api/condition.ts'
import { Cluster, Secret } from '../../api/neighbours.ts'
import { type Key, type KubeObject, keyOf, type Resource, resourceName, tellKey } from '../../api/resource.ts'
import { seal } from '../../api/sealed.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { ApiError } from '../../kube/errors.ts'
import type { Read } from '../../runtime/cache.ts'
import type { Live } from '../../runtime/controller.ts'
import { decide } from './decide.ts'
import { observe } from './observe.ts'
import type { Outside } from './outside.ts'
import type { Answer } from './seen.ts'

const outputs = { ...eksOutputs, cluster_certificate_authority_data: base64(aCA) }
const aSecret = (name: string, data: Readonly<Record<string, string>>): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'connection.crossplane.io/v1alpha1',
  metadata: { namespace: 'team', name, uid: `uid-of-${name}`, resourceVersion: '1' },
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
})
const probed = but(cluster, { status: { conditions: [condition('RemoteConnectionProbe', 'True', 'ProbeSucceeded')] } })

const eks = but(anEks('done', outputs), { spec: { writeConnectionSecretToRef: { name: 'demo-eks-connection' } } })

function aWorld({ answer = { is: 'yes' } }: { readonly answer?: Answer } = {}) {
  const objects = new Map<string, KubeObject>()
  const idOf = (resource: Resource, key: Key) => `${resourceName(resource)} ${tellKey(key)}`
  const put = (resource: Resource, object: KubeObject) => objects.set(idOf(resource, keyOf(object)), object)
  const did: string[] = [] // what was asked of the world, in order
  const state = { now: noon, answer, tokens: 0 }
  const read = {
    get(resource: Resource, key: Key) {
      const { data: _, ...object } = (objects.get(idOf(resource, key)) ?? {}) as Secret
      if (object.kind === undefined) return undefined
      // Of other types only the connection is watched.
      const isSeen =
        resource !== Secret ||
        ['cluster.x-k8s.io/secret', 'connection.crossplane.io/v1alpha1'].includes(object.type ?? '')
      return isSeen ? resource.keep(object) : undefined
    },
    list: () => [],
    byIndex: () => [],
    keysAt: () => [],
  } as unknown as Read
  const live = {
    async get(resource: Resource, key: Key) {
      did.push(`read ${key.name}`)
      const found = objects.get(idOf(resource, key))
      if (!found) throw new ApiError({ doing: 'read', code: 404, reason: 'NotFound', message: 'no', about: key.name })
      return found
    },
    now: () => state.now,
  } as unknown as Live
  const outside: Outside = {
    async awsToken() {
      did.push('sign')
      state.tokens += 1
      return { token: seal(`token-${state.tokens}`), expires: new Date(state.now.getTime() + 840_000) }
    },
    async greet(way) {
      did.push(`greet as ${way.token?.open()}`)
      return state.answer
    },
    async accountToken(way) {
      did.push(`account as ${way.token?.open()}`)
      if (state.answer.is === 'no') return state.answer
      return { token: seal('of-account'), expires: new Date(state.now.getTime() + 86_400_000) }
    },
  }
  // One pass, as the shell carries it out, as far as Secrets and status go.
  const pass = async (as: Partial<{ spec: object; of: Cluster }> = {}) => {
    did.length = 0
    put(Cluster, as.of ?? cluster)
    const key = { namespace: 'team', name: 'demo' }
    const subject = but(objects.get(idOf(CAPTControlPlane, key)) as CAPTControlPlane, { spec: as.spec ?? {} })
    const seen = await observe(read, subject, live, outside)
    const plan = decide(seen)
    for (const each of plan.effects) {
      if (each.do === 'delete') objects.delete(idOf(each.resource, keyOf(each.object)))
      if (each.do !== 'apply' || each.resource !== Secret) continue
      const { data = {} } = each.object as Secret
      did.push(`write ${each.object.metadata.name}`)
      const fields = { 'f:data': Object.fromEntries(Object.keys(data).map((name) => [`f:${name}`, {}])) }
      const managedFields = [{ manager: 'capt-controlplane', operation: 'Apply', fieldsV1: fields }]
      put(Secret, { ...each.object, metadata: { ...each.object.metadata, uid: 'uid-of-copy', managedFields } })
    }
    const before = subject.status?.conditions ?? []
    const since = ({ type, status }: Said) =>
      before.find((each) => each.type === type && each.status === status)?.lastTransitionTime ?? state.now.toISOString()
    const conditions = plan.conditions.map((each) => ({ ...each, lastTransitionTime: since(each) }))
    put(CAPTControlPlane, but(subject, { status: { ...plan.status, conditions } }))
    return { seen, plan, did: [...did], says: saysOf(plan, 'SecretsReady', 'Available') }
  }
  put(CAPTControlPlane, controlPlane)
  put(CAPTCluster, network)
  put(WorkspaceTemplateApply, eks)
  put(Secret, aSecret('demo-eks-connection', {}))
  const value = (name: string) =>
    Buffer.from((objects.get(`secrets team/${name}`) as Secret).data?.['value'] ?? '', 'base64').toString()
  const alter = (name: string, metadata: object) => {
    const secret = objects.get(`secrets team/${name}`) as Secret
    put(Secret, { ...secret, metadata: { ...secret.metadata, ...metadata } })
  }
  return { state, pass, put, value, alter, remove: (name: string) => objects.delete(`secrets team/${name}`) }
}

const all = ['demo-kubeconfig', 'demo-control-plane-kubeconfig', 'demo-user-kubeconfig', 'demo-ca'].map(
  (each) => `write ${each}`,
)
const tokens = all.slice(0, 2)
const inMinutes = (count: number) => new Date(noon.getTime() + count * 60_000)

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

  test.each<[string, (world: ReturnType<typeof aWorld>) => unknown, readonly string[]]>([
    ['a copy is deleted', ({ remove }) => remove('demo-ca'), ['write demo-ca']],
    [
      'a copy loses its label',
      ({ alter }) => alter('demo-user-kubeconfig', { labels: {} }),
      ['write demo-user-kubeconfig'],
    ],
    ['somebody writes into the kubeconfig', ({ alter }) => alter('demo-kubeconfig', { managedFields: [] }), tokens],
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
    state.answer = { is: 'no', why: '401' }
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
    expect(did.filter((each) => /^(account|greet)/.test(each))).toEqual(['account as of-account'])
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
      'greet as of-account',
      ...all,
    ])
    state.now = inMinutes(60 * 20)
    const again = await pass({ of: probed, spec })
    expect(again.did).toEqual([
      'read demo-eks-connection',
      'read demo-kubeconfig',
      'account as of-account',
      'greet as of-account',
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

  test('nothing of one that leaves', async () => {
    const { pass, put } = aWorld()
    put(CAPTControlPlane, but(controlPlane, { metadata: { deletionTimestamp: '2026-11-16T11:00:00Z' } }))
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
  const opaque = { ...aSecret('demo-kubeconfig', { value: 'x' }), type: 'Opaque' }
  // Long enough for copies to be there, or for us to wonder.
  const standing = but(eks, { status: { lastAppliedTime: '2026-11-16T11:00:00Z' } })

  test('is looked for when a copy is still missing, deleted, and made anew', async () => {
    const { pass, put, value } = aWorld()
    put(Secret, opaque)
    put(WorkspaceTemplateApply, standing)
    expect((await pass()).says).toBe('ValidatingSecret ConnectionIncomplete')
    expect((await pass()).says).toBe('Ready Available')
    expect(value('demo-kubeconfig')).toContain('token')
  })

  test('is left alone when it is of another, and looked at again as long as it is there', async () => {
    const { pass, put } = aWorld()
    const ownerReferences = [{ apiVersion: 'x/v1', kind: 'Other', name: 'o', uid: 'o', controller: true }]
    put(Secret, { ...opaque, metadata: { ...opaque.metadata, ownerReferences } })
    put(WorkspaceTemplateApply, standing)
    for (const _ of [1, 2, 3]) {
      const { did, says } = await pass()
      expect(says).toBe('Failed ConnectionIncomplete')
      expect(did).not.toContain('write demo-kubeconfig')
    }
  })
})
