// This project's workshop: where its Go tool modules are, and where a person's environment puts the cache.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Located, locate, type Workshop } from './build.ts'
import { cacheFolder } from './cache.ts'
import { type PartName, parts } from './parts.ts'

export function workshop(env = process.env): Workshop {
  const ready = env['CAPT_TOOLS'] ? resolve(env['CAPT_TOOLS']) : undefined
  if (ready && !existsSync(ready)) {
    throw new Error(`CAPT_TOOLS names ${ready}, which does not exist: point it at a folder of programs, or unset it`)
  }
  return { modules: import.meta.dirname, cache: cacheFolder(env), ready }
}

// The paths of all parts of this project, which must have been built.
export async function realParts<Name extends PartName>(names: readonly Name[]): Promise<Located<Name>> {
  const wanted = Object.fromEntries(names.map((name) => [name, parts[name]])) as Record<Name, (typeof parts)[Name]>
  return locate(wanted, workshop())
}
