// Who else keeps an apply still: its Cluster, and whoever asks for it. They are found though the apply was stripped of all that names
// them, and they wake it. It decides nothing.
import { CAPTCluster } from '../../api/captcluster.ts'
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { blockMoveAnnotation, clusterNameLabel, pausedAnnotation } from '../../api/contract.ts'
import { annotations, labels } from '../../api/keys.ts'
import { Cluster } from '../../api/neighbours.ts'
import { beside, type Key, type KubeObject, keyOf, tellKey, tellObject } from '../../api/resource.ts'
import { workspaceAPIs } from '../../api/workspace.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Read } from '../../runtime/cache.ts'
import { mapped, type Source } from '../../runtime/controller.ts'
import type { Indexes } from '../../runtime/store.ts'
import { recordedOn } from '../../terraform/identity.ts'
import { networkApplyName } from '../captcluster/vpc.ts'
import { isForced, sortOut } from '../childapply.ts'
import { eksApplyName } from '../controlplane/eks.ts'
import { namedBy, ownerClusterOf, ownerKeyOf, wokenByCluster } from '../ownercluster.ts'
import { pausedByCluster, pausedByItself } from '../pause.ts'
import { arriving, isArriving, ofOneCluster, workspaceKey } from './relations.ts'

type Apply = WorkspaceTemplateApply

export interface Pause {
  readonly by: readonly string[] // as people are told; none: only its own word counts
  readonly awaits: string | undefined // whose word is not known yet, as people are told
  readonly isKept: boolean // on its Workspace, when it goes on
}

export function pauseOf(read: Read, apply: Apply, asker: KubeObject | undefined): Pause {
  const cluster = clusterOf(read, apply, asker)
  return {
    by: [...(cluster ? pausedByCluster(cluster) : leftPaused(apply)), ...(asker ? pausedByItself(asker) : [])],
    awaits: givenUp(asker) ?? (isAwaiting(read, apply) ? missing(apply, cluster, asker) : undefined),
    isKept: [apply, asker].some((each) => each?.metadata.annotations?.[annotations.keepPaused] !== undefined),
  }
}

// A Cluster that is paused goes only when it is moved away, and what is for it a moment later: that must not go on meanwhile.
function leftPaused(apply: Apply): readonly string[] {
  const { metadata, status } = apply
  const { namespace = '', labels: marks = {} } = metadata
  const cluster = marks[clusterNameLabel]
  const paused = status?.conditions?.find(({ type }) => type === 'Paused')
  const who = `Cluster ${namespace}/${cluster}`
  if (cluster === undefined || paused?.status !== 'True' || !paused.message.startsWith(`${who} `)) return []
  return [`${who} was paused, and is gone; if it was not moved, let it go on: ${commandToGoOn(apply)}`]
}

// Our own label stays: by that, plans that destroy are held.
function commandToGoOn({ metadata: { name, namespace = '' } }: Apply): string {
  return `kubectl label workspacetemplateapply ${name} --namespace ${namespace} ${clusterNameLabel}-`
}

// It came from elsewhere. What one of us has made was born after its Cluster, so that comes, too; of what a user has made, only one that was
// paused is known to wait for one: it may be moved, or its Workspace says so.
function isAwaiting(read: Read, apply: Apply): boolean {
  if (!isArriving(apply)) return false
  const { annotations: notes = {}, labels: marks = {} } = apply.metadata
  return marks[labels.cluster] !== undefined || notes[blockMoveAnnotation] === undefined || isPausedWith(read, apply)
}

function isPausedWith(read: Read, apply: Apply): boolean {
  const recorded = recordedOn(apply)
  const api = recorded && workspaceAPIs[recorded.group]
  const workspace = api && read.get(api.workspace, workspaceKey(api, apply, recorded.name))
  return workspace?.metadata.annotations?.[annotations.paused] !== undefined
}

// Nothing is begun, nor gone on with, in the moment before this is told to go, too: what is given up may be looked after elsewhere.
function givenUp(asker: KubeObject | undefined): string | undefined {
  const isGoing = asker?.metadata.deletionTimestamp !== undefined && isForced(asker)
  return isGoing ? `${tellObject(asker)} is given up: nothing more is done for it` : undefined
}

