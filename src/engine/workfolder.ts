// Where a Workspace's commands run: a private folder with its module and all it needs, made from its inputs at every pass. What
// Terraform keeps there stays; a pass that was cut off is made good by the next.
import { hash } from 'node:crypto'
import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import * as z from 'zod'
import { hashOf } from '../api/canonical.ts'
import type { ForProvider } from '../api/workspace.ts'
import { isStateFile, leftState } from '../terraform/state.ts'
import { argumentsOf } from './arguments.ts'
import { environmentOf, type Surroundings } from './environment.ts'
import { type Inputs, isVarFile, ownFiles, type Remote } from './inputs.ts'
import { InputsError } from './inputserror.ts'
import { isLeftRunning } from './leftrunning.ts'
import { everythingIn, isIn, place, type Wanted } from './placing.ts'
import { fetchModule } from './remote.ts'
import type { Furnished, Ran } from './terraform.ts'

export interface Furnishing extends Pick<Surroundings, 'pluginCache' | 'given' | 'ours'> {
  readonly root: string // of all work folders; absolute
  readonly uid: string // of the Workspace
  readonly inputs: Inputs
  readonly said: Pick<ForProvider, 'initArgs' | 'planArgs' | 'applyArgs' | 'destroyArgs'>
  readonly workspace: string // Terraform's
  readonly cli: string // family and version: another one initialises anew
  load(where: Furnished): Promise<Ran> // `get`
}

export interface Workfolder extends Furnished {
  readonly beside: string
  readonly checksum: string // over the files, as the provider reckons it
  readonly isInitialised: boolean // with just these files and arguments
  noteInitialised(): Promise<void> // to be called when init has worked
}

// <root>/<uid>/ has: module, where commands run; package, a remote module as it came, on its way arriving and leaving; home, tmp, run; and notes of ours.
export async function furnish(furnishing: Furnishing): Promise<Workfolder> {
  const { root, uid, inputs, said, workspace, cli } = furnishing
  const at = placesIn(root, uid)
  try {
    for (const folder of [at.module, at.home, at.tmp, at.run]) await mkdir(folder, { recursive: true, mode: 0o700 })
    if (await isLeftRunning(at.run)) {
      throw new InputsError(
        'a command of an earlier life of the engine is still ending in its work folder: it is waited for',
      )
    }
    await tidy(at)
    if (inputs.usesPluginCache) await mkdir(furnishing.pluginCache, { recursive: true, mode: 0o700 })
    await writeHome(at.home, inputs)
    const env = environmentOf({ ...furnishing, home: at.home, temporary: at.tmp })
    const args = argumentsOf(inputs, said)
    const subfolder = inputs.remote ? await bring(inputs.remote, furnishing, env) : ''

    const inside = [subfolder, inputs.entrypoint ?? ''].filter(Boolean).join('/')
    const wanted = await wantedOf(inputs, join(at.package, files), inside)
    const sums = await place(wanted, at.module, at.placed)
    const folder = await within(at.module, inside)

    const forInit = [...sums].filter(([path]) => !isVarFile(path))
    const initialisedWith = hashOf({
      cli,
      args: args.init,
      env: inputs.env,
      cache: inputs.usesPluginCache,
      forInit,
      inside,
    })
    const isInitialised = await isNoted(at.initialised, initialisedWith, folder)
    // Half of another init could be here when this one is wanted again.
    if (!isInitialised) await rm(at.initialised, { force: true })
    return {
      folder,
      beside: at.run,
      env,
      secrets: inputs.secrets,
      workspace,
      args,
      checksum: checksumOf(sums),
      isInitialised,
      async noteInitialised() {
        const note: Note = { with: initialisedWith, hasData: (await readdir(folder)).includes('.terraform') }
        await writeFile(at.initialised, JSON.stringify(note), { mode: 0o600 })
      },
    }
  } catch (error) {
    throw told(error, root)
  }
}

export const planFile = 'plan' // it holds secrets, and is good for one pass
const cutOff = ['apply.out', 'destroy.out'] as const
const runNote = 'begun' // which run it was that printed them

// From now on, what is printed is of this run. With what it printed, when it was another that did not begin.
export async function noteRun(root: string, uid: string, startedAt: string, printed = ''): Promise<void> {
  const { run } = placesIn(root, uid)
  const note = async () => writeFile(join(run, runNote), startedAt, { mode: 0o600 })
  if (printed === '') await note() // first: of what is older nobody may think that it is of this run
  for (const name of cutOff) await rm(join(run, name), { force: true })
  if (printed === '') return
  await writeFile(join(run, cutOff[0]), printed, { mode: 0o600 })
  await note()
}

const kept: ReadonlySet<string> = new Set([...cutOff, runNote])

// What commands of an earlier pass left when they were cut off: temporary files, a plan, what they printed.
async function tidy({ tmp, run }: Pick<ReturnType<typeof placesIn>, 'tmp' | 'run'>): Promise<void> {
  for (const folder of [tmp, run]) {
    for (const name of await readdir(folder)) {
      if (!kept.has(name)) await rm(join(folder, name), { recursive: true, force: true })
    }
  }
}

// What that apply or destroy printed when it was killed; empty: it never began, or it ended; undefined: it was in another folder.
export async function readCutOff(root: string, uid: string, startedAt: string): Promise<string | undefined> {
  const { run } = placesIn(root, uid)
  const noted = await readFile(join(run, runNote), 'utf8').catch(() => undefined)
  if (noted !== startedAt) return undefined
  for (const name of cutOff) {
    const text = await readFile(join(run, name), 'utf8').catch(() => undefined)
    if (text !== undefined) return text
  }
  return ''
}

