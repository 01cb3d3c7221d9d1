// Finds the command line program that the engine runs, and asks it who it is: OpenTofu or Terraform, and which version.
import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import type { Clock } from '../runtime/clock.ts'
import { tellError } from '../runtime/log.ts'
import type { Environment } from './inputs.ts'
import type { Terraform } from './terraform.ts'

export interface Binary extends Pick<Terraform, 'family' | 'version'> {
  readonly program: string // absolute
}

const usual = ['tofu', 'terraform']
const withinMs = 60_000
const againMs = 10_000

// `asked` is a path, or a name to look for on the PATH; empty or none: whichever of the usual ones is there.
export async function findTerraform(asked: string | undefined, env: Environment): Promise<Binary> {
  for (const name of asked ? [asked] : usual) {
    const program = await located(name, env['PATH'] ?? '')
    if (program !== undefined) return identified(program, env)
  }
  throw new Error(
    asked
      ? `there is no program ${asked}: correct --terraform-binary, or install it`
      : 'there is neither tofu nor terraform on the PATH: install one, or name it by --terraform-binary',
  )
}

async function located(name: string, path: string): Promise<string | undefined> {
  const candidates = name.includes('/')
    ? [resolve(name)]
    : path.split(':').flatMap((folder) => (isAbsolute(folder) ? [join(folder, name)] : []))
  for (const candidate of candidates) {
    const isProgram = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isProgram) return candidate
  }
  return undefined
}

// Its JSON names a version but, of both families, the same way.
async function identified(program: string, { PATH = '' }: Environment): Promise<Binary> {
  const said = await new Promise<string>((resolveSaid, reject) => {
    const options = { env: { PATH, CHECKPOINT_DISABLE: '1' }, timeout: withinMs }
    execFile(program, ['version'], options, (error, out) => {
      if (error) reject(new Error(`${program} cannot be run: ${error.message}`, { cause: error }))
      else resolveSaid(out)
    })
  })
  const [, name, version] = /^(OpenTofu|Terraform) v(\S+)/.exec(said) ?? []
  if (version === undefined) {
    throw new Error(`${program} is neither OpenTofu nor Terraform: name one of them by --terraform-binary`)
  }
  return { program, family: name === 'OpenTofu' ? 'tofu' : 'terraform', version }
}

export interface Search {
  // Resolves when it was looked for, unless it was a moment ago, or is found.
  look(): Promise<void>
  missing(): string | undefined // why there is none, as a sentence
}

export interface SearchOptions {
  readonly clock: Clock
  find(): Promise<Binary>
  onFound(binary: Binary): void
  onMissing(why: string): void // not again while it stays the same
}

// Whoever installs it later need not start the engine again.
export function createSearch({ clock, find, onFound, onMissing }: SearchOptions): Search {
  let why: string | undefined = 'it was not looked for yet'
  let lookedAt = Number.NEGATIVE_INFINITY
  let looking = Promise.resolve()

  async function lookOnce(): Promise<void> {
    try {
      const binary = await find()
      onFound(binary)
      why = undefined
    } catch (error) {
      const told = `no Terraform found: ${tellError(error)}`
      if (told !== why) onMissing(told)
      why = told
    }
  }

  return {
    async look() {
      if (why !== undefined && clock.now() - lookedAt >= againMs) {
        lookedAt = clock.now()
        looking = lookOnce()
      }
      return looking
    },
    missing: () => why,
  }
}
