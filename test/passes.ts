// Passes over the Secrets of a control plane in a world in memory: a cache that knows no bytes, an API server that does, and what lies
// outside. A pass is carried out as far as Secrets and status go.
import { CAPTCluster } from '../src/api/captcluster.ts'
import { CAPTControlPlane } from '../src/api/captcontrolplane.ts'
import type { Said } from '../src/api/condition.ts'
import { Cluster, Secret } from '../src/api/neighbours.ts'
import { type Key, type KubeObject, keyOf, type Resource, resourceName, tellKey } from '../src/api/resource.ts'
import { seal } from '../src/api/sealed.ts'
import { WorkspaceTemplateApply } from '../src/api/workspacetemplateapply.ts'
import { decide } from '../src/controllers/controlplane/decide.ts'
import { observe } from '../src/controllers/controlplane/observe.ts'
import type { Outside } from '../src/controllers/controlplane/outside.ts'
import type { Answer } from '../src/controllers/controlplane/seen.ts'
import { ApiError } from '../src/kube/errors.ts'
import type { Read } from '../src/runtime/cache.ts'
import type { Live } from '../src/runtime/controller.ts'
import { condition, now as noon } from './applies.ts'
import { anEks, but, cluster, controlPlane, eksOutputs, network, saysOf } from './controlplanes.ts'
import { ownersAfter } from './fieldowners.ts'
import { aCA, base64 } from './pki.ts'

export const outputs = { ...eksOutputs, cluster_certificate_authority_data: base64(aCA) }
export const aConnection = (name: string, data: Readonly<Record<string, string>>): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'connection.crossplane.io/v1alpha1',
  metadata: { namespace: 'team', name, uid: `uid-of-${name}`, resourceVersion: '1' },
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
})
// Core reaches it.
export const probed = but(cluster, {
  status: { conditions: [condition('RemoteConnectionProbe', 'True', 'ProbeSucceeded')] },
})
export const eks = but(anEks('done', outputs), {
  spec: { writeConnectionSecretToRef: { name: 'demo-eks-connection' } },
})
export const inMinutes = (count: number) => new Date(noon.getTime() + count * 60_000)

interface State {
  now: Date
  answer: Answer // to everything
  answers: Readonly<Record<string, Answer>> // but for these tokens
  aws: Error | undefined // what it says instead of giving a token
  tokens: number
  services: readonly string[] // in the cluster, with load balancers
}

export function aWorld({ answer = { is: 'yes' } }: { readonly answer?: Answer } = {}) {
  const objects = new Map<string, KubeObject>()
  const idOf = (resource: Resource, key: Key) => `${resourceName(resource)} ${tellKey(key)}`
  const put = (resource: Resource, object: KubeObject) => objects.set(idOf(resource, keyOf(object)), object)
  const did: string[] = [] // what was asked of the world, in order
  const state: State = { now: noon, answer, answers: {}, aws: undefined, tokens: 0, services: [] }
  const read = {
    get(resource: Resource, key: Key) {
      const { data: _, ...object } = (objects.get(idOf(resource, key)) ?? {}) as Secret
      if (object.kind === undefined) return undefined
      // Of other types only the connection is watched.
      const isSeen =
        resource !== Secret ||
        ['cluster.x-k8s.io/secret', 'connection.crossplane.io/v1alpha1'].includes(object.type ?? '')
      const { type: __, ...known } = object
      return isSeen ? resource.keep(known) : undefined
    },
    list: () => [],
    // What names it, is known by that, though it has lost its owner.
    byIndex: (resource: Resource, index: string) =>
      resource.kind === 'Cluster' && index === 'named'
        ? [...objects.values()].filter(({ kind }) => kind === 'Cluster')
        : [],
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
  const answerTo = (token = '') => state.answers[token] ?? state.answer
  const outside: Outside = {
    async awsToken() {
      did.push('sign')
      if (state.aws) throw state.aws
      state.tokens += 1
      return { token: seal(`token-${state.tokens}`), expires: new Date(state.now.getTime() + 840_000) }
    },
    async greet(way) {
      did.push(`greet as ${way.token?.open()}`)
      return answerTo(way.token?.open())
    },
    async accountToken(way) {
      did.push(`account as ${way.token?.open()}`)
      const told = answerTo(way.token?.open())
      if (told.is === 'no') return told
      state.tokens += 1
      const expires = new Date(state.now.getTime() + 86_400_000)
      return { token: seal(`of-account-${state.tokens}`), expires }
    },
    async removeLoadBalancers(way) {
      did.push(`look inside as ${way.token?.open()}`)
      const told = answerTo(way.token?.open())
      return told.is === 'no' ? told : state.services
    },
  }
  function remove(object: KubeObject) {
    if (object.metadata.finalizers?.length)
      put(Secret, but(object, { metadata: { deletionTimestamp: noon.toISOString() } }))
    else objects.delete(idOf(Secret, keyOf(object)))
  }
  const pass = async (as: Partial<{ spec: object; of: Cluster; on: object }> = {}) => {
    did.length = 0
    put(Cluster, as.of ?? cluster)
    const key = { namespace: 'team', name: 'demo' }
    const { spec = {}, on = {} } = as
    const subject = but(objects.get(idOf(CAPTControlPlane, key)) as CAPTControlPlane, { spec, metadata: on })
    const seen = await observe(read, subject, live, outside)
    const plan = decide(seen)
    const changes: object[] = []
    for (const each of plan.effects) {
      if (each.do === 'delete' && each.resource === Secret) {
        did.push(`delete ${each.object.metadata.name}`)
        remove(each.object)
      }
      if (each.do === 'patch' && each.resource === CAPTControlPlane) changes.push(each.change['spec'] as object)
      if (each.do !== 'apply' || each.resource !== Secret) continue
      did.push(`write ${each.object.metadata.name}`)
      const by = { manager: 'capt-controlplane', operation: 'Apply', wished: each.object } as const
      const managedFields = ownersAfter(undefined, each.object, by)
      put(Secret, { ...each.object, metadata: { ...each.object.metadata, uid: 'uid-of-copy', managedFields } })
    }
    const before = subject.status?.conditions ?? []
    const since = ({ type, status }: Said) =>
      before.find((each) => each.type === type && each.status === status)?.lastTransitionTime ?? state.now.toISOString()
    const said = plan.conditions.map((each) => ({ ...each, lastTransitionTime: since(each) }))
    const stays = plan.others ? before.filter((each) => !said.some(({ type }) => type === each.type)) : []
    const status = { ...plan.status, conditions: [...said, ...stays] }
    put(CAPTControlPlane, but(subject, { status, spec: Object.assign({}, ...changes) as object }))
    return { seen, plan, did: [...did], says: saysOf(plan, 'SecretsReady', 'Available') }
  }
  put(CAPTControlPlane, controlPlane)
  put(CAPTCluster, network)
  put(WorkspaceTemplateApply, eks)
  put(Secret, aConnection('demo-eks-connection', {}))
  const value = (name: string) =>
    Buffer.from((objects.get(`secrets team/${name}`) as Secret).data?.['value'] ?? '', 'base64').toString()
  const alter = (name: string, metadata: object) => {
    const secret = objects.get(`secrets team/${name}`) as Secret
    put(Secret, { ...secret, metadata: { ...secret.metadata, ...metadata } })
  }
  return {
    state,
    pass,
    put,
    value,
    alter,
    get: (name: string) => objects.get(`secrets team/${name}`),
    remove: (name: string) => objects.delete(`secrets team/${name}`),
  }
}
export type World = ReturnType<typeof aWorld>
