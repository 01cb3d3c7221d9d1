// A life of a cluster that is moved to another management cluster, changed there and deleted. On each side are a manager and an engine; they and the mover can be struck at any of
// their acts from the moment the move begins. All is in memory; what Terraform builds is in one cloud, and its states are each side's own.
import { expect } from 'vitest'
import { CAPTCluster } from '../src/api/captcluster.ts'
import { CAPTControlPlane } from '../src/api/captcontrolplane.ts'
import { blockMoveAnnotation, deleteForMoveAnnotation } from '../src/api/contract.ts'
import { annotations } from '../src/api/keys.ts'
import { Cluster, Secret } from '../src/api/neighbours.ts'
import { type Key, type KubeObject, keyOf, tellObject } from '../src/api/resource.ts'
import { crossplane } from '../src/api/workspace.ts'
import { WorkspaceTemplateApply } from '../src/api/workspacetemplateapply.ts'
import { cleanUpMoved } from '../src/cli/cleanup.ts'
import { isAllowed } from '../src/terraform/policies.ts'
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
import { aCloud, type Cloud } from './instant.ts'
import { type Masked, maskedAll, type Stage, seeQuiet } from './masked.ts'
import type { Blow } from './mortal.ts'
import { finish, type Move, move } from './mover.ts'
import { type Objects, Struck } from './objects.ts'
import { type Goal, isSettled } from './settled.ts'
import {
  type Acts,
  api,
  apiInMemory,
  draw,
  failuresOf,
  liveEach,
  type Pair,
  type Site,
  type Strike,
  siteInMemory,
  startPair,
  strikesOf,
} from './struck.ts'
import { type Patience, until } from './until.ts'
import { aUser } from './user.ts'

const sides = ['source', 'target'] as const
type Side = (typeof sides)[number]

export type Victim = 'mover' | `${Strike['who']} of the ${Side}`

interface MoveStrike extends Blow {
  readonly who: Victim
  readonly isMoved?: true
}

interface MoveLife {
  readonly acts: Readonly<Record<Side, Acts>>
  readonly before: Acts // of the source, until the move began
  readonly moves: readonly string[] // acts of the mover
  readonly struck: string | undefined // which act; undefined: it never came to it
  readonly stages: readonly Stage[]
  readonly wrong: readonly string[] // what was seen on the way and must never be
  readonly left: readonly string[] // on the target and in the cloud, at the end
  readonly cloud: readonly string[] // what was made and destroyed there, in the order of each Workspace
  readonly twice: readonly string[] // what was there twice at the same time
}

const tags = { team: 'blue' }

interface Place {
  readonly objects: Objects
  readonly pair: Pair
  readonly wrong: ReadonlySet<string>
  end(): Promise<void>
}

