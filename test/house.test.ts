// The house keeps its word: what the documents promise is there, and nothing names a place it should not.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path && existsSync(join(root, path)))
const pages = tracked.filter((path) => path.endsWith('.md'))
const targets = [...read('Makefile').matchAll(/^([a-z]+):.*##/gm)].map(([, name = '']) => name)

test('the lock file names no host', () => {
  const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, { resolved?: string }> }
  expect(Object.entries(lock.packages).filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
})

test('the Node of this project is the pinned one, and it is the one that runs the tests', () => {
  const { optionalDependencies } = JSON.parse(read('package.json')) as { optionalDependencies: Record<string, string> }
  expect(new Set(Object.values(optionalDependencies)).size).toBe(1)
  expect(process.version).toBe(`v${optionalDependencies[`node-${process.platform}-${process.arch}`]}`)
})

test('make help has a sentence for every command', () => {
  const help = execFileSync('make', ['help'], { cwd: root, encoding: 'utf8' })
  expect(targets).toEqual(
    expect.arrayContaining(['help', 'quickstart', 'test', 'check', 'bench', 'soak', 'generate', 'clean']),
  )
  for (const target of targets) expect(help).toMatch(new RegExp(`^  make ${target} +[A-Z].*\\.$`, 'm'))
})

test.each(pages)('%s: its links lead somewhere, and the make commands it names exist', (page) => {
  const text = read(page)
  const links = [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^\w+:/.test(link))
  expect(links.filter((link) => !existsSync(resolve(root, dirname(page), link)))).toEqual([])
  const commands = [...text.matchAll(/`make ([a-z]+)/g)].map(([, command = '']) => command)
  expect(commands.filter((command) => !targets.includes(command))).toEqual([])
})

test('every decision has a number of its own and says context, decision and consequences', () => {
  const records = tracked.filter((path) => /^docs\/decisions\/\d/.test(path)).toSorted()
  const numbers = records.map((path) => path.slice('docs/decisions/'.length, 'docs/decisions/'.length + 4))
  expect(numbers).toEqual(numbers.map((_, index) => String(index + 1).padStart(4, '0')))
  for (const record of records) {
    expect(read(record), record).toMatch(/^# \d+\. .+\n\n## Context\n[\s\S]+\n## Decision\n[\s\S]+\n## Consequences\n/)
  }
})

describe('on a machine that lacks something, one sentence says what to install', () => {
  const all = { git: '', node: 'echo v20.20.2', npm: '', go: 'echo go1.26.8' }

  test.each<[string, Partial<Record<keyof typeof all, string | null>>, string]>([
    ['git', { git: null }, 'CAPT needs git, which is not on the PATH: install git (https://git-scm.com).'],
    [
      'npm',
      { npm: null },
      'CAPT needs npm, which is not on the PATH: install npm, which comes with Node.js (https://nodejs.org).',
    ],
    [
      'Node',
      { node: null },
      'CAPT needs node, which is not on the PATH: install Node.js 20 or newer (https://nodejs.org).',
    ],
    ['Go', { go: null }, 'CAPT needs go, which is not on the PATH: install Go 1.26 or newer (https://go.dev/dl).'],
    [
      'a new Go',
      { go: 'echo go1.9.7' },
      'CAPT needs Go 1.26 or newer, and this is 1.9: install Go 1.26 or newer (https://go.dev/dl).',
    ],
    [
      'a new Node',
      { node: 'echo v18.1.0' },
      'CAPT needs Node.js 20 or newer, and this is 18: install Node.js 20 or newer (https://nodejs.org).',
    ],
    ['nothing', {}, ''],
    ['nothing, being newer than we know', { go: 'echo go2.0.1', node: 'echo v100.0.0' }, ''],
  ])('lacking %s', (_, differences, says) => {
    const bin = mkdtempSync(join(tmpdir(), 'capt-path-'))
    onTestFinished(() => rmSync(bin, { recursive: true }))
    for (const [command, script] of Object.entries({ ...all, ...differences })) {
      if (script === null) continue
      writeFileSync(join(bin, command), `#!/bin/sh\n${script}\n`)
      chmodSync(join(bin, command), 0o755)
    }
    for (const tool of ['sort', 'head', 'sed', 'cut'])
      symlinkSync(execFileSync('which', [tool], { encoding: 'utf8' }).trim(), join(bin, tool))
    const { status, stderr } = spawnSync('/bin/sh', [join(root, 'scripts/prerequisites')], {
      env: { PATH: bin },
      encoding: 'utf8',
    })
    expect(stderr.trim()).toBe(says)
    expect(status).toBe(says ? 1 : 0)
  })
})

test('a generated file that differs by a byte fails the check, and generate mends it', { timeout: 180_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'capt-generated-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const generate = (...args: string[]) =>
    spawnSync(process.execPath, [join(root, 'scripts/generate.ts'), '--into', folder, ...args], { encoding: 'utf8' })
  expect(generate('--check').status).toBe(1)
  expect(generate().status).toBe(0)
  expect(generate('--check').status).toBe(0)
  const file = join(folder, 'docs/reference/real-parts.md')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${readFileSync(file, 'utf8')} `)
  const { status, stderr } = generate('--check')
  expect(status).toBe(1)
  expect(stderr).toContain('not what `make generate` writes: docs/reference/real-parts.md')
})

test('the linter sees a promise that nobody waits for', () => {
  const folder = mkdtempSync(join(tmpdir(), 'capt-lint-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'tsconfig.json'), '{ "compilerOptions": { "strict": true }, "include": ["*.ts"] }')
  writeFileSync(join(folder, 'floating.ts'), 'export async function save(): Promise<void> {}\nsave()\n')
  const lint = spawnSync('oxlint', ['--type-aware', '--config', join(root, '.oxlintrc.json'), folder], {
    encoding: 'utf8',
  })
  expect(lint.stdout).toContain('no-floating-promises')
  expect(lint.status).toBe(1)
})
