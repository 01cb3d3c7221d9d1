// Makes a folder hold the files it should. What it placed earlier and is no longer wanted goes; what others put there stays.
import { hash } from 'node:crypto'
import { copyFile, lstat, mkdir, readdir, readFile, readlink, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import * as z from 'zod'
import { InputsError } from './inputserror.ts'

// A text that must be there as it is, a file to copy, or a link.
export type Wanted = { readonly text: string } | { readonly file: string } | { readonly link: string }

const Placed = z.record(z.string(), z.string()) // sums by path; none: it may not be whole

// Returns the MD5 sums of what is wanted, by path.
export async function place(
  wanted: ReadonlyMap<string, Wanted>,
  folder: string,
  note: string,
): Promise<ReadonlyMap<string, string>> {
  const placed = await readNote(note)
  const sums = new Map<string, string>()
  for (const [path, each] of wanted) sums.set(path, await sumOf(each))
  const isRight = async (path: string, each: Wanted) =>
    !('text' in each) && placed[path] === sums.get(path) && (await isThere(join(folder, path)))

  const wrong: [string, Wanted][] = []
  for (const [path, each] of wanted) if (!(await isRight(path, each))) wrong.push([path, each])
  const stale = Object.keys(placed).filter((path) => !wanted.has(path))

  // Cut off from here on, the next pass knows what is not to be trusted.
  await writeNote(note, { ...placed, ...Object.fromEntries(wrong.map(([path]) => [path, ''])) })
  for (const path of stale) await remove(join(folder, path))
  for (const [path, each] of wrong) await put(each, join(folder, path))
  await writeNote(note, Object.fromEntries(sums))
  return sums
}

async function remove(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch (error) {
    // Where its folder was, somebody has put a file.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOTDIR')) throw error
  }
}

async function put(wanted: Wanted, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await rm(path, { recursive: true, force: true }) // never written through a link
  if ('link' in wanted) await symlink(wanted.link, path)
  else if ('text' in wanted) await writeFile(path, wanted.text, { mode: 0o600, flag: 'wx' })
  else await copyFile(wanted.file, path) // with its mode: a module may pack it and send it elsewhere
}

async function sumOf(wanted: Wanted): Promise<string> {
  if ('file' in wanted) return hash('md5', await readFile(wanted.file), 'hex')
  return hash('md5', 'text' in wanted ? wanted.text : `link to ${wanted.link}`, 'hex')
}

// Everything in a folder, by path. A link that leads out of it is refused, one that leads nowhere left out.
export async function everythingIn(folder: string): Promise<ReadonlyMap<string, Wanted>> {
  const root = await realpath(folder)
  const found = new Map<string, Wanted>()
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    const path = file.slice(root.length + 1)
    if (entry.isFile()) found.set(path, { file })
    if (!entry.isSymbolicLink()) continue
    const leadsTo = await realpath(file).catch(() => undefined)
    if (leadsTo === undefined) continue
    if (!isIn(leadsTo, root))
      throw new InputsError(`the module links ${path} to a place outside of it: remove the link`)
    found.set(path, { link: await readlink(file) })
  }
  return found
}

export function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder + sep)
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

async function readNote(note: string): Promise<Readonly<Record<string, string>>> {
  try {
    return Placed.parse(JSON.parse(await readFile(note, 'utf8')))
  } catch {
    return {}
  }
}

async function writeNote(note: string, placed: Readonly<Record<string, string>>): Promise<void> {
  await writeFile(note, JSON.stringify(placed), { mode: 0o600 })
}
