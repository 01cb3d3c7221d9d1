// What stories of applies share: waiting for what they say, finding their Workspaces, and looking at what Terraform keeps of them.
import { readFile } from 'node:fs/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { clusterSecretType } from '../src/api/contract.ts'
import { labels } from '../src/api/keys.ts'
import { apiVersionOf } from '../src/api/resource.ts'
import { crossplane, type WorkspaceGroup, workspaceAPIs } from '../src/api/workspace.ts'
import { applyLabelOf, externalNameOf, workspaceNameOf } from '../src/terraform/identity.ts'
import { stateNamespace } from '../src/terraform/statesecret.ts'
import type { Bed } from './bed/bed.ts'
import { type Condition, conditionsOf } from './bed/describe.ts'
import type { Kube, KubeObject, ObjectRef } from './bed/kube.ts'
import { type LogLine, readLog } from './bed/manager.ts'
import { RefusedError } from './bed/requests.ts'
import { until } from './until.ts'

// Two cores may have much else to do.
export const patience = { withinSeconds: 120 }

interface Told extends Condition {
  readonly observedGeneration?: number
}

export function conditionOf(object: KubeObject, type: string): Told | undefined {
  return conditionsOf(object).find((each) => each.type === type)
}

// Of the object as it is now, not of an earlier generation.
export async function seeSaying(kube: Kube, ref: ObjectRef, type: string, reason: string): Promise<KubeObject> {
  const isSo = (object: KubeObject) => {
    const told = conditionOf(object, type)
    return told?.reason === reason && (told.observedGeneration ?? 0) === (object.metadata.generation ?? 0)
  }
  return kube.see(ref, `says ${type} because ${reason}`, isSo, patience)
}

// A Workspace, by the whole rule: of an earlier generation both may be True for minutes.
export function isConverged({
  metadata,
  status,
}: Pick<KubeObject, 'metadata'> & { readonly status?: unknown }): boolean {
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Told[] }
  const [ready, synced] = ['Ready', 'Synced'].map((type) => conditions.find((each) => each.type === type))
  return ready?.status === 'True' && synced?.status === 'True' && synced.observedGeneration === metadata.generation
}

export async function seeConverged(kube: Kube, workspace: ObjectRef): Promise<KubeObject> {
  return kube.see(workspace, 'has converged', isConverged, patience)
}

export function workspaceOf(group: WorkspaceGroup, { metadata }: ObjectRef): ObjectRef {
  const api = workspaceAPIs[group]
  const { namespace = '', name } = metadata
  const own = workspaceNameOf(api, { namespace, name })
  return {
    apiVersion: apiVersionOf(api.workspace),
    kind: 'Workspace',
    metadata: api.isNamespaced ? { namespace, name: own } : { name: own },
  }
}

// Has the engine look at a Workspace though nothing changed, and waits until it has.
export async function askAgain(kube: Kube, workspace: ObjectRef, when: string): Promise<KubeObject> {
  await kube.patch(workspace, { metadata: { annotations: { [crossplane.reconcileRequestedAt]: when } } })
  const isHandled = ({ status }: KubeObject) =>
    (status as { readonly lastHandledReconcileAt?: string } | undefined)?.lastHandledReconcileAt === when
  return kube.see(workspace, `was looked at again (${when})`, isHandled, patience)
}

export interface State {
  readonly lineage: string
  readonly resources: readonly {
    readonly name: string
    readonly instances: readonly { readonly attributes: Record<string, unknown> }[]
  }[]
}

function stateSecretOf({ metadata: { namespace = '', name } }: ObjectRef): KubeObject {
  const secret = `tfstate-${externalNameOf({ namespace, name })}-capt`
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: stateNamespace, name: secret } }
}

export async function readState(kube: Kube, apply: ObjectRef): Promise<State> {
  const secret = await kube.read(stateSecretOf(apply))
  const { tfstate = '' } = (secret?.['data'] ?? {}) as { readonly tfstate?: string }
  return JSON.parse(gunzipSync(Buffer.from(tfstate, 'base64')).toString('utf8')) as State
}

// The attributes of the only instance of a resource in it.
export function attributesIn(state: State, resource: string): Record<string, unknown> {
  const attributes = state.resources.find(({ name }) => name === resource)?.instances[0]?.attributes
  if (!attributes) throw new Error(`there is no ${resource} in the state`)
  return attributes
}