async function live(
  site: Site,
  workload: Workload,
  namespace: string,
  fate?: { readonly strike: MoveStrike; readonly like: MoveLife },
): Promise<MoveLife> {
  const { strike, like } = fate ?? {}
  const { pace } = site
  const patience = { withinSeconds: 20, everyMs: pace.everyMs }
  const key: Key = { namespace, name }
  const services = new Map([['default/web', 2]])
  const cloud = aCloud()
  const start = async (side: Side): Promise<Place> => {
    const objects = apiInMemory()
    const wrong = watchOver(objects)
    collectGarbage(objects)
    const core = startCorelike(objects, key, (kubeconfig) => isTaken(workload, kubeconfig))
    const pair = await startPair({ folder: `${site.folder}/${side}`, pace }, objects.client, {
      namespace,
      strike: strikeOn(side, strike),
      outside: outsideOf(workload, services),
      cloud,
      moduleOf,
    })
    return { objects, pair, wrong, end: async () => void (await Promise.all([pair.end(), core.end()])) }
  }
  const [source, target] = [await start('source'), await start('target')]
  const stages: Stage[] = []
  const wrong: string[] = []
  const see = async (after: string, { objects }: Place, isThere: () => boolean) => {
    const answer = answering(objects, cloud, patience)
    const look = async () => {
      await answer()
      return isThere() || undefined
    }
    await until(`all is there after ${after}`, look, patience)
    const seen = () => maskedAll(allIn(objects), namespace)
    const looks = async () => (objects === source.objects ? ageless(seen()) : seen())
    stages.push({ after, objects: await seeQuiet(looks, pace, like?.stages[stages.length]?.objects) })
  }
  const settled =
    ({ objects }: Place, goal: Goal) =>
    () =>
      isSettled(found(objects, key), goal)
  const mover = aMover(strike?.who === 'mover' ? strike : undefined)
  try {
    begin(source.objects, namespace, workload)
    await see('it was made', source, settled(source, { version: 'v1.33.0', tags: {} }))
    const built = cloud.calls.length
    const before = { manager: [...source.pair.acts.manager], engine: [...source.pair.acts.engine] }
    const secret = source.objects.get(Secret, { namespace, name: 'offline-workload' })
    if (secret) target.objects.put(Secret, secret) // users' Secrets are not moved

    await mover.moves({ from: source.objects, to: target.objects, namespace, patience, act: mover.act })
    await see('it was moved', target, settled(target, { version: 'v1.33.0', tags: {} }))
    await see('it was moved away', source, () => allIn(source.objects).every(({ kind }) => kind !== Cluster.kind))
    wrong.push(...cloud.calls.slice(built).map((call) => `${call} in a move`), ...notLeftAlone(source.objects))

    await cleanUpMoved({ client: source.objects.client, namespace, say() {}, agrees: async () => true })
    await see('what was left behind was removed', source, () => source.objects.list(api.workspace).length === 0)
    wrong.push(...cloud.calls.slice(built).map((call) => `${call} before anything was asked of it`))

    const change = { spec: { additionalTags: tags } }
    await target.objects.client.patch(CAPTCluster, key, change)
    await target.objects.client.patch(CAPTControlPlane, key, change)
    await see('it was changed', target, settled(target, { version: 'v1.33.0', tags }))
    wrong.push(...cloud.calls.slice(built).filter((call) => !call.startsWith('update ')))

    await target.objects.client.remove(Cluster, key)
    await until('the Cluster is gone', async () => !target.objects.get(Cluster, key) || undefined, patience)
    for (const [resource, each] of userKinds) await target.objects.client.remove(resource, { namespace, name: each })
    const isOver = async () => allIn(target.objects).length === 0 || undefined
    await until('nothing is left', isOver, { ...patience, withinSeconds: 5 }).catch(() => {}) // who compares shows what
    return {
      acts: { source: source.pair.acts, target: target.pair.acts },
      before,
      moves: mover.acts,
      struck: mover.struck() ?? source.pair.struck() ?? target.pair.struck(),
      stages,
      // Of a source that goes on though a part of it is gone, nothing can be said.
      wrong: [...(mover.wasRash() ? [] : source.wrong), ...target.wrong, ...wrong, ...outOfOrder(cloud.calls)],
      left: [...allIn(target.objects).map(tellObject), ...cloud.there.values(), ...services.keys()],
      cloud: cloud.calls.map((call) => call.replaceAll(namespace, '<namespace>')).toSorted(byWorkspace),
      twice: [...new Set([...source.pair.twice, ...target.pair.twice])],
    }
  } catch (error) {
    const struck = mover.struck() ?? source.pair.struck() ?? target.pair.struck()
    const seen = [source, target].map(({ objects }) => maskedAll(allIn(objects), namespace))
    throw new Error(`${String(error)}\nstruck: ${struck}\n${JSON.stringify(seen, null, 1)}`, { cause: error })
  } finally {
    await Promise.all([source.end(), target.end()])
  }
}

// Who is moved at the second try was paused twice; and an engine that looks only after the move misses what went with it.
function ageless(seen: Masked): Masked {
  const isPassing = (key: string, value: unknown) =>
    /^(?:g|observedG)eneration$/.test(key) || (key === 'message' && String(value).includes('moved away already'))
  const without = (key: string, value: unknown) => (isPassing(key, value) ? undefined : value)
  return JSON.parse(JSON.stringify(seen, without)) as Masked
}

// The user approves what is asked; what a killed run has left behind is taken away before it is made again.
function answering({ client, list }: Objects, cloud: Cloud, patience: Patience): () => Promise<void> {
  const user = aUser(client, patience, (reason) => {
    for (const stray of reason === 'ApplyInterrupted' ? cloud.strays() : []) cloud.there.delete(stray)
  })
  return async () => {
    for (const apply of list(WorkspaceTemplateApply)) await user.answers(keyOf(apply), apply)
  }
}

// Whoever was struck at which side.
function strikeOn(side: Side, strike: MoveStrike | undefined): Strike | undefined {
  for (const who of ['manager', 'engine'] as const) {
    if (strike?.who === `${who} of the ${side}`) return { ...strike, who }
  }
  return undefined
}

