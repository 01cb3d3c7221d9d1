// A whole life of a Cluster, from its creation until nothing is left of it, with a manager and an engine that can be struck at any of
// their acts. All is in memory, and Cluster API core is an imitation (test/corelike.ts). What must come of it is for whoever tells the story.
import { expect } from 'vitest'
import { canonical } from '../src/api/canonical.ts'
import { CAPTCluster } from '../src/api/captcluster.ts'
import { CAPTControlPlane } from '../src/api/captcontrolplane.ts'
import type { Condition } from '../src/api/condition.ts'
import { blockMoveAnnotation, clusterNameLabel } from '../src/api/contract.ts'
import { annotations, holdFinalizer, labels as ours } from '../src/api/keys.ts'
import { Cluster, Namespace, Secret } from '../src/api/neighbours.ts'
import type { JsonRecord } from '../src/api/record.ts'
import { type Key, type KubeObject, keyOf, type Resource, tellObject } from '../src/api/resource.ts'
import { crossplane } from '../src/api/workspace.ts'
import { WorkspaceTemplateApply } from '../src/api/workspacetemplateapply.ts'
import {
  allIn,
  begin,
  byWorkspace,
  found,
  isTaken,
  kinds,
  moduleOf,
  name,
  outOfOrder,
  outsideOf,
  theWorkload,
  userKinds,
  type Workload,
} from './clusterinmemory.ts'
import { watchOver } from './clusterwatch.ts'
import { startCorelike } from './corelike.ts'
import { collectGarbage } from './garbage.ts'
import { maskedAll, type Stage, seeQuiet } from './masked.ts'
import type { Objects } from './objects.ts'
import { type Goal, isSettled } from './settled.ts'
import {
  type Acts,
  api,
  apiInMemory,
  draw,
  failuresOf,
  liveEach,
  type Site,
  type Strike,
  siteInMemory,
  startPair,
  strikesOf,
} from './struck.ts'
import { type Patience, until } from './until.ts'
import { aUser } from './user.ts'

interface ClusterLife {
  readonly acts: Acts
  readonly last: Readonly<Record<Strike['who'], number>> // how many there were before it ended
  readonly struck: string | undefined // which act; undefined: it never came to it
  readonly stages: readonly Stage[]
  readonly wrong: readonly string[] // what was seen on the way and must never be
  readonly left: readonly string[] // what is there at the end, in the cloud too
  readonly cloud: readonly string[] // calls to it, in the order of each Workspace
  readonly runs: readonly string[] // that changed a state
  readonly twice: readonly string[] // what was there twice at the same time
}

interface Fate {
  readonly strike: Strike
  readonly like: ClusterLife // how it went undisturbed
}

interface Course {
  readonly namespace: string
  readonly isPaused: boolean // for a while, before it is upgraded
  readonly ending: Ending
}

const tags = { team: 'blue' }

// How it ends: the Cluster is deleted, after a full life; or, after a short one, its namespace is, with everything in it at once; or what
// the Cluster names is, by hand and in the wrong order; or the Cluster is, after a move that never came further than its pause; or it is let go of, and nothing is destroyed.
export type Ending = 'Cluster' | 'Namespace' | 'hands' | 'halfMoved' | 'forced'

