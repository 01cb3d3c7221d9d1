// Around every run: what must be looked at before it and written down before and after it, so that no state and no knowledge of
// what was made is lost, however a run ends. It runs nothing but `unlock`.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { annotations } from '../api/keys.ts'
import { Secret } from '../api/neighbours.ts'
import { type Key, readKey, resourceName, tellKey } from '../api/resource.ts'
import { crossplane, type Workspace } from '../api/workspace.ts'
import type { Client } from '../kube/client.ts'
import { getIfThere } from '../kube/ifthere.ts'
import type { Log } from '../runtime/log.ts'
import { type Arrival, isElsewhere, isUnproven, judgeArrival } from '../terraform/arrival.ts'
import type { Interrupted, Planned } from '../terraform/planned.ts'
import { tellSome } from '../terraform/plannote.ts'
import { addressesIn, countIn, judgeState, readStateHead, type StateHead } from '../terraform/state.ts'
import type { Copied } from '../terraform/statecopy.ts'
import { type Lock, type State, stateKey, stateSecretOf } from '../terraform/statesecret.ts'
import { commandTo, commandToRestore } from '../terraform/word.ts'
import { backendOf, fetchState } from './backend.ts'
import { createDeparture, type Departure } from './departure.ts'
import type { Folder } from './folders.ts'
import type { Inputs } from './inputs.ts'
import { inFlight, strays } from './interrupted.ts'
import { freeLease, lockOn } from './leases.ts'
import type { Machine } from './life.ts'
import { isBeginning, judgeLock, type LockVerdict, refusedBy, type Span } from './locks.ts'
import type { Memory, Run } from './memory.ts'
import type { LeftOut, Records, Whose } from './records.ts'
import { isMade, isToldDestroyed, wasApplied } from './signs.ts'
import type { Ran, Terraform } from './terraform.ts'
import { createTravel, type Opened, type Packing } from './travel.ts'

// What is known of a Workspace before a run.
export interface Kept {
  readonly memory: Memory
  readonly key: Key | undefined // of the state, where it is in this cluster
  readonly state: State | undefined
  readonly printed: string | undefined // by the run that did not end; undefined: none, or in another folder
  readonly home?: string // where the state is, as memory has it
  readonly came?: Opened // with its apply
  readonly arrival: Arrival // what to make of that
  readonly writer?: string // of a state that has just come: tofu 1.12.6
  readonly isUnproven?: boolean // what was built may be more than the state knows
  readonly isElsewhere?: boolean // in another backend than it was
  readonly movedSince?: string // the state that is there, or may be, is of what was moved away, and did not come back
}

export const nothingKept: Kept = {
  memory: {},
  key: undefined,
  state: undefined,
  printed: undefined,
  arrival: { is: 'nothing' },
}

export interface Custody extends Departure {
  recall(whose: Whose): Promise<Memory>
  look(whose: Whose, where: Folder): Promise<Kept>
  // Puts a state that came with its apply where it belongs, if it is the newest. What was there is copied before.
  arrive(whose: Whose, where: Folder, kept: Kept): Promise<Kept>
  // Whether anything is told of a state that came with its apply.
  hasCome(whose: Whose): Promise<boolean>
  // A plan has found something to do, which may have to wait: what is there can be moved meanwhile.
  planned(whose: Whose, kept: Kept): Promise<void>
  // Why nothing may be applied on that state, or destroyed by it, as a sentence.
  objection(whose: Whose, kept: Kept): string | undefined
  interruption(kept: Kept, planned: Planned): Interrupted | undefined
  // What an apply that was killed may have made, and no destroy will find, as a sentence.
  unknown(kept: Kept): string | undefined
  // A state that is nowhere but in a work folder.
  rescue(whose: Whose, state: string, revision: string): Promise<void>
  keepPlan(whose: Whose, id: string, text: string): Promise<void>
  begin(whose: Whose, where: Folder, kept: Kept, run: Beginning): Promise<void>
  // What became of what was begun: it ended, it never ran, or nobody knows. With the inputs of an apply: they are what a later
  // destroy needs.
  settle(whose: Whose, where: Folder, kept: Kept, ran: Ran, inputs?: Inputs): Promise<void>
  // A plan has found nothing to do: whatever run was noted, what it made is known. What it was given a destroy may need as much
  // as of one that ended; so it is with a state that was not made by us. With the run goes the proof that its lock is ours.
  converged(whose: Whose, where: Folder, kept: Kept, inputs?: Inputs): Promise<void>
  // Runs it; when a lock keeps it from running that we may release, releases it and runs it again. Whose lock it is, is judged
  // by what was known before the run was begun.
  unlocked(whose: Whose, where: Folder, kept: Kept | undefined, run: () => Promise<Ran>): Promise<Ran>
  forget(whose: Whose): Promise<void>
}

