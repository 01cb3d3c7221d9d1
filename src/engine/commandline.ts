// Terraform by its command line, OpenTofu's or HashiCorp's. Which arguments a command gets is said here; how a process runs and
// ends, in `cli.ts`.
import { access, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { scrub } from '../terraform/scrub.ts'
import { leftState } from '../terraform/state.ts'
import type { Binary } from './binary.ts'
import { type Run, runCommand } from './cli.ts'
import type { Furnished, Ran, Terraform } from './terraform.ts'
import { planFile } from './workfolder.ts'

export interface CommandLine extends Terraform {
  get(where: Furnished): Promise<Ran> // loads the modules that a module uses, and nothing else
}

export type Running = Binary & Pick<Run, 'timeoutMs' | 'clock' | 'stopping'>

const ofJson = 64 * 2 ** 20
const ofChanges = [0, 1] // it has worked, or failed and told why: a crash says something else

export function createCommandLine({ program, family, version, ...running }: Running): CommandLine {
  interface How {
    readonly isJson?: true // half of it, or one without some of its values, is of no use
    readonly isInWorkspace?: false
    readonly ends?: readonly number[]
  }

  async function run(
    where: Furnished,
    name: string,
    args: readonly string[],
    { isJson, isInWorkspace, ends }: How = {},
  ) {
    const ran = await runCommand({
      ...running,
      program,
      args,
      folder: where.folder,
      beside: besideOf(where),
      name,
      env: { ...where.env, ...(isInWorkspace !== false && { TF_WORKSPACE: where.workspace }) },
      ...(isJson && { keep: ofJson }),
      ...(ends && { ends }),
    })
    const { secrets = [] } = where
    return { ...ran, out: isJson ? ran.out : scrub(ran.out, secrets), err: scrub(ran.err, secrets) }
  }

  let lastInit: Promise<unknown> = Promise.resolve()
  const locksItsCache = family === 'tofu' && isAtLeast(version, [1, 10])

  // Terraform and older OpenTofus write into the plugin cache without a look at each other.
  async function oneAtATime(init: () => Promise<Ran>): Promise<Ran> {
    const mine = lastInit.then(init)
    lastInit = mine.catch(() => {})
    return mine
  }

  return {
    family,
    version,

    get: async (where) => run(where, 'get', ['get', '-no-color'], { isInWorkspace: false }),

    // Init would ask what to do about a workspace that is not there yet; all other commands make it when they write to it.
    async init(where) {
      const args = ['init', '-input=false', '-no-color', ...where.args.init]
      const init = async () => run(where, 'init', args, { isInWorkspace: false })
      return locksItsCache || where.env['TF_PLUGIN_CACHE_DIR'] === undefined ? init() : oneAtATime(init)
    },

    async plan(where) {
      const plan = planOf(where)
      await rm(plan, { force: true })
      const always = ['-input=false', '-no-color', '-detailed-exitcode', '-lock=false', `-out=${plan}`]
      const ran = await run(where, 'plan', ['plan', ...always, ...where.args.plan])
      // A shell that cannot start it ends with 2, too.
      const isThere = await access(plan).then(
        () => true,
        () => false,
      )
      return ran.code === 2 && !isThere ? { ...ran, code: 1 } : ran
    },

    showPlan: async (where) => run(where, 'show', ['show', '-json', '-no-color', planOf(where)], { isJson: true }),

    async apply(where) {
      const args = ['apply', '-input=false', '-no-color', ...where.args.apply, planOf(where)]
      return run(where, 'apply', args, { ends: ofChanges })
    },

    async destroy(where) {
      const args = ['destroy', '-input=false', '-no-color', '-auto-approve', ...where.args.destroy]
      return run(where, 'destroy', args, { ends: ofChanges })
    },

    outputs: async (where) => run(where, 'output', ['output', '-json', '-no-color'], { isJson: true }),

    async push(where) {
      const ran = await run(where, 'push', ['state', 'push', '-no-color', leftState])
      if (ran.code === 0) await rm(join(where.folder, leftState), { force: true })
      return ran
    },

    unlock: async (where, lock) => run(where, 'unlock', ['force-unlock', '-no-color', '-force', lock]),

    // The one that is selected cannot be deleted, and the default one never.
    async forget(where) {
      if (where.workspace === 'default') return { code: 0, out: '', err: '', ended: 'byItself' }
      return run(where, 'forget', ['workspace', 'delete', '-no-color', where.workspace], { isInWorkspace: false })
    },
  }
}

function besideOf({ beside, folder }: Furnished): string {
  return beside ?? folder
}

function planOf(where: Furnished): string {
  return join(besideOf(where), planFile)
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [itsMajor = 0, itsMinor = 0] = version.split('.').map(Number)
  return itsMajor > major || (itsMajor === major && itsMinor >= minor)
}