// One life on an API server of its own. After each step it is waited until everything is as it should be, or for a while.
async function live(
  site: Site,
  workload: Workload,
  { namespace, isPaused, ending }: Course,
  fate?: Fate,
): Promise<ClusterLife> {
  const { strike, like } = fate ?? {}
  const { pace } = site
  const patience = { withinSeconds: 60, everyMs: pace.everyMs }
  const objects = apiInMemory()
  const key: Key = { namespace, name }
  const wrong = watchOver(objects)
  const misdeeds = new Set<string>()
  collectGarbage(objects)
  const core = startCorelike(objects, key, (kubeconfig) => isTaken(workload, kubeconfig))
  const services = new Map([['default/web', 3]]) // with load balancers, and how often they are seen to go before they are gone
  const outside = outsideOf(workload, services)
  const pair = await startPair(site, objects.client, { namespace, strike, outside, moduleOf })
  objects.watch(({ type, resource, object: { metadata } }) => {
    const isEks = resource.kind === 'Workspace' && metadata.name.endsWith('-eks-controlplane')
    const isReleased = !metadata.finalizers?.includes(holdFinalizer) && type !== 'ADDED'
    const isGoing = objects.get(CAPTControlPlane, key)?.metadata.deletionTimestamp !== undefined
    const isMeant = ending === 'forced'
    if (isEks && isGoing && isReleased && services.size > 0 && !isMeant)
      misdeeds.add('EKS was given up before its load balancers')
  })
  const { cloud } = pair.instant
  const looks = async () => maskedAll(allIn(objects), namespace)
  const stages: Stage[] = []
  const user = aUser(objects.client, patience, (reason) => {
    // What a killed run has left behind is taken away before it is made again.
    for (const stray of reason === 'ApplyInterrupted' ? cloud.strays() : []) cloud.there.delete(stray)
  })
  const see = async (after: string, goal: Goal) => {
    const look = async () => {
      for (const apply of objects.list(WorkspaceTemplateApply)) await user.answers(keyOf(apply), apply)
      return isSettled(found(objects, key), goal) || undefined
    }
    await until(`the Cluster is Available after ${after}`, look, patience)
    stages.push({ after, objects: await seeQuiet(looks, pace, like?.stages[stages.length]?.objects) })
  }
  const change = async (resource: Resource, spec: JsonRecord) => objects.client.patch(resource, key, { spec })
  try {
    begin(objects, namespace, workload)
    await see('it was made', { version: 'v1.33.0', tags: {} })
    let lost: readonly string[] = []
    if (ending === 'Cluster') {
      await change(CAPTCluster, { additionalTags: tags })
      await change(CAPTControlPlane, { additionalTags: tags })
      await see('it was changed', { version: 'v1.33.0', tags })
      const marks = marksIn(objects)
      const upgrade = async () => change(CAPTControlPlane, { version: 'v1.35.0' })
      await (isPaused ? pausedWhile(objects, key, patience, upgrade) : upgrade())
      await see('it was upgraded', { version: 'v1.35.0', tags })
      const back = marksIn(objects)
      lost = [...marks].flatMap(([each, were]) =>
        back.get(each) === were ? [] : [`${each} was ${were}, is ${back.get(each)}`],
      )
    }
    const last = { manager: pair.acts.manager.length, engine: pair.acts.engine.length }
    if (ending === 'Namespace')
      endNamespace(objects, namespace, (made) => misdeeds.add(`${made} was made in a namespace that goes`))
    if (ending === 'halfMoved')
      await pausedWhile(
        objects,
        key,
        patience,
        async () => seeReadyToMove(objects, patience),
        () => {},
      )
    if (ending === 'forced') {
      const word = { metadata: { annotations: { [annotations.forceDelete]: 'true' } } }
      await objects.client.patch(CAPTCluster, key, word)
      await objects.client.patch(CAPTControlPlane, key, word)
    }
    if (ending === 'hands') {
      await objects.client.remove(CAPTCluster, key)
      await objects.client.remove(CAPTControlPlane, key)
      await until('its network is gone', async () => !objects.get(CAPTCluster, key) || undefined, patience)
    }
    if (ending !== 'Namespace') await objects.client.remove(Cluster, key)
    await until('the Cluster is gone', async () => !objects.get(Cluster, key) || undefined, patience)
    if (ending !== 'Namespace')
      for (const [resource, each] of userKinds) await objects.client.remove(resource, { namespace, name: each })
    if (ending === 'forced')
      stages.push({
        after: 'it was let go of',
        objects: await seeQuiet(looks, pace, like?.stages[stages.length]?.objects),
      })
    else
      await until('nothing is left', async () => allIn(objects).length === 0 || undefined, {
        ...patience,
        withinSeconds: 5,
      }).catch(
        () => {}, // who compares shows what
      )
    const objectsLeft = ending === 'forced' ? [] : allIn(objects).map(tellObject) // those are in the last stage
    const left = [...objectsLeft, ...cloud.there.values(), ...services.keys()]
    return {
      acts: pair.acts,
      last,
      struck: pair.struck(),
      stages,
      wrong: [...wrong, ...lost, ...misdeeds, ...outOfOrder(cloud.calls)],
      left: left.map((each) => each.replaceAll(namespace, '<namespace>')).toSorted(),
      cloud: cloud.calls.map((call) => call.replaceAll(namespace, '<namespace>')).toSorted(byWorkspace),
      runs: pair.acts.engine
        .filter((act) => act.startsWith('keep ') || act.startsWith('forget '))
        .map((act) => act.replaceAll(namespace, '<namespace>'))
        .toSorted(),
      twice: [...pair.twice],
    }
  } catch (error) {
    const seen = JSON.stringify(await looks(), null, 1)
    throw new Error(`${String(error)}\nstruck: ${pair.struck()}\nwrong: ${[...wrong].join('; ')}\n${seen}`, {
      cause: error,
    })
  } finally {
    await Promise.all([pair.end(), core.end()])
  }
}

// Lives a life undisturbed and one for each of the strikes that are chosen, by the act they meet there, or for so many of them, and sees each end as the first.
export async function sweep(
  isChosen: (strike: Strike, act: string) => boolean,
  { isPaused = false, ending = 'Cluster' }: Partial<Pick<Course, 'isPaused' | 'ending'>> = {},
  drawn?: number,
): Promise<{ strikes: number; fallen: number }> {
  const site = siteInMemory()
  const workload = theWorkload()
  try {
    const like = await live(site, workload, { namespace: 'undisturbed', isPaused, ending })
    expect(like).toMatchObject({ struck: undefined, wrong: [], twice: [] })
    const destroyed = like.cloud.filter((call) => call.startsWith('delete '))
    if (ending === 'forced') expect(destroyed).toEqual([])
    else expect(like.left).toEqual([])
    // What comes before is the same as in the other.
    const isLate = ({ who, at }: Strike) => ending === 'Cluster' || at > like.last[who]
    const all = [...strikesOf(like), ...failuresOf(like)].filter(
      (strike) => isLate(strike) && isChosen(strike, like.acts[strike.who][strike.at - 1] ?? ''),
    )
    const strikes = draw(all, drawn)
    const fallen = await liveEach(
      site.pace.atATime,
      strikes,
      async (namespace, strike) => live(site, workload, { namespace, isPaused, ending }, { strike, like }),
      (told, { who }, life) => judge(told, who, life, like),
    )
    return { strikes: strikes.length, fallen }
  } finally {
    await site.end()
  }
}

