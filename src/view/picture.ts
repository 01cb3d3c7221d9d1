// A Cluster and all that hangs on it, as a tree with the one reason worth reading. Plain data: the command line prints it, a page
// draws it. Pure.
import { clusterNameLabel, deploymentNameLabel } from '../api/contract.ts'
import { annotations, labels } from '../api/keys.ts'
import { Cluster } from '../api/neighbours.ts'
import { isRecord } from '../api/record.ts'
import { groupOf, type KubeObject, tellKey } from '../api/resource.ts'
import { urlOf } from '../secrets/endpoint.ts'
import { type Cause, causeIn } from './cause.ts'
import { clusterSays } from './clustersays.ts'
import { folded, group, worstOf } from './fold.ts'
import type { Node } from './node.ts'
import { conditionOf, isIt, isOwnedBy, type Ref, refOf, specOf, statusOf } from './read.ts'
import { isWorkspace, type Says, saysOf } from './says.ts'
import { secretsIn } from './secrets.ts'
import { appliesOf, clusterIn, type Situation, type Unseen, workerKinds, workspaceRefOf } from './situation.ts'
import { isWorse } from './words.ts'

export interface Picture {
  readonly namespace: string
  readonly isAvailable: boolean
  readonly isWhole: boolean // everything that is referred to is there
  readonly endpoint?: string
  readonly version?: string
  readonly tree: Node
  readonly cause?: Cause // none: all is well
  readonly unseen: readonly Unseen[]
}

// Undefined: there is no such Cluster.
export function pictureOf(situation: Situation, now: Date): Picture | undefined {
  const cluster = clusterIn(situation)
  if (!cluster) return undefined
  const parts = partsOf(situation, cluster, now)
  const tree = withoutEchoes({
    ...clusterSays(cluster, worstOf(parts)),
    kind: Cluster.kind,
    name: situation.name,
    namespace: situation.namespace,
    children: parts,
  })
  const cause = causeIn(tree)
  const endpoint = endpointOf(cluster)
  const version = versionIn(situation, cluster)
  return {
    namespace: situation.namespace,
    isAvailable: isAvailable(cluster),
    isWhole: !has(tree, ({ state }) => state === missing),
    ...(endpoint !== undefined && { endpoint }),
    ...(version !== undefined && { version }),
    tree,
    ...(cause && { cause }),
    unseen: situation.unseen,
  }
}

export const missing = 'Missing'

function isAvailable(cluster: KubeObject): boolean {
  return conditionOf(cluster, 'Available')?.status === 'True' && cluster.metadata.deletionTimestamp === undefined
}

function has(node: Node, isSo: (node: Node) => boolean): boolean {
  return isSo(node) || node.children.some((each) => has(each, isSo))
}

interface Hanging {
  readonly situation: Situation
  readonly cluster: KubeObject
  readonly now: Date
  readonly hung: Set<KubeObject> // what has its place already: nothing is shown twice, and no circle is walked
}

function partsOf(situation: Situation, cluster: KubeObject, now: Date): readonly Node[] {
  const hanging: Hanging = { situation, cluster, now, hung: new Set([cluster]) }
  const network = part(hanging, 'infrastructureRef', () => [])
  const controlPlane = part(hanging, 'controlPlaneRef', (found) => [
    ...spotRoleOf(hanging, found),
    ...secretsIn(situation, found, now),
  ])
  const workers = workersOf(hanging)
  const others = hang(
    hanging,
    appliesOf(situation).filter((each) => isOfCluster(each, cluster)),
  )
  return [...network, ...controlPlane, ...workers, ...others]
}

// What the Cluster refers to, whatever its kind.
function part(
  hanging: Hanging,
  at: 'infrastructureRef' | 'controlPlaneRef',
  more: (found: KubeObject | undefined) => readonly Node[],
): readonly Node[] {
  const { situation, cluster } = hanging
  const ref = refOf(cluster, at)
  const found = ref && situation.objects.find((each) => isIt(each, ref))
  if (!ref || !found) return [...(ref ? [absentPart(hanging, ref, at)] : []), ...more(undefined)]
  const node = nodeOf(hanging, found)
  return [{ ...node, children: [...node.children, ...more(found)] }]
}

function absentPart({ situation, cluster }: Hanging, { kind, name }: Ref, at: string): Node {
  const { namespace } = situation
  const of = { kind, name, namespace, children: [] }
  const unseen = situation.unseen.find((each) => each.kind === kind)
  if (unseen) return { ...of, standing: 'waiting', state: 'NotSeen', reason: 'NotSeen', message: unseen.why }
  // Core deletes them before the Cluster goes.
  if (cluster.metadata.deletionTimestamp !== undefined) return { ...of, standing: 'ready', state: 'Gone' }
  const who = `Cluster ${tellKey({ namespace, name: cluster.metadata.name })} names it in spec.${at}`
  const message = `${who}, and it is not there: create it, or correct the reference`
  return { ...of, standing: 'failed', state: missing, reason: missing, message }
}

// Those that have no place yet; one may get its place below another.
function hang(hanging: Hanging, objects: readonly KubeObject[]): readonly Node[] {
  return objects.flatMap((each) => (hanging.hung.has(each) ? [] : [nodeOf(hanging, each)]))
}

