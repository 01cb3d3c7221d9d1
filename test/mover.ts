// What `clusterctl move` does to the objects of a namespace, between two API servers in memory, each of its writes in its order (Cluster API 1.14,
// cmd/clusterctl/client/cluster: mover.go and objectgraph.go). It knows the kinds of ours and no ClusterClass, and tries nothing twice: whoever wants it calls it
// again, as a user does. It is an imitation: stories with the real clusterctl are the judge.
import { CAPTCluster } from '../src/api/captcluster.ts'
import { CAPTControlPlane } from '../src/api/captcontrolplane.ts'
import { blockMoveAnnotation, deleteForMoveAnnotation } from '../src/api/contract.ts'
import { Cluster, Secret } from '../src/api/neighbours.ts'
import {
  type Key,
  type KubeObject,
  keyOf,
  type OwnerReference,
  type Resource,
  tellObject,
  tellRef,
} from '../src/api/resource.ts'
import { WorkspaceTemplate } from '../src/api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../src/api/workspacetemplateapply.ts'
import type { Body } from './mortal.ts'
import type { Objects } from './objects.ts'
import { type Patience, until } from './until.ts'

export interface Move {
  readonly from: Objects
  readonly to: Objects
  readonly namespace: string
  readonly patience: Patience // with what blocks it
  readonly act: Body['act'] // through which each write goes
}

interface Node {
  readonly resource: Resource
  readonly key: Key
  readonly uid: string
  readonly owners: readonly OwnerReference[]
  readonly isBlocking: boolean
}

const kinds: readonly Resource[] = [Cluster, CAPTCluster, CAPTControlPlane, WorkspaceTemplateApply, Secret]
const movedAnyway: readonly Resource[] = [WorkspaceTemplate] // their CRD is labelled so

export async function move(asked: Move): Promise<void> {
  const { from, namespace, act } = asked
  const nodes = nodesOf(from, namespace)
  const clusters = nodes.filter(({ resource }) => resource === Cluster)
  for (const { key } of clusters) refuse(from, key)
  for (const { key } of clusters) {
    await act(`pause ${tellRef(Cluster, key)}`, async () => from.client.patch(Cluster, key, { spec: { paused: true } }))
  }
  await waitUntilReady(asked, nodes)
  const uids = new Map<string, string>() // on the target, by those of the source
  for (const node of inOrder(nodes).flat()) await create(asked, node, uids)
  await finish(asked)
}

// What is left to do once all is on the target. clusterctl begins nothing while a Cluster is paused: who has to end a move by hand does just that.
export async function finish(asked: Move): Promise<void> {
  const { from, to, namespace, act } = asked
  for (const node of inOrder(nodesOf(from, namespace)).toReversed().flat()) await remove(asked, node)
  for (const cluster of to.list(Cluster)) {
    const resume = async () => to.client.patch(Cluster, keyOf(cluster), { spec: { paused: null } })
    await act(`resume ${tellObject(cluster)}`, resume)
  }
}

function refuse(from: Objects, key: Key): void {
  const { spec, status } = from.get(Cluster, key) ?? {}
  if (spec?.paused) throw new Error(`cannot start operation while the following Clusters are paused: ${key.name}`)
  const { infrastructureProvisioned, controlPlaneInitialized } = status?.initialization ?? {}
  if (!infrastructureProvisioned || !controlPlaneInitialized) throw new Error(`${key.name} is still provisioning`)
}

// What Clusters own, at any depth, and what is labelled. What is owned by something that is not moved is not, either.
function nodesOf(from: Objects, namespace: string): readonly Node[] {
  const nodeOf = (resource: Resource) => (object: KubeObject) => ({
    resource,
    key: keyOf(object),
    uid: object.metadata.uid ?? '',
    owners: object.metadata.ownerReferences ?? [],
    isBlocking: object.metadata.annotations?.[blockMoveAnnotation] !== undefined,
  })
  const inNamespace = (resource: Resource) =>
    from
      .list<KubeObject>(resource)
      .filter(({ metadata }) => metadata.namespace === namespace)
      .map(nodeOf(resource))
  const all = kinds.flatMap(inNamespace)
  const moved = new Set(all.filter(({ resource }) => resource === Cluster).map(({ uid }) => uid))
  for (let size = 0; size < moved.size; ) {
    size = moved.size
    for (const { uid, owners } of all) if (owners.some((owner) => moved.has(owner.uid))) moved.add(uid)
  }
  return [...movedAnyway.flatMap(inNamespace), ...all.filter(({ uid }) => moved.has(uid))]
}

// In groups, each after its owners.
function inOrder(nodes: readonly Node[]): readonly (readonly Node[])[] {
  const groups: Node[][] = []
  const placed = new Set<string>()
  for (;;) {
    const group = nodes.filter(({ uid, owners }) => !placed.has(uid) && owners.every((owner) => placed.has(owner.uid)))
    if (group.length === 0) return groups
    groups.push(group)
    for (const { uid } of group) placed.add(uid)
  }
}

async function waitUntilReady({ from, patience }: Move, nodes: readonly Node[]): Promise<void> {
  for (const { resource, key } of nodes.filter(({ isBlocking }) => isBlocking)) {
    const isFree = () => from.get(resource, key)?.metadata.annotations?.[blockMoveAnnotation] === undefined
    await until(`${tellRef(resource, key)} is ready to move`, async () => isFree() || undefined, patience)
  }
}

async function create({ from, to, act }: Move, node: Node, uids: Map<string, string>): Promise<void> {
  const { resource, key } = node
  const { metadata, ...rest }: KubeObject & { status?: unknown } = await from.client.get<KubeObject>(resource, key)
  const {
    resourceVersion: _,
    uid: __,
    generation: ___,
    creationTimestamp: ____,
    managedFields: _____,
    ...meta
  } = metadata
  const ownerReferences = node.owners.map((owner) => ({ ...owner, uid: uids.get(owner.uid) ?? '' }))
  const { status: ______, ...asked } = rest // a status is not written by who makes an object
  const object = {
    ...asked,
    metadata: { ...meta, ...(ownerReferences.length > 0 && { ownerReferences }) },
  } as KubeObject
  await act(`create ${tellObject(object)}`, () => {
    if (meta.deletionTimestamp !== undefined)
      throw new Error(`${tellObject(object)} cannot be updated: metadata.deletionTimestamp is immutable`)
    const there: (KubeObject & { status?: unknown }) | undefined = to.get(resource, key)
    const status = there?.status === undefined ? {} : { status: there.status }
    to.put(resource, { ...object, ...status })
  })
  uids.set(node.uid, to.get(resource, key)?.metadata.uid ?? '')
}

// First the word that nothing is torn down for it, in the place of all other annotations.
async function remove({ from, act }: Move, { resource, key }: Node): Promise<void> {
  const there = from.get<KubeObject>(resource, key)
  if (!there) return
  const told = tellRef(resource, key)
  const { annotations: notes = {}, finalizers = [] } = there.metadata
  const none = Object.fromEntries(Object.keys(notes).map((note) => [note, null]))
  const annotations = { ...none, [deleteForMoveAnnotation]: '' }
  await act(`mark ${told}`, async () => from.client.patch(resource, key, { metadata: { annotations } }))
  await act(`delete ${told}`, async () => from.client.remove(resource, key))
  if (finalizers.length === 0) return
  await act(`release ${told}`, async () => from.client.patch(resource, key, { metadata: { finalizers: [] } }))
}
