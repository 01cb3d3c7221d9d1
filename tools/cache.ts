// Where finished parts lie: a folder of the user's cache, outside the tree, one folder a part, named by its pins.
// A folder that bears its final name is whole, because it is filled under another name and then renamed.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import type { Part } from './parts.ts'

export interface Place {
  readonly name: string
  readonly version: string
  readonly folder: string
  readonly file: string
}

const maker = 1 // raise it when make.ts makes something else of the same pins and recipe

export function cacheFolder(env: NodeJS.ProcessEnv): string {
  return resolve(env['CAPT_CACHE'] || join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'capt'))
}

export function placeOf(name: string, part: Part, modules: string, cache: string): Place {
  const version = pinnedVersion(part, modules)
  const folder = join(cache, 'parts', `${name}-${version}-${fingerprint(part, modules)}`)
  return { name, version, folder, file: join(folder, name) }
}

export function pinnedVersion(part: Part, modules: string): string {
  const goMod = readFileSync(join(modules, part.module, 'go.mod'), 'utf8')
  const line = goMod.split('\n').find((each) =>
    each
      .replace(/^require /, '')
      .trim()
      .startsWith(`${part.pin} v`),
  )
  const version = line?.match(/ (v\S+)/)?.[1]
  if (!version) throw new Error(`${part.module}/go.mod requires no ${part.pin}: add it, it is the pin of this part`)
  return version
}

// Everything that could change a byte of the result: the pins, the recipe, who makes it, the machine.
function fingerprint(part: Part, modules: string): string {
  const hash = createHash('sha256')
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(modules, part.module, file)))
  const { recipe } = part
  hash.update(JSON.stringify(recipe))
  if (recipe.from === 'package') hash.update(JSON.stringify(recipe.stamps(pinnedVersion(part, modules))))
  hash.update(`${maker} ${process.platform} ${process.arch}`)
  return hash.digest('hex').slice(0, 12)
}

const drafts = '.drafts'

export function isWhole(place: Place): boolean {
  return existsSync(place.folder)
}

// Fills a place by `fill(file)`: nobody sees the file before it is complete and on disk.
export async function putWhole(place: Place, fill: (file: string) => Promise<void>): Promise<void> {
  const draft = join(dirname(place.folder), drafts, `${place.name}.${process.pid}`)
  await mkdir(draft, { recursive: true })
  try {
    const file = join(draft, place.name)
    await fill(file)
    await flush(file)
    await rename(draft, place.folder).catch((error: NodeJS.ErrnoException) => {
      // Another run was quicker: its result is as good as ours.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
  } finally {
    await remove(draft)
  }
}

// Removes what killed runs left half-built.
export async function sweepDrafts(cache: string): Promise<void> {
  const folder = join(cache, 'parts', drafts)
  for (const draft of await readdir(folder).catch(() => [])) {
    const pid = Number(draft.split('.').at(-1))
    if (!isAlive(pid)) await remove(join(folder, draft))
  }
}

// The file that whoever builds this place holds meanwhile.
export function turnFile(place: Place): string {
  return join(dirname(place.folder), '.turns', basename(place.folder))
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

// A compiler whose run was killed may still be writing there.
async function remove(draft: string): Promise<void> {
  await rm(draft, { recursive: true, force: true, maxRetries: 5 })
}

async function flush(file: string): Promise<void> {
  const handle = await open(file, 'r+')
  await handle.sync()
  await handle.close()
}
