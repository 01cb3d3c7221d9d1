// Around every run: what must be looked at before it and written down before and after it, so that no state and no knowledge of
// what was made is lost, however a run ends. It runs nothing but `unlock`.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { annotations } from '../api/keys.ts'
import type { Key } from '../api/resource.ts'
import type { Client } from '../kube/client.ts'
import type { Log } from '../runtime/log.ts'
import type { Interrupted, Planned } from '../terraform/planned.ts'
import { judgeState, readStateHead, type StateHead } from '../terraform/state.ts'
import { backendOf, fetchState, type State, stateKey } from './backend.ts'
import type { Folder } from './folders.ts'
import type { Inputs } from './inputs.ts'
import { inFlight } from './interrupted.ts'
import type { Machine } from './life.ts'
import { judgeLock, readLockError } from './locks.ts'
import type { Memory } from './memory.ts'
import type { LeftOut, Records, Whose } from './records.ts'
import type { Furnished, Ran, Terraform } from './terraform.ts'

// What is known of a Workspace before a run.
export interface Kept {
  readonly memory: Memory
  readonly key: Key | undefined // of the state, where it is in this cluster
  readonly state: State | undefined
}

export interface Custody {
  recall(whose: Whose): Promise<Memory>
  look(whose: Whose, where: Furnished): Promise<Kept>
  // Why nothing may be applied on that state, as a sentence.
  objection(whose: Whose, kept: Kept): string | undefined
  interruption(where: Folder, kept: Kept, planned: Planned): Promise<Interrupted | undefined>
  // A state that is nowhere but in a work folder.
  rescue(whose: Whose, state: string, revision: string): Promise<void>
  keepPlan(whose: Whose, id: string, text: string): Promise<void>
  begin(whose: Whose, where: Folder, kept: Kept, run: Beginning): Promise<void>
  // With the inputs of an apply: they are what a later destroy needs.
  end(whose: Whose, kept: Kept, inputs?: Inputs): Promise<void>
  // Runs it; when a lock keeps it from running that we may release, releases it and runs it again.
  unlocked(whose: Whose, where: Folder, run: () => Promise<Ran>): Promise<Ran>
  forget(whose: Whose): Promise<void>
}

export interface Beginning {
  readonly operation: 'apply' | 'destroy'
  readonly revision: string
  readonly creates: readonly string[]
}

export interface CustodyOptions {
  readonly client: Pick<Client, 'get'>
  readonly records: Records
  readonly terraform: Pick<Terraform, 'unlock'>
  readonly machine: Machine
  readonly instance: string // which life of which engine
  readonly ownEnv: Readonly<Record<string, string>> // by which runs reach the states in this cluster
  readonly date: () => Date
  readonly log: Log
}

export function createCustody(options: CustodyOptions): Custody {
  const { client, records, terraform, machine, instance, ownEnv, date, log } = options
  const told = (leftOut: LeftOut) => {
    if (leftOut !== undefined) log.warn('a record was left out', { why: leftOut })
  }

  async function stateNow({ key }: Kept): Promise<StateHead | undefined> {
    const state = key && (await fetchState(client, key))
    return typeof state?.head === 'object' ? state.head : undefined
  }

  return {
    recall: async (whose) => records.recall(whose),

    async look(whose, where) {
      const [memory, backend] = [await records.recall(whose), await backendOf(where.folder, where.env, ownEnv)]
      const key = backend.is === 'here' ? stateKey(backend, where.workspace) : undefined
      return { memory, key, state: key && (await fetchState(client, key)) }
    },

    objection({ workspace }, { memory, state }) {
      if (!state) return undefined
      const approve = workspace.metadata.annotations?.[annotations.approve]
      const verdict = judgeState({ known: memory.state, found: state, approve })
      return verdict.is === 'fine' ? undefined : verdict.message
    },

    async interruption(where, { memory: { run } }, planned) {
      return run && inFlight({ run, log: await where.cutOff(run.startedAt), planned })
    },

    async rescue(whose, state, revision) {
      const head = readStateHead(state)
      if (head) told(await records.keepState(whose, { bytes: await promisify(gzip)(state), head }, revision))
    },

    keepPlan: async (whose, id, text) => told(await records.keepPlan(whose, { id, text })),

    async begin(whose, where, { state }, { operation, revision, creates }) {
      if (typeof state?.head === 'object') {
        told(await records.keepState(whose, { bytes: state.bytes, head: state.head }, revision))
      }
      const { host, bootId } = machine
      const startedAt = date().toISOString()
      await where.noteRun(startedAt)
      await records.noteRun(whose, { operation, revision, startedAt, instance, host, bootId, creates })
    },

    async end(whose, kept, inputs) {
      const state = await stateNow(kept)
      told(await records.ended(whose, { ...(state && { state }), ...(inputs && { inputs }) }))
    },

    async unlocked(whose, where, run) {
      const ran = await run()
      const lock = ran.code === 0 ? undefined : readLockError(ran.err)
      if (!lock) return ran
      const { run: noted } = await records.recall(whose)
      const unlock = whose.workspace.metadata.annotations?.[annotations.unlock]
      // It was in this very folder, and none is furnished while a command of ours still runs in it.
      const hasEnded = noted !== undefined && (await where.cutOff(noted.startedAt)) !== undefined
      const verdict = judgeLock({ lock, run: noted, me: machine, hasEnded, unlock })
      if (verdict.is !== 'releasable') return { ...ran, err: `${ran.err}\n${verdict.message}\n` }
      log.warn('releasing a lock', { object: whose.workspace.metadata.name, lock: lock.id, why: verdict.why })
      const released = await terraform.unlock(where, lock.id)
      return released.code === 0 ? run() : ran
    },

    forget: async (whose) => records.forget(whose),
  }
}
