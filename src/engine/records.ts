// What outlives a run, in Secrets: the engine's memory of a Workspace, copies of its state from before and after each apply,
// and the text of its last plan. Nothing is decided here, and nothing of it is needed to go on when all of it is lost.
//
// Flow. `noteRun` before a run begins, `ended` after it. `keepState` before what may change the state and
// after it, `keepPlan` after a plan with changes, `forget` once everything is destroyed.
// Guarantees. A memory is one Secret and changes in one write, so that a kill leaves it as before or as after. Every call may
// be repeated. What is too large is left out, with a sentence why, and never keeps a run from going on.
// Assumptions. One engine writes at a time. The namespace of the states is there.
// Caveats. Records belong to a Workspace of the same API, name and external name, not to its uid: one that was deleted by hand
// and made again is on the same state. They hold secret values, like the states beside them.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { hashOf } from '../api/canonical.ts'
import { annotations, labels } from '../api/keys.ts'
import { Secret } from '../api/neighbours.ts'
import { apiVersionOf, keyOf, type ObjectMeta, tellKey, tellRef } from '../api/resource.ts'
import type { Workspace, WorkspaceAPI } from '../api/workspace.ts'
import type { Client } from '../kube/client.ts'
import { isNotFound, isRefused } from '../kube/errors.ts'
import { getIfThere } from '../kube/ifthere.ts'
import { recordIdOf } from '../terraform/identity.ts'
import type { StateHead } from '../terraform/state.ts'
import { type Copied, copySecrets, idOf, mostParts, partsOf, readCopies, strayOf } from '../terraform/statecopy.ts'
import type { Inputs } from './inputs.ts'
import { type Memory, packInputs, packRun, packState, packText, type Run, readMemory } from './memory.ts'

export interface Whose {
  readonly api: Pick<WorkspaceAPI, 'group' | 'workspace'>
  readonly workspace: Workspace
}

export type LeftOut = string | undefined // why something was not kept, for people

export interface Left {
  readonly run?: Run
  readonly state?: StateHead
  readonly inputs?: Inputs
  readonly home?: string
}

export interface Records {
  recall(whose: Whose): Promise<Memory>
  noteRun(whose: Whose, run: Run): Promise<void>
  // Where its state is, and that it may be moved.
  note(whose: Whose, what: Pick<Memory, 'home' | 'moved'>): Promise<void>
  // Without `left`: it changed nothing that is known. With a run: that one stays noted.
  ended(whose: Whose, left?: Left): Promise<LeftOut>
  keepState(
    whose: Whose,
    state: Pick<Copied, 'bytes' | 'head' | 'taken' | 'resources' | 'of'>,
    revision: string,
  ): Promise<LeftOut>
  keepPlan(whose: Whose, plan: { readonly id: string; readonly text: string }): Promise<LeftOut>
  // With a lineage: also what was retired of it, for an apply may have come back.
  forget(whose: Whose, lineage?: string): Promise<void>
  // Of what is looked after elsewhere by now, on a state that is outside of this cluster: all but where that is, and that it was moved.
  leave(whose: Whose): Promise<void>
  // A last copy of the state of what is looked after elsewhere by now, which no other Workspace of that name finds or removes.
  retire(whose: Whose, state: Pick<Copied, 'bytes' | 'head' | 'resources' | 'of'>, revision: string): Promise<void>
}

export interface RecordsOptions {
  readonly client: Pick<Client, 'get' | 'list' | 'create' | 'apply' | 'patch' | 'remove'>
  readonly namespace: string // where the states are
  readonly date: () => Date
}

const how = { fieldManager: 'capt-engine' }
const generations = 4 // as it is now, and the three before it
const planBytes = 512 * 1024

const zip = promisify(gzip)

