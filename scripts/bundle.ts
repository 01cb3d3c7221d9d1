// Bundles each program of src/bin into one file in dist/, and prints how large each is.
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { table } from './table.ts'

const root = resolve(import.meta.dirname, '..')
const programs = { 'capt-manager': 'manager', 'capt-engine': 'engine', capt: 'capt' } as const

// What yaml gives to Node is CommonJS, which asks for built-in modules in a way that a bundle of ES modules cannot answer.
const yamlModules = join(root, 'node_modules/yaml/browser/index.js')

export interface Bundle {
  readonly program: string
  readonly file: string
  readonly bytes: number
  readonly gzipBytes: number
}

export async function bundleAll(folder = join(root, 'dist')): Promise<readonly Bundle[]> {
  await rm(folder, { recursive: true, force: true })
  await build({
    entryPoints: Object.fromEntries(
      Object.entries(programs).map(([name, file]) => [name, join(root, `src/bin/${file}.ts`)]),
    ),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    alias: { yaml: yamlModules },
    legalComments: 'none',
    sourcemap: 'linked',
    logLevel: 'warning',
  })
  return Object.keys(programs).map((program) => {
    const file = join(folder, `${program}.mjs`)
    const content = readFileSync(file)
    return { program, file, bytes: content.length, gzipBytes: gzipSync(content).length }
  })
}

export function bundleTable(bundles: readonly Bundle[]): string {
  const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`
  return table(
    ['program', 'bundle', 'gzip'],
    bundles.map(({ program, bytes, gzipBytes }) => [program, kib(bytes), kib(gzipBytes)]),
  )
}

if (import.meta.main) console.log(bundleTable(await bundleAll()))
