// Around every run: what must be looked at before it and written down before and after it, so that no state and no knowledge of
// what was made is lost, however a run ends. It runs nothing but `unlock`.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { annotations } from '../api/keys.ts'
import { type Key, resourceName } from '../api/resource.ts'
import type { Client } from '../kube/client.ts'
import type { Log } from '../runtime/log.ts'
import type { Interrupted, Planned } from '../terraform/planned.ts'
import { tellSome } from '../terraform/plannote.ts'
import { addressesIn, judgeState, readStateHead, type StateHead } from '../terraform/state.ts'
import { commandTo } from '../terraform/word.ts'
import { backendOf, fetchState, type State, stateKey } from './backend.ts'
import type { Folder } from './folders.ts'
import type { Inputs } from './inputs.ts'
import { inFlight, strays } from './interrupted.ts'
import { freeLease, lockOn } from './leases.ts'
import type { Machine } from './life.ts'
import { isBeginning, judgeLock, type Lock, type LockVerdict, refusedBy, type Span } from './locks.ts'
import type { Memory, Run } from './memory.ts'
import type { LeftOut, Records, Whose } from './records.ts'
import { isMade, isToldDestroyed } from './signs.ts'
import type { Ran, Terraform } from './terraform.ts'

// What is known of a Workspace before a run.
export interface Kept {
  readonly memory: Memory
  readonly key: Key | undefined // of the state, where it is in this cluster
  readonly state: State | undefined
  readonly printed: string | undefined // by the run that did not end; undefined: none, or in another folder
}

export interface Custody {
  recall(whose: Whose): Promise<Memory>
  look(whose: Whose, where: Folder): Promise<Kept>
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
  readonly client: Pick<Client, 'get' | 'list' | 'patch'>
  readonly namespace: string // where the states are by default
  readonly records: Records
  readonly terraform: Pick<Terraform, 'unlock'>
  readonly machine: Machine
  readonly ownEnv: Readonly<Record<string, string>> // by which runs reach the states in this cluster
  readonly date: () => Date
  readonly log: Log
}

const spansKept = 20 // the last of them: the others had the lock after them

export function createCustody(options: CustodyOptions): Custody {
  const { client, namespace, records, terraform, machine, ownEnv, date, log } = options
  const bornAt = date().toISOString()
  // Of this life, by uid: the run that was begun, when runs had the lock and came to a bad end, and when any command was killed.
  const begun = new Map<string, Run>()
  const ended = new Map<string, readonly Span[]>()
  const killed: Span[] = []
  const told = (leftOut: LeftOut) => {
    if (leftOut !== undefined) log.warn('a record was left out', { why: leftOut })
  }

  async function stateNow({ key }: Kept): Promise<StateHead | undefined> {
    const state = key && (await fetchState(client, key))
    return typeof state?.head === 'object' ? state.head : undefined
  }

  async function look(whose: Whose, where: Folder): Promise<Kept> {
    const [memory, backend] = [await records.recall(whose), await backendOf(where.folder, where.env, ownEnv)]
    const key = backend.is === 'here' ? stateKey(backend, where.workspace) : undefined
    const printed = memory.run && (await where.cutOff(memory.run.startedAt))
    return { memory, key, state: key && (await fetchState(client, key)), printed }
  }

  async function end(whose: Whose, kept: Kept, inputs?: Inputs, run?: Run): Promise<void> {
    const state = await stateNow(kept)
    told(await records.ended(whose, { ...(run && { run }), ...(state && { state }), ...(inputs && { inputs }) }))
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
    recall: async (whose) => records.recall(whose),

    look,

    objection(whose, { memory, state }) {
      if (!state) return undefined
      const { workspace } = whose
      const verdict = judgeState({
        known: memory.state,
        found: state,
        wasThere: isMade(workspace) && !isToldDestroyed(workspace),
        wish: workspace.metadata.deletionTimestamp === undefined ? 'make' : 'destroy',
        approve: workspace.metadata.annotations?.[annotations.approve],
        command: (id) => command(whose, annotations.approve, id),
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
      const { state } = kept
      if (typeof state?.head === 'object') {
        told(await records.keepState(whose, { bytes: state.bytes, head: state.head }, revision))
      }
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
      if (hasEnded) await end(whose, kept, inputs, isToBeForgotten ? run : undefined)
    },

    async converged(whose, where, kept, inputs) {
      const { memory, key, state } = kept
      const { run } = memory
      if (!run && (memory.state || typeof state?.head !== 'object')) return
      const lock = run && key?.namespace === namespace ? await lockOn(client, key) : undefined
      if (lock && judge(whose, kept, lock).is === 'releasable') await release(whose, where, lock)
      await end(whose, kept, run?.operation === 'destroy' ? undefined : inputs)
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
      await records.forget(whose)
      begun.delete(uidOf(whose))
      ended.delete(uidOf(whose))
    },
  }
}

function uidOf({ workspace }: Whose): string {
  return workspace.metadata.uid ?? ''
}

function command({ api, workspace }: Whose, key: string, value: string): string {
  return commandTo(resourceName(api.workspace), workspace, key, value)
}
