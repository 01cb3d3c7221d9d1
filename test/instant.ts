// Terraform that answers at once: a module is JSON that says which resources there are to be, and a state is kept in memory. It
// stands in where a test is about what the engine makes of Terraform's answers, not about Terraform. What it makes is in a cloud
// of its own, and in the state only when a run ends: whoever kills a run in its middle finds the two apart, as with the real one.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashOf } from '../src/api/canonical.ts'
import type { ObjectMeta } from '../src/api/resource.ts'
import type { Workspace } from '../src/api/workspace.ts'
import { argumentsOf } from '../src/engine/arguments.ts'
import type { Folder, Folders } from '../src/engine/folders.ts'
import type { Inputs } from '../src/engine/inputs.ts'
import type { Furnished, Ran, Terraform } from '../src/engine/terraform.ts'

// What a module of a test says.
export interface Module {
  readonly resources?: Readonly<Record<string, unknown>> // by address
  readonly outputs?: Readonly<Record<string, unknown>>
  readonly sensitive?: readonly string[] // names of outputs
  readonly replaces?: boolean // a changed resource is replaced, not updated
  readonly fails?: Readonly<Partial<Record<'init' | 'plan' | 'apply' | 'destroy', string>>>
}

export interface Instant {
  readonly terraform: Terraform
  readonly folders: Folders
  readonly calls: string[] // which commands ran
  readonly states: Map<string, Map<string, unknown>> // by Terraform's workspace, then by address
  readonly furnished: Map<string, Inputs> // by uid
  readonly plans: ReadonlyMap<string, unknown> // that are kept, by uid
  readonly lefts: Map<string, string> // states that could not be written, by uid
  readonly cloud: Cloud
  // The same Terraform, whose calls to the cloud go through this, and when it keeps a state: there it can be killed.
  through(call: Calling): Terraform
  loseFolders(): void // with all that was in them
  // What is called before a command is answered, to let it fail or be killed.
  onCommand: (name: string) => void
}

export interface Cloud {
  readonly there: Map<string, string> // by an id: of which workspace, and at which address there
  readonly known: Map<string, string> // the id that a state holds, by the same
  readonly calls: string[] // "create default.demo terraform_data.eks"
  strays(): readonly string[] // ids of what is in no state
}

export function aCloud(): Cloud {
  const [there, known] = [new Map<string, string>(), new Map<string, string>()]
  const strays = () => [...there].filter(([id, place]) => known.get(place) !== id).map(([id]) => id)
  return { there, known, calls: [], strays }
}

export type Calling = (what: string, act: () => void | Promise<void>) => Promise<void>

// Where states are kept beside, so that the engine finds them where it looks for those of Terraform.
export interface Backend {
  readonly root: string // of the work folders
  readonly type: string
  readonly config: object
  keep(workspace: string, state: ReadonlyMap<string, unknown> | undefined, outputs: Module): Promise<void>
  // What is there now, whoever put it there. Without: what is in memory is the truth.
  fetch?(workspace: string): Promise<Stated | undefined>
}

export interface Stated {
  readonly resources: ReadonlyMap<string, unknown> // by address
  readonly outputs: Module
}

export interface InstantOptions {
  readonly version?: string
  readonly moduleOf?: (inputs: Inputs) => Module // none: main.tf is it, as JSON
  readonly backend?: Backend
  readonly cloud?: Cloud // none: one of its own
}