// What a resource of our own templates was told, as the state has it.
export async function toldTerraform(kube: Kube, apply: ObjectRef, resource: string): Promise<unknown> {
  return (attributesIn(await readState(kube, apply), resource)['input'] as { readonly value: unknown }).value
}

// Behind Terraform's back.
export async function writeState(kube: Kube, apply: ObjectRef, state: State): Promise<void> {
  const data = { tfstate: gzipSync(JSON.stringify(state)).toString('base64') }
  await kube.patch(stateSecretOf(apply), { data })
}

// Everything that is kept for applies of a namespace (or for one of them), wherever it is: states and their locks, records, Secrets
// of variables and outputs, usages, Workspaces. Where nobody collects garbage, Secrets that belonged to a Workspace stay.
export async function tracesOf(
  kube: Kube,
  namespace: string,
  name?: string,
  { isCollected = true } = {},
): Promise<readonly string[]> {
  const label = name === undefined ? undefined : applyLabelOf({ namespace, name })
  const prefix = `${namespace}.${name ?? ''}`
  const isOurs = ({ metadata }: KubeObject) =>
    (label === undefined
      ? metadata.labels?.[labels.apply]?.startsWith(prefix)
      : metadata.labels?.[labels.apply] === label) ||
    metadata.name.startsWith(`tfstate-${prefix}`) ||
    metadata.name.startsWith(`lock-tfstate-${prefix}`)
  const kept = async (apiVersion: string, kind: string, where?: string) =>
    (await kube.list(apiVersion, kind, where)).map((each) => ({ ...each, kind }))
  const lists = await Promise.all([
    kept('v1', 'Secret', stateNamespace),
    kept('coordination.k8s.io/v1', 'Lease', stateNamespace),
    kept('v1', 'Secret', namespace),
    kept('tf.upbound.io/v1beta1', 'Workspace'),
    kept('tf.m.upbound.io/v1beta1', 'Workspace', namespace),
    kept('tf.upbound.io/v1beta1', 'ProviderConfigUsage'),
    kept('tf.m.upbound.io/v1beta1', 'ProviderConfigUsage', namespace),
  ])
  const usageOf = ({ metadata }: KubeObject) =>
    metadata.ownerReferences?.some(
      (owner) => owner.kind === 'Workspace' && (owner.name === name || owner.name.startsWith(prefix)),
    )
  const connection = ({ type, metadata }: KubeObject) =>
    metadata.namespace === namespace && type === crossplane.connectionSecretType
  const all = lists.flat()
  const uids = new Set(all.map(({ metadata }) => metadata.uid))
  const isGarbage = ({ kind, metadata: { ownerReferences: owners = [] } }: KubeObject) =>
    kind === 'Secret' && owners.length > 0 && owners.every(({ uid }) => !uids.has(uid))
  return all
    .filter((each) => isOurs(each) || usageOf(each) || connection(each))
    .filter((each) => isCollected || !isGarbage(each))
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
}

export async function seeNoTraces(kube: Kube, namespace: string, name?: string): Promise<void> {
  let left: readonly string[] = []
  await until(
    `nothing is left of ${namespace}`,
    async () => ((left = await tracesOf(kube, namespace, name)).length === 0 ? true : undefined),
    { ...patience, everyMs: 500 },
  ).catch((error: unknown) => {
    throw new Error(`still there: ${left.join(', ')}`, { cause: error })
  })
}

