// How what was built here comes to be looked after by another cluster: its state is handed over, and is not found here any more when its
// Workspace goes. Where the state is says the engine's own memory: what the Secret says can be written by anybody who may write
// Secrets beside the apply, and would be read with our rights.
import { annotations } from '../api/keys.ts'
import { Secret } from '../api/neighbours.ts'
import { type Key, readKey } from '../api/resource.ts'
import type { Client } from '../kube/client.ts'
import { isRefused } from '../kube/errors.ts'
import { getIfThere } from '../kube/ifthere.ts'
import type { Log } from '../runtime/log.ts'
import { isElsewhere } from '../terraform/arrival.ts'
import { countIn } from '../terraform/state.ts'
import type { Lock } from '../terraform/statesecret.ts'
import { fetchState } from './backend.ts'
import { lockOn } from './leases.ts'
import type { Memory } from './memory.ts'
import type { Records, Whose } from './records.ts'
import { wasApplied } from './signs.ts'
import type { Opened, Travel } from './travel.ts'

export interface Departure {
  // Why it cannot be moved to another cluster yet, as a sentence.
  handOver(whose: Whose, asked: string): Promise<string | undefined>
  // It was moved away: what is left of its state must not be found by another of its name. Nothing goes before a copy is kept. A state
  // outside of this cluster is the one that is worked on where it was moved to: it stays, and so does the knowledge of whose it is.
  retire(whose: Whose): Promise<void>
}

export interface DepartureOptions {
  readonly client: Pick<Client, 'get' | 'list' | 'remove'>
  readonly namespace: string // where the states are by default
  readonly records: Pick<Records, 'recall' | 'note' | 'retire' | 'leave' | 'forget'>
  readonly travel: Pick<Travel, 'open' | 'pack' | 'answer'>
  readonly log: Log
}

export function createDeparture({ client, namespace, records, travel, log }: DepartureOptions): Departure {
  // Nobody can be asked about locks in every namespace.
  async function lockIfSeen(key: Key): Promise<Lock | undefined> {
    try {
      return await lockOn(client, key)
    } catch (error) {
      if (isRefused(error) && key.namespace !== namespace) return undefined
      throw error
    }
  }

  // Why a state that is there cannot be moved yet.
  async function readyAt(whose: Whose, home: string, memory: Memory, there: Opened): Promise<string | undefined> {
    const key = home.includes('/') ? readKey(home) : undefined
    if (home.startsWith('local '))
      return 'its state is in a folder of the engine (backend "local"): use one that other clusters can reach, or "kubernetes"'
    if (isElsewhere({ luggage: there.luggage, home: key ? undefined : home }))
      return 'its state is in another backend than it was, and nothing has shown yet that it is the same: let it go on first'
    if (!key) return travel.pack(whose, { home, key, state: undefined, known: undefined })
    const lock = await lockIfSeen(key)
    if (lock) return `its state is in use by ${lock.who || 'somebody'} since ${lock.created} (${lock.operation})`
    const state = await fetchState(client, key)
    if (typeof state.head !== 'object') return `there is no state in ${state.where} that can be read`
    return travel.pack(whose, { home, key, state, known: memory.state })
  }

  return {
    async handOver(whose, asked) {
      const memory = await records.recall(whose)
      const { run, home } = memory
      if (run)
        return `what became of the ${run.operation} that began at ${run.startedAt} is not known: let it go on first`
      const there = await travel.open(whose)
      // It was moved, and its Secret with it.
      if (!there) return memory.moved === asked ? undefined : 'its Secret for the state is not there'
      const isMadeOnce = memory.state !== undefined || there.luggage !== undefined || wasApplied(whose.workspace)
      if (isMadeOnce && home === undefined) return 'nobody has looked for its state here yet: let it go on first'
      if (isMadeOnce && home !== undefined) {
        const why = await readyAt(whose, home, memory, there)
        if (why !== undefined) return why
      }
      if (memory.moved !== asked) await records.note(whose, { moved: asked })
      await travel.answer(whose, asked)
      return undefined
    },

    async retire(whose) {
      const { workspace } = whose
      const { home = '', moved, run } = await records.recall(whose)
      // Only what was handed over: else this is the only one there is.
      if (run || moved === undefined || moved !== workspace.metadata.annotations?.[annotations.moved]) return
      const key = home.includes('/') ? readKey(home) : undefined
      if (!key && home !== '') return records.leave(whose)
      if (key && key.namespace !== namespace) return // it is not ours to remove
      const secret = key && (await getIfThere(client, Secret, key))
      if (secret) {
        const { head, bytes, text } = await fetchState(client, key)
        if (typeof head !== 'object') return
        const resources = countIn(text)
        const about = { bytes, head, of: home, ...(resources !== undefined && { resources }) }
        await records.retire(whose, about, workspace.metadata.annotations?.[annotations.revision] ?? '')
        const { uid, resourceVersion } = secret.metadata
        await client.remove(Secret, key, { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) })
        log.info('the state of what was moved away is kept as a copy alone', { object: home })
      }
      await records.forget(whose)
    },
  }
}