// An object with all that hangs on it: what it owns and, of an apply, its Workspace.
function nodeOf(hanging: Hanging, object: KubeObject): Node {
  const { situation, hung } = hanging
  hung.add(object)
  const { kind, metadata } = object
  const says = saysOf(object)
  const failure = statusOf(object)['failure']
  const failureClass = isRecord(failure) ? failure['class'] : undefined
  const owned = [...appliesOf(situation), ...workersIn(situation)].filter((each) => isOwnedBy(each, object))
  return {
    kind,
    name: metadata.name,
    ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
    ...says,
    ...(typeof failureClass === 'string' && { failureClass }),
    children: [...folded(hang(hanging, owned)), ...workspaceOf(hanging, object, says)],
  }
}

function workspaceOf(hanging: Hanging, apply: KubeObject, says: Says): readonly Node[] {
  const { situation, hung } = hanging
  if (!appliesOf(situation).includes(apply)) return []
  const ref = workspaceRefOf(apply)
  const backlink = tellKey({ name: apply.metadata.name, namespace: situation.namespace })
  const found = situation.objects.find((each) => {
    if (!isWorkspace(each) || hung.has(each)) return false
    return ref ? isIt(each, ref) : each.metadata.annotations?.[annotations.apply] === backlink
  })
  if (found) {
    const node = nodeOf(hanging, found)
    // An apply that has read what it says tells it better.
    const isTold = says.standing !== 'ready' && says.message !== undefined && !isWorse(node.standing, says.standing)
    return [isTold ? withoutMessage(node) : node]
  }
  if (!ref || situation.unseen.some(({ kind }) => kind === ref.kind)) return []
  const isLeaving = apply.metadata.deletionTimestamp !== undefined
  const absent = { kind: ref.kind, name: ref.name, children: [] }
  return [{ ...absent, standing: isLeaving ? 'ready' : 'waiting', state: isLeaving ? 'Gone' : 'not there' }]
}

// It belongs to the whole account and has no owner: only what is said of it tells which it is.
function spotRoleOf(hanging: Hanging, controlPlane: KubeObject | undefined): readonly Node[] {
  const told = controlPlane && conditionOf(controlPlane, 'SpotRoleReady')
  if (!told || told.reason === 'Ignored' || told.reason === 'NotYetKnown') return []
  const words = new Set(told.message.split(/[\s,:/]+/))
  const isMeant = ({ metadata: { name } }: KubeObject) => name.startsWith('spot-role-') && words.has(name)
  return hang(hanging, appliesOf(hanging.situation).filter(isMeant))
}

function workersIn({ objects }: Situation): readonly KubeObject[] {
  return objects.filter(({ kind, apiVersion }) =>
    workerKinds.some((each) => each.kind === kind && each.group === groupOf(apiVersion)),
  )
}

function workersOf(hanging: Hanging): readonly Node[] {
  const { situation, cluster } = hanging
  const workers = workersIn(situation)
  const isMade = (object: KubeObject) => {
    const deployment = object.metadata.labels?.[deploymentNameLabel]
    const isOwned = workers.some((each) => each !== object && isOwnedBy(object, each))
    return isOwned || workers.some(({ metadata: { name } }) => name === deployment && name !== object.metadata.name)
  }
  const own = workers.filter((each) => isOfCluster(each, cluster))
  const first = hang(
    hanging,
    own.filter((each) => !isMade(each)),
  )
  const rest = hang(hanging, own)
  const nodes = folded([...first, ...rest])
  return nodes.length > 0 ? [group('Workers', nodes)] : []
}

function isOfCluster(object: KubeObject, cluster: KubeObject): boolean {
  const { name } = cluster.metadata
  return (
    object.metadata.labels?.[clusterNameLabel] === name ||
    object.metadata.labels?.[labels.cluster] === name ||
    specOf(object)['clusterName'] === name ||
    isOwnedBy(object, cluster)
  )
}

// A message that another one deeper down says too is said there.
function withoutEchoes(node: Node): Node {
  const children = node.children.map(withoutEchoes)
  const kept = { ...node, children }
  const { message } = node
  if (message === undefined) return kept
  const isEcho = children.some((child) =>
    has(child, (each) => each.message !== undefined && (message.includes(each.message) || each.message === message)),
  )
  return isEcho ? withoutMessage(kept) : kept
}

function withoutMessage(node: Node): Node {
  const { message: _, ...rest } = node
  return rest
}

function endpointOf(cluster: KubeObject): string | undefined {
  const endpoint = specOf(cluster)['controlPlaneEndpoint']
  if (!isRecord(endpoint)) return undefined
  const { host, port } = endpoint
  if (typeof host !== 'string' || host === '') return undefined
  return urlOf({ host, port: typeof port === 'number' ? port : 443 }).replace(/:443$/, '')
}

function versionIn({ objects }: Situation, cluster: KubeObject): string | undefined {
  const ref = refOf(cluster, 'controlPlaneRef')
  const controlPlane = ref && objects.find((each) => isIt(each, ref))
  const version = controlPlane && statusOf(controlPlane)['version']
  return typeof version === 'string' && version !== '' ? version : undefined
}