// Not even an object of a cluster, in whichever API Terraform was asked. What users made themselves stays.
export async function seeNothingLeft(kube: Kube, namespace: string): Promise<void> {
  let left: readonly string[] = []
  const lists = [
    ['cluster.x-k8s.io/v1beta2', 'Cluster'],
    ['infrastructure.cluster.x-k8s.io/v1beta1', 'CAPTCluster'],
    ['controlplane.cluster.x-k8s.io/v1beta1', 'CAPTControlPlane'],
    ['infrastructure.cluster.x-k8s.io/v1beta1', 'WorkspaceTemplateApply'],
    ['coordination.k8s.io/v1', 'Lease'],
    ['opentofu.m.upbound.io/v1beta1', 'Workspace'],
    ['opentofu.m.upbound.io/v1beta1', 'ProviderConfigUsage'],
  ] as const
  const look = async () => {
    const found = await Promise.all(lists.map(async ([version, kind]) => ifServed(kube.list(version, kind, namespace))))
    const wide = (await ifServed(kube.list('opentofu.upbound.io/v1beta1', 'Workspace'))).filter(({ metadata }) =>
      metadata.name.startsWith(`${namespace}.`),
    )
    const secrets = (await kube.list('v1', 'Secret', namespace)).filter(({ type }) => type === clusterSecretType)
    const told = [...found.flat(), ...wide, ...secrets].map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    left = [...told, ...(await tracesOf(kube, namespace))]
    return left.length === 0 || undefined
  }
  await until(`nothing is left in ${namespace}`, look, { ...patience, everyMs: 500 }).catch((error: unknown) => {
    throw new Error(`still there: ${left.join(', ')}`, { cause: error })
  })
}

async function ifServed(found: Promise<readonly KubeObject[]>): Promise<readonly KubeObject[]> {
  return found.catch((error: unknown) => {
    if (error instanceof RefusedError && error.code === 404) return []
    throw error
  })
}

// Events about an object, as `type reason`.
export async function eventsOf(kube: Kube, { kind, metadata }: ObjectRef): Promise<readonly KubeObject[]> {
  const events = await kube.list('events.k8s.io/v1', 'Event', metadata.namespace ?? 'default')
  return events.filter((event) => {
    const regarding = event['regarding'] as { readonly kind?: string; readonly name?: string } | undefined
    return regarding?.kind === kind && regarding.name === metadata.name
  })
}

// What an event says. It is sent after what it is about, and nobody waits for it.
export async function seeEvent(kube: Kube, about: ObjectRef, reason: string): Promise<string> {
  return until(`an event says ${reason} of ${about.kind} ${about.metadata.name}`, async () => {
    const found = (await eventsOf(kube, about)).find((event) => event['reason'] === reason)
    return found && String(found['note'])
  })
}

export async function readEngineLog({ engine }: Pick<Bed, 'engine'>): Promise<readonly LogLine[]> {
  if (!engine) throw new Error('there is no engine on this bed')
  return readLog(engine.log)
}

// Which Workspaces of a namespace the engine destroyed, by name, in that order. It tells when a pass is over, a moment after the
// Workspace has gone: so many are waited for.
export async function seeDestroyed(bed: Pick<Bed, 'engine'>, namespace: string, count: number) {
  return until(`${count} of ${namespace} are told to be destroyed`, async () => {
    const told = (await readEngineLog(bed))
      .filter(({ msg, did }) => msg === 'passed' && Array.isArray(did) && did.includes('destroy'))
      .map(({ object }) => String(object).split(' ')[1] ?? '')
      .filter((name) => name.startsWith(`${namespace}/`))
    const names = new Set(told.map((name) => name.slice(namespace.length + 1)))
    return names.size === count ? [...names] : undefined
  })
}

// All that people other than those who may read Secrets get to see.
export async function seenByAnybody(bed: Bed, namespace: string): Promise<string> {
  const { kube, manager, engine } = bed
  const lists = await Promise.all([
    kube.list('tf.upbound.io/v1beta1', 'Workspace'),
    kube.list('tf.m.upbound.io/v1beta1', 'Workspace', namespace),
    kube.list('infrastructure.cluster.x-k8s.io/v1beta1', 'WorkspaceTemplateApply', namespace),
    kube.list('infrastructure.cluster.x-k8s.io/v1beta1', 'WorkspaceTemplate', namespace),
    kube.list('events.k8s.io/v1', 'Event', namespace),
    kube.list('events.k8s.io/v1', 'Event', 'default'),
  ])
  const files = [manager?.log, engine?.log].filter((each) => each !== undefined)
  const logs = await Promise.all(files.map(async (file) => readFile(file, 'utf8')))
  return [JSON.stringify(lists), ...logs].join('\n')
}

// Of the lock of a state.
export async function lockHolder(kube: Kube, state: string): Promise<string> {
  const lease = await kube.read({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: stateNamespace, name: `lock-tfstate-${state}-capt` },
  })
  return (lease?.['spec'] as { readonly holderIdentity?: string | null } | undefined)?.holderIdentity ?? 'nobody'
}