// The same is there after each step and in the end; Terraform has changed the same as often; and nobody has seen anything
// on the way that must never be. An engine that is struck in a run does again what it does not know to be done, or asks: what comes of
// that is for test/crash.ts.
function judge(told: string, who: Strike['who'], life: ClusterLife, like: ClusterLife): void {
  for (const [index, stage] of life.stages.entries()) expect.soft(stage, told).toEqual(like.stages[index])
  expect.soft([...life.wrong, ...life.twice], told).toEqual([])
  expect.soft(life.left, told).toEqual(like.left)
  if (who === 'engine') return
  expect.soft(life.cloud, told).toEqual(like.cloud)
  expect.soft(life.runs, told).toEqual(like.runs)
}

// Paused, and stripped of all that ties it together meanwhile.
async function pausedWhile(
  objects: Objects,
  key: Key,
  patience: Patience,
  act: () => Promise<unknown>,
  meanwhile = strip,
): Promise<void> {
  const pause = async (paused: boolean) => objects.client.patch(Cluster, key, { spec: { paused } })
  const seeStill = async () => until('all of it is paused', async () => isStill(objects) || undefined, patience)
  await pause(true)
  await seeStill()
  meanwhile(objects)
  await act()
  await seeStill()
  await pause(false)
}

async function seeReadyToMove(objects: Objects, patience: Patience): Promise<void> {
  const isFree = ({ metadata }: KubeObject) => metadata.annotations?.[blockMoveAnnotation] === undefined
  const areFree = async () => objects.list(WorkspaceTemplateApply).every(isFree) || undefined
  await until('all of it may be moved', areFree, patience)
}

// What is ours, or is said to be of the cluster; not what an engine keeps for itself.
const marked: readonly Resource[] = [CAPTCluster, CAPTControlPlane, WorkspaceTemplateApply, api.workspace, Secret]

function markedIn(objects: Objects): readonly (readonly [Resource, KubeObject])[] {
  const isMarked = ({ metadata: { labels = {}, ownerReferences = [] } }: KubeObject) =>
    labels[ours.record] === undefined &&
    (labels[clusterNameLabel] !== undefined || labels[ours.cluster] !== undefined || ownerReferences.length > 0)
  return marked.flatMap((kind) =>
    objects
      .list<KubeObject>(kind)
      .filter(isMarked)
      .map((each) => [kind, each] as const),
  )
}

// By object.
function marksIn(objects: Objects): ReadonlyMap<string, string> {
  return new Map(
    markedIn(objects).map(([, object]) => {
      const { labels = {}, ownerReferences, finalizers = [] } = object.metadata
      const marks = { labels, ownerReferences, finalizers: finalizers.toSorted() }
      return [tellObject(object), canonical(marks)]
    }),
  )
}

// As a tool does that restores a backup, or that knows better.
function strip(objects: Objects): void {
  for (const [kind, { metadata }] of markedIn(objects)) {
    const { labels = {} } = metadata
    const none = Object.fromEntries(Object.keys(labels).map((label) => [label, null]))
    objects.change(kind, keyOf({ metadata }), { metadata: { labels: none, ownerReferences: null, finalizers: null } })
  }
}

// And everybody says so of what is asked for now.
function isStill(objects: Objects): boolean {
  const all: readonly Saying[] = [
    ...objects.list(CAPTCluster),
    ...objects.list(CAPTControlPlane),
    ...objects.list(WorkspaceTemplateApply),
  ]
  const workspaces = objects.list(api.workspace)
  return (
    all.every(({ metadata, status }) =>
      status?.conditions?.some(
        ({ type, status: is, observedGeneration }) =>
          type === 'Paused' && is === 'True' && observedGeneration === metadata.generation,
      ),
    ) && workspaces.every(({ metadata }) => metadata.annotations?.[crossplane.paused] === 'true')
  )
}

interface Saying extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined
}

// As the namespace controller does. Owners are told first, for in memory what is deleted may be made again.
function endNamespace(objects: Objects, namespace: string, isWrong: (made: string) => void): void {
  objects.change(Namespace, { name: namespace }, { metadata: { finalizers: ['kubernetes'] } })
  objects.remove(Namespace, { name: namespace })
  for (const kind of kinds) {
    for (const { metadata } of objects.list(kind)) {
      const isIn = metadata.namespace === namespace && metadata.deletionTimestamp === undefined
      if (isIn) objects.remove(kind, keyOf({ metadata }))
    }
  }
  objects.watch(({ type, object }) => {
    if (type === 'ADDED' && object.metadata.namespace === namespace) isWrong(tellObject(object))
  })
}