export async function dropPlan(root: string, uid: string): Promise<void> {
  await rm(join(placesIn(root, uid).run, planFile), { force: true })
}

// Whether a state lies in it that is nowhere else.
export async function holdsState(root: string, uid: string): Promise<boolean> {
  const all = await readdir(placesIn(root, uid).module, { recursive: true }).catch(() => [])
  return all.some((path) => basename(path) === leftState && !path.split('/').includes('.terraform')) // modules of the module
}

export async function clear(root: string, uid: string): Promise<void> {
  await rm(placesIn(root, uid).all, { recursive: true, force: true })
}

// The uids that have one.
export async function foldersOf(root: string): Promise<readonly string[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory() && isUid.test(entry.name)).map(({ name }) => name)
}

const isUid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function placesIn(root: string, uid: string) {
  if (!isUid.test(uid)) throw new Error(`${uid} is not the uid of an object`)
  const all = join(root, uid)
  const under = (name: string) => join(all, name)
  return {
    all,
    module: under('module'),
    package: under('package'),
    arriving: under('arriving'),
    leaving: under('leaving'),
    scratch: under('scratch'),
    home: under('home'),
    tmp: under('tmp'),
    run: under('run'),
    placed: under('placed.json'),
    initialised: under('initialised.json'),
  }
}

// What is for git and for Terraform itself is not part of the module: it is needed before there is one.
const atHome: readonly string[] = [ownFiles.gitCredentials, ownFiles.cliConfig]

async function writeHome(home: string, { files }: Inputs): Promise<void> {
  for (const name of atHome) {
    await rm(join(home, name), { force: true })
    const text = files[name]
    if (text !== undefined) await writeFile(join(home, name), text, { mode: 0o600 })
  }
}

// A package is its files and a note of what they are; both come and go together.
const files = 'files'
const noteOfPackage = 'fetched.json'
const Fetched = z.object({ what: z.string(), subfolder: z.string() })

const nothingElse = { workspace: 'default', args: { init: [], plan: [], apply: [], destroy: [] } }

// A module stays as it is until another has wholly come. Returns where in what came the module is.
async function bring(remote: Remote, furnishing: Furnishing, env: Furnished['env']): Promise<string> {
  const { root, uid, load, inputs } = furnishing
  const at = placesIn(root, uid)
  const what = remote.from === 'address' ? remote.address : `${remote.url} ${remote.digest}`
  const fetched = await readNote(join(at.package, noteOfPackage), Fetched)
  const isPulled = remote.from === 'address' && remote.isPulledAlways
  if (fetched?.what === what && !isPulled) return fetched.subfolder

  await rm(at.arriving, { recursive: true, force: true })
  await mkdir(at.arriving, { mode: 0o700 })
  const subfolder = await fetchModule({
    remote,
    into: join(at.arriving, files),
    scratch: at.scratch,
    load: async (folder) => load({ ...nothingElse, folder, beside: at.run, env, secrets: inputs.secrets }),
  })
  const note: z.infer<typeof Fetched> = { what, subfolder }
  await writeFile(join(at.arriving, noteOfPackage), JSON.stringify(note), { mode: 0o600 })
  await rm(at.leaving, { recursive: true, force: true })
  await rename(at.package, at.leaving).catch(() => {}) // there may be none
  await rename(at.arriving, at.package)
  await rm(at.leaving, { recursive: true, force: true })
  return subfolder
}

async function wantedOf(inputs: Inputs, arrived: string, inside: string): Promise<ReadonlyMap<string, Wanted>> {
  const wanted = new Map(inputs.remote ? await everythingIn(arrived) : [])
  for (const path of wanted.keys()) if (isStateFile(path)) wanted.delete(path) // nobody's state is taken for ours
  if (inputs.remote && inside !== '' && ![...wanted.keys()].some((path) => isIn(path, inside))) {
    throw new InputsError(`the module has no folder ${inside}: correct entrypoint, or the address`)
  }
  for (const [name, text] of Object.entries(inputs.files)) {
    if (!atHome.includes(name)) wanted.set(inside ? `${inside}/${name}` : name, { text })
  }
  return wanted
}

async function within(module: string, inside: string): Promise<string> {
  const folder = join(module, inside)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (isIn(await realpath(folder), await realpath(module))) return folder
  throw new InputsError(`entrypoint ${inside} leads out of the module: name a folder of it`)
}

const Note = z.object({ with: z.string(), hasData: z.boolean() })
type Note = z.infer<typeof Note>

// A module that needs nothing has nothing to show for its init.
async function isNoted(file: string, initialisedWith: string, folder: string): Promise<boolean> {
  const note = await readNote(file, Note)
  return note?.with === initialisedWith && (!note.hasData || (await readdir(folder)).includes('.terraform'))
}

async function readNote<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch {
    return undefined
  }
}

// md5sum of every file, sorted, and md5sum of that.
function checksumOf(sums: ReadonlyMap<string, string>): string {
  const lines = [...sums].map(([path, sum]) => `${sum}  ./${path}\n`).toSorted()
  return hash('md5', lines.join(''), 'hex')
}

const hints: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: give it more room',
  EDQUOT: 'its quota is used up: give it more room',
  EFBIG: 'a file would be too large',
  EACCES: 'it may not be written: correct its owner or its mode',
  EROFS: 'it may only be read: mount it to be written',
}

function told(error: unknown, root: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const hint = hints[code]
  return hint === undefined
    ? error
    : new Error(`cannot furnish a work folder in ${root}: ${hint} (${code})`, { cause: error })
}