export function createRecords({ client, namespace, date }: RecordsOptions): Records {
  async function remember(whose: Whose, data: Readonly<Record<string, string | null>>): Promise<void> {
    const metadata = { ...describe(whose, 'memory'), namespace, name: memoryName(whose) }
    try {
      await client.patch(Secret, keyOf({ metadata }), { metadata, data }, how)
    } catch (error) {
      if (!isNotFound(error, metadata.name)) throw error
      const known = Object.entries(data).filter((each): each is [string, string] => each[1] !== null)
      await client.create(Secret, { ...secret(metadata), data: Object.fromEntries(known) }, how)
    }
  }

  const copiesOf = async (whose: Whose) => copiesBy(`${labels.recordOf}=${idOfWorkspace(whose)}`)

  async function copiesBy(label: string): Promise<readonly Secret[]> {
    const selector = `${labels.record}=state,${label}`
    return (await client.list(Secret, { namespace, labels: selector, metadataOnly: true })).items
  }

  async function remove({ metadata }: Pick<Secret, 'metadata'>): Promise<void> {
    try {
      await client.remove(Secret, keyOf({ metadata }), metadata.uid === undefined ? {} : { uid: metadata.uid })
    } catch (error) {
      if (!isNotFound(error, metadata.name)) throw error
    }
  }

  return {
    recall: async (whose) =>
      readMemory((await getIfThere(client, Secret, { namespace, name: memoryName(whose) }))?.data ?? {}),

    noteRun: async (whose, run) => remember(whose, { run: packRun(run) }),

    note: async (whose, what) =>
      remember(whose, Object.fromEntries(Object.entries(what).map(([name, text]) => [name, packText(text)]))),

    async ended(whose, { run, state, inputs, home } = {}) {
      const packed = inputs && (await packInputs(inputs))
      await remember(whose, {
        run: run ? packRun(run) : null,
        moved: null,
        ...(state && { state: packState(state) }),
        ...(home !== undefined && { home: packText(home) }),
        ...(inputs && { inputs: packed ?? null }),
      })
      if (!inputs || packed !== undefined) return undefined
      return (
        `the inputs of ${tell(whose)} are not kept, because they do not fit into a Secret: what they are read from ` +
        `must be there when it is destroyed`
      )
    },

    async keepState(whose, state, revision) {
      const { bytes, head } = state
      if (head.isEmpty) return undefined
      if (partsOf(bytes) > mostParts)
        return `the state of ${tell(whose)} is not copied: ${bytes.length} bytes are too many`
      const before = await copiesOf(whose)
      const id = idOf(bytes)
      if (readCopies(before)[0]?.id === id) return undefined
      const about = { ...describe(whose, 'state'), namespace }
      const copied = { ...state, revision, takenAt: date().toISOString() }
      const written = copySecrets(copied, about)
      for (const part of written) await client.apply(Secret, part, { ...how, force: true })
      const names = new Set(written.map(({ metadata }) => metadata.name))
      const all = [...written, ...before.filter(({ metadata }) => !names.has(metadata.name))]
      const others = readCopies(all).filter((copy) => copy.id !== id)
      const mine = readCopies(all).filter((copy) => copy.id === id) // the newest, whatever the clock says
      for (const stray of strayOf(all, [...mine, ...others].slice(0, generations))) await remove(stray)
      return undefined
    },

    async keepPlan(whose, { id, text }) {
      const { api, workspace } = whose
      const { name, uid } = workspace.metadata
      const key = { namespace: workspace.metadata.namespace ?? namespace, name: `${name}-plan` }
      const existing = await getIfThere(client, Secret, key)
      // Whoever made it would lose it with the Workspace.
      if (existing && existing.metadata.labels?.[labels.recordOf] !== idOfWorkspace(whose))
        return `the plan of ${tell(whose)} is not kept: ${tellRef(Secret, key)} is somebody else's`
      const data = { 'plan.gz': (await zipped(text, planBytes)).toString('base64') }
      const isSame = existing?.metadata.annotations?.[annotations.plan] === id
      if (isSame && existing.data?.['plan.gz'] === data['plan.gz']) return undefined
      const described = describe(whose, 'plan')
      const metadata = {
        ...described,
        ...key,
        annotations: { ...described.annotations, [annotations.plan]: id },
        ...(uid !== undefined && {
          ownerReferences: [{ apiVersion: apiVersionOf(api.workspace), kind: api.workspace.kind, name, uid }],
        }),
      }
      try {
        if (existing) {
          const fence = existing.metadata.uid === undefined ? {} : { uid: existing.metadata.uid }
          await client.patch(Secret, key, { metadata: { ...metadata, ...fence }, data }, how)
        } else {
          await client.create(Secret, { ...secret(metadata), data }, how)
        }
      } catch (error) {
        // Nobody needs it to go on.
        if (isRefused(error)) return `the plan of ${tell(whose)} is not kept: ${error.message}`
        throw error
      }
      return undefined
    },

    async retire(whose, state, revision) {
      const { labels: marks, annotations: notes } = describe(whose, 'state')
      const recordOf = hashOf({ of: idOfWorkspace(whose), uid: whose.workspace.metadata.uid })
      const about = {
        namespace,
        labels: { ...marks, [labels.recordOf]: recordOf },
        ...(notes && { annotations: notes }),
      }
      const copied = { ...state, taken: 'after' as const, revision, takenAt: date().toISOString() }
      for (const part of copySecrets(copied, about)) await client.apply(Secret, part, { ...how, force: true })
    },

    async leave(whose) {
      for (const copy of strayOf(await copiesOf(whose), [])) await remove(copy)
      await remember(whose, { run: null, state: null, inputs: null })
    },

    async forget(whose, lineage) {
      for (const copy of strayOf(await copiesOf(whose), [])) await remove(copy)
      const apply = whose.workspace.metadata.labels?.[labels.apply]
      if (lineage !== undefined && apply !== undefined) {
        const retired = await copiesBy(`${labels.apply}=${apply}`)
        const others = readCopies(retired).filter((copy) => copy.lineage !== lineage)
        for (const copy of strayOf(retired, others)) await remove(copy)
      }
      await remove({ metadata: { namespace, name: memoryName(whose) } })
    },
  }
}

function idOfWorkspace({ api: { group }, workspace: { metadata } }: Whose): string {
  return recordIdOf(group, metadata)
}

function memoryName(whose: Whose): string {
  return `memory-${idOfWorkspace(whose)}`
}

// With the labels that its apply or its cluster is found by; none that a backend would take for a state of its own.
function describe(whose: Whose, record: string): Pick<ObjectMeta, 'labels' | 'annotations'> {
  const { api, workspace } = whose
  const inherited = [labels.apply, labels.cluster].flatMap((label) => {
    const value = workspace.metadata.labels?.[label]
    return value === undefined ? [] : [[label, value] as const]
  })
  return {
    labels: { ...Object.fromEntries(inherited), [labels.record]: record, [labels.recordOf]: idOfWorkspace(whose) },
    annotations: { [annotations.workspace]: `${api.group}/${tellKey(keyOf(workspace))}` },
  }
}

function secret(metadata: ObjectMeta): Secret {
  return { apiVersion: 'v1', kind: 'Secret', metadata }
}

function tell({ api, workspace }: Whose): string {
  return tellRef(api.workspace, keyOf(workspace))
}

// As much of the text as fits, and a word where it was cut.
async function zipped(text: string, most: number): Promise<Buffer> {
  const whole = await zip(text)
  if (whole.length <= most) return whole
  for (let length = text.length; ; ) {
    length = Math.floor(length * 0.75)
    const cut = await zip(`${text.slice(0, length)}\n… cut here: the whole text has ${text.length} characters\n`)
    if (cut.length <= most) return cut
  }
}