// Somebody who moves a cluster and, when that fails, sees to it that it is moved all the same.
function aMover(blow: Blow | undefined) {
  const acts: string[] = []
  let struck: string | undefined
  let isRash = false
  const act: Move['act'] = async (what, send) => {
    acts.push(what)
    const isStruck = acts.length === blow?.at
    if (isStruck) struck = what
    if (isStruck && blow.how === 'before') throw new Struck(what)
    const answer = await send()
    if (isStruck) throw new Struck(what)
    return answer
  }

  // All of it once more, on a source of which a part is gone, and then by hand: clusterctl has brought its own word along with what was to be deleted.
  async function rashly(asked: Move): Promise<void> {
    const { from, to, namespace } = asked
    isRash = true
    for (const each of from.list(Cluster)) await from.client.patch(Cluster, keyOf(each), { spec: { paused: null } })
    await until('it goes on', async () => isGoingOn(from) || undefined, { withinSeconds: 5, everyMs: 5 }).catch(
      () => {},
    ) // too little of it may be left
    await move({ ...asked, patience: { withinSeconds: 1, everyMs: 5 } }).catch(() => {}) // it may be refused
    await finish(asked)
    const word = { metadata: { annotations: { [deleteForMoveAnnotation]: null } } }
    for (const kind of kinds) {
      for (const { metadata } of to.list<KubeObject>(kind)) {
        const isMarked = metadata.annotations?.[deleteForMoveAnnotation] !== undefined
        if (metadata.namespace === namespace && isMarked) await to.client.patch(kind, keyOf({ metadata }), word)
      }
    }
  }

  async function again(asked: Move): Promise<void> {
    const hasDeleted = acts.some((each) => each.startsWith('mark '))
    if (hasDeleted && blow?.how === 'before') return finish(asked)
    if (hasDeleted) return rashly(asked)
    const { from, patience } = asked
    for (const each of from.list(Cluster)) await from.client.patch(Cluster, keyOf(each), { spec: { paused: null } })
    await until('it goes on', async () => isGoingOn(from) || undefined, patience)
    await move(asked)
  }

  return {
    acts,
    act,
    struck: () => struck,
    wasRash: () => isRash,
    async moves(asked: Move) {
      try {
        await move(asked)
      } catch (error) {
        if (!(error instanceof Struck)) throw error
        await again(asked)
      }
    },
  }
}

// Whoever is not about to be deleted has an apply, and nobody moves that before it is readied anew.
function isGoingOn({ list }: Objects): boolean {
  const notes = ({ metadata }: KubeObject) => metadata.annotations ?? {}
  const isStaying = (object: KubeObject) => !(deleteForMoveAnnotation in notes(object))
  const owners = [...list(CAPTCluster), ...list(CAPTControlPlane)].filter(isStaying)
  const applies = list(WorkspaceTemplateApply)
  const hasApply = ({ metadata: { uid } }: KubeObject) =>
    applies.some(({ metadata: { ownerReferences = [] } }) => ownerReferences.some((owner) => owner.uid === uid))
  return owners.every(hasApply) && applies.filter(isStaying).every((apply) => blockMoveAnnotation in notes(apply))
}

// What a move leaves behind destroys nothing when it goes.
function notLeftAlone(objects: Objects): readonly string[] {
  return objects.list(api.workspace).flatMap(({ metadata: { annotations: notes = {}, name: is }, spec }) => {
    const isAlone =
      notes[crossplane.paused] === 'true' &&
      notes[annotations.moved] !== undefined &&
      !isAllowed(spec.managementPolicies, 'Delete')
    return isAlone ? [] : [`${is} was not left alone`]
  })
}

// Every strike from the moment the move begins.
function strikesIn({ acts, before, moves }: MoveLife): readonly MoveStrike[] {
  const ofSides = sides.flatMap((side) =>
    [
      ...strikesOf({ acts: acts[side] }),
      ...failuresOf({ acts: acts[side] }, 'manager'),
      ...failuresOf({ acts: acts[side] }, 'engine'),
    ]
      .filter(({ who, at }) => side === 'target' || at > before[who].length)
      .map((strike): MoveStrike => ({ ...strike, who: `${strike.who} of the ${side}` })),
  )
  const ofMover = moves.flatMap((_, index): readonly MoveStrike[] => [
    { who: 'mover', at: index + 1, how: 'before' },
    { who: 'mover', at: index + 1, how: 'after' },
  ])
  return [...ofSides, ...ofMover]
}

// Lives a life undisturbed and one for each of the strikes that are chosen, or for so many of them; sees each end as the first.
export async function sweepMoves(
  isChosen: (strike: MoveStrike) => boolean,
  drawn?: number,
): Promise<{ strikes: number; fallen: number }> {
  const site = siteInMemory()
  const workload = theWorkload()
  try {
    const like = await live(site, workload, 'undisturbed')
    expect(like).toMatchObject({ struck: undefined, wrong: [], left: [], twice: [] })
    const strikes = draw(strikesIn(like).filter(isChosen), drawn)
    const fallen = await liveEach(
      site.pace.atATime,
      strikes,
      async (namespace, strike) => live(site, workload, namespace, { strike, like }),
      (told, strike, life) => judge(told, strike, life, like),
    )
    return { strikes: strikes.length, fallen }
  } finally {
    await site.end()
  }
}

// The same is there after each step, and nothing in the end. An engine that was struck may say once more what it said already, but makes and destroys no more.
function judge(told: string, { who }: MoveStrike, life: MoveLife, like: MoveLife): void {
  for (const [index, stage] of life.stages.entries()) expect.soft(stage, told).toEqual(like.stages[index])
  expect.soft([...life.wrong, ...life.left, ...life.twice], told).toEqual([])
  const isKept = (call: string) => !who.startsWith('engine') || !call.startsWith('update ')
  expect.soft(life.cloud.filter(isKept), told).toEqual(like.cloud.filter(isKept))
}
