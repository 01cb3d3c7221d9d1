// Makes one part: a program by the Go compiler, a manifest from the files of a Go module.
import { type ChildProcess, spawn } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseAllDocuments } from 'yaml'
import { ended } from './ended.ts'
import type { Part, Program } from './parts.ts'

export interface Making {
  readonly part: Part
  readonly version: string
  readonly modules: string // the folder of Go tool modules
  readonly kubectl: string | undefined // renders kustomizations
  readonly onProgress: (done: number, of: number) => void
}

export async function make(making: Making, file: string): Promise<void> {
  const { recipe } = making.part
  switch (recipe.from) {
    case 'package':
      return compile(making, recipe, file)
    case 'kustomization': {
      if (!making.kubectl) throw new Error('a kustomization is rendered by kubectl, which is not built')
      const rendered = await run(making.kubectl, ['kustomize', join(await moduleFolder(making), recipe.folder)])
      return writeFile(file, asJson(rendered))
    }
    case 'files': {
      const folder = join(await moduleFolder(making), recipe.folder)
      const names = (await readdir(folder)).filter((name) => name.endsWith('.yaml')).toSorted()
      const texts = await Promise.all(names.map(async (name) => readFile(join(folder, name), 'utf8')))
      return writeFile(file, texts.join('\n---\n'))
    }
  }
}

// JSON is YAML too, and a thousand times quicker to read: a second of every bed's start.
function asJson(yaml: string): string {
  return parseAllDocuments(yaml)
    .map((document) => JSON.stringify(document))
    .join('\n---\n')
}

async function compile(making: Making, program: Program, file: string): Promise<void> {
  const stamps = Object.entries(program.stamps(making.version)).map(([variable, value]) => `-X ${variable}=${value}`)
  const flags = ['-mod=readonly', '-trimpath', '-buildvcs=false', `-ldflags=${['-s', '-w', ...stamps].join(' ')}`]
  const stale = await run(
    'go',
    ['list', ...flags, '-deps', '-f', '{{if .Stale}}{{.ImportPath}}{{end}}', program.package],
    making,
  )
  const packages = stale.split('\n').filter(Boolean).length
  let compiled = 0
  await run('go', ['build', ...flags, '-v', '-o', file, program.package], making, (line) => {
    if (!line.startsWith('go: ')) making.onProgress(++compiled, packages)
  })
}

// The unpacked pinned module, downloaded when it is not there and checked against go.sum.
async function moduleFolder(making: Making): Promise<string> {
  const told: unknown = JSON.parse(await run('go', ['mod', 'download', '-json', making.part.pin], making))
  if (told && typeof told === 'object' && 'Dir' in told && typeof told.Dir === 'string') return told.Dir
  throw new Error(`go mod download told no folder for ${making.part.pin}`)
}

const running = new Set<ChildProcess>()

// A compiler outlives the run that started it unless it is told to stop.
export function stopMaking(): void {
  for (const child of running) child.kill('SIGTERM')
}

async function run(
  command: string,
  args: readonly string[],
  making?: Making,
  onLine?: (line: string) => void,
): Promise<string> {
  const child = spawn(command, args, {
    ...(making && { cwd: join(making.modules, making.part.module) }),
    env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  if (onLine) createInterface(child.stderr).on('line', onLine)
  try {
    const { code, output, complaints } = await ended(child)
    const lastWords = complaints.trimEnd().split('\n').slice(-20).join('\n')
    if (code !== 0) throw new Error(`\`${command} ${args[0]}\` ended with ${code}:\n${lastWords}`)
    return output
  } finally {
    running.delete(child)
  }
}
