// A part small enough to build in a second: its Go module needs nothing from anywhere.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Workshop } from './build.ts'
import type { Part } from './parts.ts'

export const hello = {
  what: 'says its version',
  module: 'hello',
  pin: 'example.com/hello',
  recipe: {
    from: 'package',
    package: 'example.com/hello',
    stamps: (version) => ({ 'main.version': version }),
    tellsVersion: ['--version'],
  },
  quickstart: true,
  coldSeconds: 1,
} as const satisfies Part

export function aWorkshop({ version = 'v1.2.3' } = {}): Workshop & { readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'capt-workshop-'))
  const modules = join(folder, 'modules')
  const source = join(modules, 'hello', 'source')
  mkdirSync(source, { recursive: true })
  const requirement = `require example.com/hello ${version}\n\nreplace example.com/hello => ./source\n`
  writeFileSync(join(modules, 'hello', 'go.mod'), `module capt/tools/hello\n\ngo 1.26.0\n\n${requirement}`)
  writeFileSync(join(modules, 'hello', 'go.sum'), '')
  writeFileSync(join(source, 'go.mod'), 'module example.com/hello\n\ngo 1.26.0\n')
  writeFileSync(
    join(source, 'main.go'),
    'package main\n\nvar version = "none"\n\nfunc main() { println("hello", version) }\n',
  )
  return { folder, modules, cache: join(folder, 'cache'), ready: undefined }
}