export interface Beginning {
  readonly operation: 'apply' | 'destroy'
  readonly revision: string
  readonly creates: readonly string[]
}

export interface CustodyOptions {
  readonly client: Pick<Client, 'get' | 'list' | 'create' | 'patch' | 'remove'>
  readonly namespace: string // where the states are by default
  readonly records: Records
  readonly terraform: Pick<Terraform, 'unlock' | 'family' | 'version'>
  readonly machine: Machine
  readonly ownEnv: Readonly<Record<string, string>> // by which runs reach the states in this cluster
  readonly date: () => Date
  readonly log: Log
}

type Taken = Pick<Copied, 'revision' | 'taken'>

const how = { fieldManager: 'capt-engine' }
const spansKept = 20 // the last of them: the others had the lock after them

export function createCustody(options: CustodyOptions): Custody {
  const { client, namespace, records, terraform, machine, ownEnv, date, log } = options
  const bornAt = date().toISOString()
  const travel = createTravel(client)
  const cli = `${terraform.family} ${terraform.version}`
  // Of this life, by uid: the run that was begun, when runs had the lock and came to a bad end, and when any command was killed.
  const begun = new Map<string, Run>()
  const ended = new Map<string, readonly Span[]>()
  const killed: Span[] = []
  const told = (leftOut: LeftOut) => {
    if (leftOut !== undefined) log.warn('a record was left out', { why: leftOut })
  }

  // A copy of the state as it is, where it can be read.
  async function copy(
    whose: Whose,
    { key }: Kept,
    state: State | undefined,
    run: Taken,
  ): Promise<StateHead | undefined> {
    if (!key || typeof state?.head !== 'object') return undefined
    const { bytes, head, text } = state
    const [resources, of] = [countIn(text), tellKey(key)]
    const { revision, ...taken } = run
    const about = { bytes, head, of, ...taken, ...(resources !== undefined && { resources }) }
    told(await records.keepState(whose, about, revision))
    return head
  }

  async function look(whose: Whose, where: Folder): Promise<Kept> {
    const [memory, backend] = [await records.recall(whose), await backendOf(where.folder, where.env, ownEnv)]
    const key = backend.is === 'here' ? stateKey(backend, where.workspace) : undefined
    const home = backend.is === 'here' ? undefined : backend.home
    const printed = memory.run && (await where.cutOff(memory.run.startedAt))
    const state = key && (await fetchState(client, key))
    const came = await travel.open(whose)
    const arriving = {
      luggage: came?.luggage,
      packed: came?.head,
      found: state?.head,
      home,
      known: memory.state,
      uid: uidOf(whose),
      revision: revisionOn(whose),
    }
    const arrival = judgeArrival(arriving)
    const isFirstSeen = home !== undefined && memory.home === undefined && came?.luggage?.by !== uidOf(whose)
    const isNew = came?.luggage === undefined && !wasApplied(whose.workspace)
    const isLeft = key ? typeof state?.head === 'object' && !state.head.isEmpty : memory.home === home // what is elsewhere is not seen
    const movedSince = isNew && isLeft ? memory.moved : undefined
    const writer = arrival.is === 'take' || isFirstSeen ? came?.luggage?.cli : undefined
    return {
      memory,
      key,
      state,
      printed,
      ...(writer !== undefined && { writer }),
      ...(movedSince !== undefined && { movedSince }),
      home: home ?? tellKey(key ?? { name: '' }),
      ...(came && { came }),
      arrival,
      isUnproven: arrival.is !== 'hold' && isUnproven(arriving), // what is held is gone on with by a user's word only
      isElsewhere: isElsewhere(arriving),
    }
  }

  interface End {
    readonly inputs?: Inputs | undefined
    readonly run?: Run | undefined // it stays noted
    readonly isDone: boolean // all that was asked for is there
  }

  async function end(whose: Whose, kept: Kept, { inputs, run, isDone }: End): Promise<void> {
    const { key, home, memory } = kept
    const found = key && (await fetchState(client, key))
    const revision = (begun.get(uidOf(whose)) ?? memory.run)?.revision ?? revisionOn(whose)
    const state = await copy(whose, kept, found, { revision, taken: 'after' })
    await pack(whose, kept, found, isDone && hasRevision(whose) ? { revision, cli } : { cli })
    told(
      await records.ended(whose, {
        ...(run && { run }),
        ...(state && { state }),
        ...(inputs && { inputs }),
        ...(home !== undefined && { home }),
      }),
    )
  }

  async function pack(whose: Whose, kept: Kept, state: State | undefined, proof?: Packing['proof']): Promise<void> {
    const { key, home = '', memory } = kept
    told(await travel.pack(whose, { home, key, state, known: memory.state, ...(proof && { proof }) }))
  }

  // When the noted run began that may have left its lock, here. The next one may be killed before it meets that.
  function lockedSince({ memory: { run }, printed }: Kept): string | undefined {
    const isHere = printed !== undefined && run?.host === machine.host && run.bootId === machine.bootId
    return isHere ? (run.since ?? run.startedAt) : undefined
  }

  function judge(whose: Whose, { memory, printed }: Kept, lock: Lock): LockVerdict {
    const { annotations: notes } = whose.workspace.metadata
    return judgeLock({
      lock,
      run: memory.run,
      me: machine,
      bornAt,
      ended: isBeginning(lock) ? killed : (ended.get(uidOf(whose)) ?? []), // what is begun may be the default state, which is everybody's
      hasEnded: printed !== undefined, // it was in this very folder, and none is furnished while a command of ours runs in it
      unlock: notes?.[annotations.unlock],
      command: (id) => command(whose, annotations.unlock, id),
    })
  }

  async function release({ workspace }: Whose, where: Folder, lock: Lock): Promise<boolean> {
    log.warn('releasing a lock', { object: workspace.metadata.name, ...lock })
    if (isBeginning(lock)) return freeLease(client, namespace, lock.id)
    return (await terraform.unlock(where, lock.id)).code === 0
  }

  return {
    ...createDeparture({ client, namespace, records, travel, log }),

    recall: async (whose) => records.recall(whose),

    look,

    async arrive(whose, where, kept) {
      const { key, home, state, came, arrival } = kept
      if (!key && home !== undefined && kept.writer !== undefined) await records.note(whose, { home })
      if (arrival.is === 'nothing' || !came?.bytes || !came.head) return kept
      const revision = came.luggage?.revision ?? ''
      if (arrival.is === 'hold') {
        told(await records.keepState(whose, { bytes: came.bytes, head: came.head, taken: 'after' }, revision))
        return kept
      }
      const secret = key && stateSecretOf(key, where.workspace, came.bytes)
      if (!secret) return { ...kept, arrival: { is: 'hold' } }
      await copy(whose, kept, state, { revision: revisionOn(whose), taken: 'after' })
      // What a command began where it found none may be there.
      const there = await getIfThere(client, Secret, key)
      const { uid, resourceVersion } = there?.metadata ?? {}
      if (!there) await client.create(Secret, secret, how)
      else await client.patch(Secret, key, { metadata: { uid, resourceVersion }, data: secret.data }, how)
      log.info('a state came with its apply', { object: tellKey(key), serial: came.head.serial })
      return { ...kept, arrival: { is: 'nothing' }, state: await fetchState(client, key) }
    },

    hasCome: async (whose) => (await travel.open(whose))?.luggage !== undefined,

    async planned(whose, kept) {
      const { key, state, home, came, memory } = kept
      const isToldOf = came?.luggage !== undefined || kept.movedSince !== undefined // and gone on with, by a user's word
      const isThere = key ? typeof state?.head === 'object' && !state.head.isEmpty : isToldOf
      if (!isThere || home === undefined) return
      if (memory.home !== home) await records.note(whose, { home })
      if (!kept.isUnproven) await pack(whose, kept, state)
    },

    objection(whose, kept) {
      const { memory, key, state, came, arrival } = kept
      const { workspace } = whose
      const isLeaving = workspace.metadata.deletionTimestamp !== undefined
      const rival = arrival.is === 'hold' && arrival.isRivalled ? came?.head : undefined
      const isLost = (arrival.is === 'hold' && !rival) || (isLeaving && kept.isElsewhere === true)
      if (!state && !isLost && kept.movedSince === undefined) return undefined
      const apply = workspace.metadata.annotations?.[annotations.apply]
      const verdict = judgeState({
        known: memory.state,
        found: state && !isLost ? state : { where: state?.where ?? 'the backend', head: 'absent' },
        wasThere: isLost || (isMade(workspace) && !isToldDestroyed(workspace)),
        ...(rival && { rival }),
        mayBeAnothers: apply !== undefined && !isNamedAfter(workspace, readKey(apply)),
        ...(kept.movedSince !== undefined && { movedSince: kept.movedSince }),
        uid: uidOf(whose),
        wish: isLeaving ? 'destroy' : 'make',
        approve: workspace.metadata.annotations?.[annotations.approve],
        command: (id) => command(whose, annotations.approve, id),
        restore: apply === undefined ? undefined : commandToRestore(readKey(apply), memory.state ? undefined : key), // copies are beside what is remembered
      })
      return verdict.is === 'fine' ? undefined : verdict.message
    },

    interruption: ({ memory: { run }, printed }, planned) => run && inFlight({ run, log: printed, planned }),

    unknown({ memory: { run }, printed, state }) {
      const lost = run && strays({ run, log: printed, known: addressesIn(state?.text ?? '') })
      if (!run || !lost?.length) return undefined
      const which = lost === 'many' ? 'more than is remembered' : tellSome(lost)
      return `the apply that began at ${run.startedAt} was interrupted, and what it may have made is in no state, so it is not destroyed: ${which}; look whether that is there`
    },

    async rescue(whose, state, revision) {
      const head = readStateHead(state)
      if (head) told(await records.keepState(whose, { bytes: await promisify(gzip)(state), head }, revision))
    },

    keepPlan: async (whose, id, text) => told(await records.keepPlan(whose, { id, text })),

    async begin(whose, where, kept, { operation, revision, creates }) {
      await copy(whose, kept, kept.state, { revision })
      const { host, bootId } = machine
      const startedAt = date().toISOString()
      const since = lockedSince(kept)
      const run: Run = { operation, revision, startedAt, ...(since !== undefined && { since }), host, bootId, creates }
      begun.set(uidOf(whose), run)
      await where.noteRun(startedAt)
      await records.noteRun(whose, run)
    },

    async settle(whose, where, kept, ran, inputs) {
      const { memory, printed } = kept
      if (refusedBy(ran)) {
        // Nothing was done: what was not known before is as unknown as before.
        if (!memory.run) return told(await records.ended(whose))
        if (printed !== undefined) await where.noteRun(memory.run.startedAt, printed)
        return records.noteRun(whose, memory.run)
      }
      const run = begun.get(uidOf(whose))
      if (ran.code !== 0) {
        const span = { from: run?.startedAt ?? bornAt, to: date().toISOString() }
        ended.set(uidOf(whose), [...(ended.get(uidOf(whose)) ?? []), span].slice(-spansKept))
      }
      // One that was killed or crashed may have made more than it wrote down, and what it could not write is only in its folder.
      const hasEnded = (ran.code === 0 || ran.code === 1) && (await where.leftState()) === undefined
      // What is destroyed is forgotten next, under a lock again: that is of the same run.
      const isToBeForgotten = ran.code === 0 && run?.operation === 'destroy'
      if (hasEnded) await end(whose, kept, { inputs, run: isToBeForgotten ? run : undefined, isDone: ran.code === 0 })
    },

    async converged(whose, where, kept, inputs) {
      const { memory, key, home, state } = kept
      const { run } = memory
      const head = typeof state?.head === 'object' ? state.head : undefined
      const isKnown = (!head || isSame(memory.state, head)) && memory.home === home && memory.moved === undefined
      if (!run && isKnown)
        return pack(whose, kept, state, hasRevision(whose) ? { revision: revisionOn(whose), cli } : { cli })
      const lock = run && key?.namespace === namespace ? await lockOn(client, key) : undefined
      if (lock && judge(whose, kept, lock).is === 'releasable') await release(whose, where, lock)
      await end(whose, kept, { inputs: run?.operation === 'destroy' ? undefined : inputs, isDone: true })
    },

    async unlocked(whose, where, kept, run) {
      const watched = async () => {
        const from = date().toISOString()
        const ran = await run()
        if (ran.code > 2) killed.push({ from, to: date().toISOString() })
        return ran
      }
      const ran = await watched()
      const lock = refusedBy(ran)
      if (!lock) return ran
      const verdict = judge(whose, kept ?? (await look(whose, where)), lock)
      if (verdict.is !== 'releasable') return { ...ran, err: `Error: ${verdict.message}\n\n${ran.err}` }
      return (await release(whose, where, lock)) ? watched() : ran
    },

    async forget(whose) {
      told(await travel.clear(whose))
      const { state } = await records.recall(whose)
      await records.forget(whose, state?.lineage)
      begun.delete(uidOf(whose))
      ended.delete(uidOf(whose))
    },
  }
}

// Names of states that begin with a namespace are those of its applies.
function isNamedAfter({ metadata }: Workspace, { namespace = '' }: Key): boolean {
  return metadata.annotations?.[crossplane.externalName]?.startsWith(`${namespace}.`) === true
}

function uidOf({ workspace }: Whose): string {
  return workspace.metadata.uid ?? ''
}

function revisionOn({ workspace }: Whose): string {
  return workspace.metadata.annotations?.[annotations.revision] ?? ''
}

// One that is of no apply has none, and is not moved.
function hasRevision(whose: Whose): boolean {
  return revisionOn(whose) !== ''
}

function isSame(known: StateHead | undefined, { lineage, serial }: StateHead): boolean {
  return known?.lineage === lineage && known.serial === serial
}

function command({ api, workspace }: Whose, key: string, value: string): string {
  return commandTo(resourceName(api.workspace), workspace, key, value)
}
