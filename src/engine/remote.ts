// Brings a module from elsewhere into a folder: from git, HTTP, a registry or a path by Terraform's own loader, from Flux by its
// artifact. What it brings is whole: a module may use its neighbours.
import { cp, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import * as z from 'zod'
import { tellFailure } from '../terraform/failureform.ts'
import { fetchArtifact } from './artifact.ts'
import type { Remote } from './inputs.ts'
import { InputsError } from './inputserror.ts'
import type { Ran } from './terraform.ts'

export interface Fetching {
  readonly remote: Remote
  readonly into: string // is made; must not be there
  readonly scratch: string // is made and removed
  load(folder: string): Promise<Ran> // `get`: loads the modules of the module in a folder
}

const Manifest = z.object({ Modules: z.array(z.object({ Key: z.string(), Dir: z.string() })) })

// Returns where in it the module is: an address can name a folder of what it leads to (`//folder`).
export async function fetchModule({ remote, into, scratch, load }: Fetching): Promise<string> {
  if (remote.from === 'artifact') {
    await mkdir(into, { mode: 0o700 })
    await fetchArtifact(remote.url, remote.digest, into)
    return ''
  }
  await rm(scratch, { recursive: true, force: true })
  try {
    await mkdir(scratch, { mode: 0o700 })
    // Not `init -from-module`: that also installs providers, and refuses a module that uses its parent folder.
    const root = { module: { module: { source: literally(remote.address) } } }
    await writeFile(join(scratch, 'main.tf.json'), JSON.stringify(root), { mode: 0o600 })
    const ran = await load(scratch)
    if (ran.code !== 0) throw new InputsError(tellFailure('get', ran))
    const whole = join('.terraform', 'modules', 'module')
    const { Modules } = Manifest.parse(
      JSON.parse(await readFile(join(scratch, '.terraform/modules/modules.json'), 'utf8')),
    )
    const dir = Modules.find(({ Key }) => Key === 'module')?.Dir ?? whole
    // A module on this machine is linked, not copied.
    await cp(await realpath(join(scratch, whole)), into, {
      recursive: true,
      verbatimSymlinks: true,
      filter: isOfModule,
    })
    return relative(whole, dir)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

const notOfModule = new Set(['.git', '.terraform'])

function isOfModule(path: string): boolean {
  return !notOfModule.has(basename(path))
}

function literally(text: string): string {
  return text.replace(/([$%])\{/g, '$1$1{')
}