export function instantTerraform(options: InstantOptions = {}): Instant {
  const { version = '1.12.6', moduleOf = moduleOfText, backend, cloud = aCloud() } = options
  const states: Instant['states'] = new Map()
  const begun = new Map<string, string>() // when the last run in a folder began
  const outputs = new Map<string, Module>()
  const furnished = new Map<string, Inputs>()
  const initialised = new Map<string, string>()
  const plans = new Map<string, Module>()
  const printed = new Map<string, string>() // by an apply that runs, or was killed
  const lefts: Instant['lefts'] = new Map()
  const calls: string[] = []
  const { known: ids } = cloud

  const moduleIn = ({ folder }: Furnished) => {
    const inputs = furnished.get(folder)
    return inputs ? moduleOf(inputs) : {}
  }
  const placeOf = ({ workspace }: Furnished, address: string) => `${workspace} ${address}`
  // Refreshed: what the cloud has lost is not in it.
  const stateOf = (where: Furnished) => {
    const state = states.get(where.workspace) ?? new Map<string, unknown>()
    states.set(where.workspace, state)
    for (const address of state.keys()) {
      const id = ids.get(placeOf(where, address))
      if (id !== undefined && !cloud.there.has(id)) state.delete(address)
    }
    return state
  }

  async function fetched({ workspace }: Furnished): Promise<void> {
    if (!backend?.fetch) return
    const state = await backend.fetch(workspace)
    if (state) states.set(workspace, new Map(state.resources))
    else states.delete(workspace)
    if (state) outputs.set(workspace, state.outputs)
    else outputs.delete(workspace)
  }

  // As Terraform's own backend, which begins a state wherever it finds none.
  const opened = async (where: Furnished) => {
    if (!states.has(where.workspace)) await backend?.keep(where.workspace, new Map(), {})
    return stateOf(where)
  }

  function changesIn(where: Furnished) {
    const { resources = {}, replaces = false } = moduleIn(where)
    const state = stateOf(where)
    const wanted = Object.keys(resources)
    const differs = wanted.filter((each) => state.has(each) && hashOf(state.get(each)) !== hashOf(resources[each]))
    return {
      create: wanted.filter((each) => !state.has(each)),
      update: replaces ? [] : differs,
      replace: replaces ? differs : [],
      delete: [...state.keys()].filter((each) => !wanted.includes(each)),
    }
  }

  const creating = (where: Furnished) =>
    changesIn(where)
      .create.map((each) => `${each}: Creating...\n`)
      .join('')

  async function answer(
    name: string,
    where: Furnished,
    act: () => Partial<Ran> | void | Promise<Partial<Ran> | void>,
  ): Promise<Ran> {
    calls.push(name)
    await fetched(where)
    try {
      instant.onCommand(name)
    } catch (error) {
      if (name === 'apply') printed.set(where.folder, creating(where))
      throw error
    }
    const fault = (moduleIn(where).fails as Record<string, string> | undefined)?.[name]
    const ran = { code: 0, out: '', err: '', ended: 'byItself' as const }
    if (fault !== undefined && name !== 'apply') return { ...ran, code: 1, err: `\nError: ${fault}\n\n  on main.tf\n` }
    return { ...ran, ...(await act()) }
  }

  const through = (calling: Calling): Terraform => {
    async function make(where: Furnished, address: string): Promise<readonly [place: string, id: string]> {
      const place = placeOf(where, address)
      const id = `${place} ${cloud.calls.length}`
      printed.set(where.folder, `${printed.get(where.folder) ?? ''}${address}: Creating...\n`)
      await call(`create ${place}`, () => cloud.there.set(id, place))
      return [place, id]
    }

    async function unmake(where: Furnished, address: string): Promise<void> {
      const place = placeOf(where, address)
      await call(`delete ${place}`, () => cloud.there.delete(ids.get(place) ?? ''))
    }

    async function call(what: string, act: () => void): Promise<void> {
      await calling(what, () => {
        cloud.calls.push(what)
        act()
      })
    }

    return {
      family: 'tofu',
      version,
      init: async (where) => answer('init', where, () => {}),
      plan: async (where) =>
        answer('plan', where, async () => {
          await opened(where)
          const { create, update, replace, delete: gone } = changesIn(where)
          const module = moduleIn(where)
          const isNew = hashOf(outputs.get(where.workspace)?.outputs ?? {}) !== hashOf(module.outputs ?? {})
          plans.set(where.folder, module)
          if (create.length + update.length + replace.length + gone.length === 0 && !isNew)
            return { out: 'No changes.\n' }
          const lines = create.map((each) => `  # ${each} will be created\n`).join('')
          const counts = `${create.length + replace.length} to add, ${update.length} to change, ${gone.length + replace.length} to destroy`
          return { code: 2, out: `${lines}\nPlan: ${counts}.\n` }
        }),
      showPlan: async (where) =>
        answer('show', where, () => {
          const { create, update, replace, delete: gone } = changesIn(where)
          const change = (address: string, ...actions: string[]) => ({ address, mode: 'managed', change: { actions } })
          const resource_changes = [
            ...create.map((each) => change(each, 'create')),
            ...update.map((each) => change(each, 'update')),
            ...replace.map((each) => change(each, 'delete', 'create')),
            ...gone.map((each) => change(each, 'delete')),
          ]
          return { out: JSON.stringify({ format_version: '1.2', resource_changes }) }
        }),
      apply: async (where) =>
        answer('apply', where, async () => {
          const { resources = {}, fails, ...rest } = plans.get(where.folder) ?? {}
          const state = stateOf(where)
          const { create: missing, update, replace, delete: gone } = changesIn(where)
          printed.set(where.folder, '')
          if (fails?.apply !== undefined && Object.keys(resources).length > 0) {
            printed.delete(where.folder)
            return { code: 1, err: `\nError: ${fails.apply}\n` }
          }
          for (const address of [...gone, ...replace]) await unmake(where, address)
          for (const address of update) await call(`update ${placeOf(where, address)}`, () => {})
          const made: (readonly [string, string])[] = []
          for (const address of [...replace, ...missing]) made.push(await make(where, address))
          await calling(`keep the state of ${where.workspace}`, async () => {
            for (const [place, id] of made) ids.set(place, id)
            for (const address of gone) state.delete(address)
            for (const [address, value] of Object.entries(resources)) state.set(address, value)
            outputs.set(where.workspace, rest)
            await backend?.keep(where.workspace, state, rest)
          })
          printed.delete(where.folder)
          return {}
        }),
      destroy: async (where) =>
        answer('destroy', where, async () => {
          const state = await opened(where)
          for (const address of state.keys()) await unmake(where, address)
          await calling(`keep the state of ${where.workspace}`, async () => {
            state.clear()
            outputs.delete(where.workspace)
            await backend?.keep(where.workspace, state, {})
          })
        }),
      outputs: async (where) =>
        answer('output', where, () => {
          const { outputs: all = {}, sensitive = [] } = outputs.get(where.workspace) ?? {}
          const told = Object.entries(all).map(([name, value]) => [
            name,
            { value, type: typeof value, sensitive: sensitive.includes(name) },
          ])
          return { out: JSON.stringify(Object.fromEntries(told)) }
        }),
      push: async (where) => answer('push', where, () => void lefts.delete(where.folder)),
      unlock: async (where) => answer('unlock', where, () => {}),
      forget: async (where) =>
        answer('forget', where, async () => {
          const state = states.get(where.workspace)
          if (!state) return { code: 1, err: `\nError: Workspace "${where.workspace}" doesn't exist\n` }
          if (state.size > 0) return { code: 1, err: '\nError: Workspace is not empty\n' }
          await calling(`forget the state of ${where.workspace}`, async () => {
            states.delete(where.workspace)
            await backend?.keep(where.workspace, undefined, {})
          })
          return {}
        }),
    }
  }

  const folderOf = ({ uid = '' }: ObjectMeta) => (backend ? join(backend.root, uid) : uid)
  const inFolders = [furnished, initialised, plans, begun, printed, lefts]
  const folders: Folders = {
    async furnish({ metadata, spec }: Workspace, inputs): Promise<Folder> {
      const folder = folderOf(metadata)
      furnished.set(folder, inputs)
      const checksum = hashOf(inputs.files)
      return {
        folder,
        env: {},
        workspace: metadata.annotations?.['crossplane.io/external-name'] ?? '',
        args: argumentsOf(inputs, spec.forProvider),
        checksum,
        isInitialised: initialised.get(folder) === checksum,
        dropPlan: async () => void plans.delete(folder),
        async noteRun(startedAt, text = '') {
          begun.set(folder, startedAt)
          printed.set(folder, text)
        },
        leftState: async () => lefts.get(folder),
        cutOff: async (startedAt) => (begun.get(folder) === startedAt ? (printed.get(folder) ?? '') : undefined),
        async noteInitialised() {
          initialised.set(folder, checksum)
          if (!backend) return
          await mkdir(join(folder, '.terraform'), { recursive: true })
          await writeFile(join(folder, '.terraform/terraform.tfstate'), JSON.stringify({ backend }))
        },
      }
    },
    holdsState: async ({ metadata }) => lefts.has(folderOf(metadata)),
    remove: async ({ metadata }) => {
      for (const each of inFolders) each.delete(folderOf(metadata))
    },
  }

  const terraform = through(async (_, act) => act())
  const instant: Instant = {
    terraform,
    through,
    folders,
    loseFolders() {
      for (const each of inFolders) each.clear()
    },
    calls,
    states,
    furnished,
    plans,
    lefts,
    cloud,
    onCommand: () => {},
  }
  return instant
}

function moduleOfText({ files }: Inputs): Module {
  return JSON.parse(files['main.tf'] || '{}') as Module
}
