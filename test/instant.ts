// Terraform that answers at once: a module is JSON that says which resources there are to be, and a state is kept in memory. It
// stands in where a test is about what the engine makes of Terraform's answers, not about Terraform.
import { hashOf } from '../src/api/canonical.ts'
import type { Workspace } from '../src/api/workspace.ts'
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
  readonly lefts: Map<string, string> // states that could not be written, by uid
  // What is called before a command is answered, to let it fail or be killed.
  onCommand: (name: string) => void
}

export function instantTerraform(version = '1.12.6'): Instant {
  const states: Instant['states'] = new Map()
  const outputs = new Map<string, Module>()
  const furnished = new Map<string, Inputs>()
  const initialised = new Map<string, string>()
  const plans = new Map<string, Module>()
  const noted = new Map<string, string>() // when the last run began, by uid
  const cutOff = new Map<string, string>() // what a killed one printed
  const lefts: Instant['lefts'] = new Map()
  const calls: string[] = []

  const moduleIn = ({ folder }: Furnished) => {
    const { files = {} } = furnished.get(folder) ?? {}
    return JSON.parse(files['main.tf'] || '{}') as Module
  }
  const stateOf = ({ workspace }: Furnished) => {
    const state = states.get(workspace) ?? new Map<string, unknown>()
    states.set(workspace, state)
    return state
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

  function answer(name: string, where: Furnished, act: () => Partial<Ran> | void): Ran {
    calls.push(name)
    try {
      instant.onCommand(name)
    } catch (error) {
      if (name === 'apply') cutOff.set(where.folder, creating(where))
      throw error
    }
    const fault = (moduleIn(where).fails as Record<string, string> | undefined)?.[name]
    const ran = { code: 0, out: '', err: '', ended: 'byItself' as const }
    if (fault !== undefined && name !== 'apply') return { ...ran, code: 1, err: `\nError: ${fault}\n\n  on main.tf\n` }
    return { ...ran, ...act() }
  }

  const terraform: Terraform = {
    family: 'tofu',
    version,
    init: async (where) => answer('init', where, () => {}),
    plan: async (where) =>
      answer('plan', where, () => {
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
      answer('apply', where, () => {
        const { resources = {}, fails, ...rest } = plans.get(where.folder) ?? {}
        const state = stateOf(where)
        for (const [address, value] of Object.entries(resources)) {
          if (fails?.apply !== undefined) return { code: 1, err: `\nError: ${fails.apply}\n` }
          state.set(address, value)
        }
        for (const address of state.keys()) if (!(address in resources)) state.delete(address)
        outputs.set(where.workspace, rest)
        return {}
      }),
    destroy: async (where) =>
      answer('destroy', where, () => {
        stateOf(where).clear()
        outputs.delete(where.workspace)
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
      answer('forget', where, () => {
        const state = states.get(where.workspace)
        if (!state) return { code: 1, err: `\nError: Workspace "${where.workspace}" doesn't exist\n` }
        if (state.size > 0) return { code: 1, err: '\nError: Workspace is not empty\n' }
        states.delete(where.workspace)
        return {}
      }),
  }

  const folders: Folders = {
    async furnish({ metadata }: Workspace, inputs): Promise<Folder> {
      const uid = metadata.uid ?? ''
      furnished.set(uid, inputs)
      const checksum = hashOf(inputs.files)
      return {
        folder: uid,
        env: {},
        workspace: metadata.annotations?.['crossplane.io/external-name'] ?? '',
        args: { init: [], plan: [], apply: [], destroy: [] },
        checksum,
        isInitialised: initialised.get(uid) === checksum,
        noteRun: async (startedAt) => void noted.set(uid, startedAt),
        leftState: async () => lefts.get(uid),
        cutOff: async (startedAt) => (noted.get(uid) === startedAt ? (cutOff.get(uid) ?? '') : undefined),
        noteInitialised: async () => void initialised.set(uid, checksum),
      }
    },
    remove: async ({ metadata: { uid = '' } }) => {
      furnished.delete(uid)
      initialised.delete(uid)
    },
  }

  const instant: Instant = { terraform, folders, calls, states, furnished, lefts, onCommand: () => {} }
  return instant
}
