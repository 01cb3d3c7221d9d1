// This project's workshop: where its Go tool modules are, and where a person's environment puts the cache.

import { type Located, locate, type Workshop } from './build.ts'
import { cacheFolder } from './cache.ts'
import { type PartName, parts } from './parts.ts'

export function workshop(): Workshop {
  return {
    modules: import.meta.dirname,
    cache: cacheFolder(process.env),
    ready: process.env['CAPT_TOOLS'] || undefined,
  }
}

// The paths of all parts of this project, which must have been built.
export async function realParts<Name extends PartName>(names: readonly Name[]): Promise<Located<Name>> {
  const wanted = Object.fromEntries(names.map((name) => [name, parts[name]])) as Record<Name, (typeof parts)[Name]>
  return locate(wanted, workshop())
}