function missing(apply: Apply, cluster: Cluster | undefined, asker: KubeObject | undefined): string | undefined {
  const { namespace = '', labels: marks = {} } = apply.metadata
  const name = marks[clusterNameLabel]
  const isAsked = marks[labels.cluster] !== undefined // by one of us
  if (name === undefined || (cluster && (asker || !isAsked))) return undefined
  const what = cluster ? 'the CAPTCluster or CAPTControlPlane that asks for it' : `Cluster ${namespace}/${name}`
  return `${what} is not here yet, and nobody knows whether it is paused; if it is not to come, let this go on alone: ${commandToGoOn(apply)}`
}

function clusterOf(read: Read, apply: Apply, asker: KubeObject | undefined): Cluster | undefined {
  const owner = asker && ownerClusterOf(read, asker)
  if (typeof owner === 'object') return owner
  const name = apply.metadata.labels?.[clusterNameLabel]
  return name === undefined ? undefined : read.get(Cluster, beside(apply, name))
}

// The CAPTCluster or CAPTControlPlane that asks for it.
export function askerOf(read: Read, apply: Apply): KubeObject | undefined {
  const key = tellKey(keyOf(apply))
  const askers = [...read.byIndex(CAPTCluster, byApply, key), ...read.byIndex(CAPTControlPlane, byApply, key)]
  return askers.find((each) => sortOut(apply, each, ownerKeyOf(each)?.name).apply)
}

const byApply = 'apply' // index of those who ask for applies: the apply that is theirs

function mayAwait(read: Read, apply: Key): boolean {
  return read.keysAt(WorkspaceTemplateApply, arriving, tellKey(apply)).length > 0
}

const applyOfNetwork = (network: CAPTCluster) => beside(network, networkApplyName(network))
const applyOfControlPlane = (controlPlane: CAPTControlPlane) => beside(controlPlane, eksApplyName(controlPlane))

export const networkIndexes: Indexes<CAPTCluster> = { [byApply]: (network) => [tellKey(applyOfNetwork(network))] }
export const controlPlaneIndexes: Indexes<CAPTControlPlane> = {
  [byApply]: (controlPlane) => [tellKey(applyOfControlPlane(controlPlane))],
}

// Only by those who are paused, or were, or are awaited: the others have nothing to say to it. Applies are of use without any of them.
export const pausing: readonly Source[] = [
  wokenByCluster((cluster, _, read) =>
    cluster.spec?.paused
      ? [...labelled(cluster, read), ...named(cluster, read)]
      : labelled(cluster, read).filter((each) => mayAwait(read, each)),
  ),
  mapped<CAPTCluster>(CAPTCluster, (each, _, read) => heard(read, each, applyOfNetwork(each)), {
    indexes: networkIndexes,
  }),
  mapped<CAPTControlPlane>(
    { ...CAPTControlPlane, isOptional: true },
    (each, _, read) => heard(read, each, applyOfControlPlane(each)),
    { indexes: controlPlaneIndexes },
  ),
]

function heard(read: Read, asker: KubeObject, apply: Key): readonly Key[] {
  return hasWord(asker) || mayAwait(read, apply) ? [apply] : []
}

function hasWord({ metadata: { annotations: notes = {} } }: KubeObject): boolean {
  return pausedAnnotation in notes || annotations.keepPaused in notes
}

function labelled(cluster: Cluster, read: Read): readonly Key[] {
  return read.keysAt(WorkspaceTemplateApply, ofOneCluster, tellKey(keyOf(cluster)))
}

function named(cluster: Cluster, read: Read): readonly Key[] {
  const network = namedBy(read, cluster, 'infrastructureRef', CAPTCluster)
  const controlPlane = namedBy(read, cluster, 'controlPlaneRef', CAPTControlPlane)
  return [
    ...(typeof network === 'object' ? [applyOfNetwork(network)] : []),
    ...(typeof controlPlane === 'object' ? [applyOfControlPlane(controlPlane)] : []),
  ]
}
