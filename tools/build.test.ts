// The builder, with the real Go compiler and a module that needs nothing from anywhere.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../test/until.ts'
import { build, locate, type Voice } from './build.ts'
import { pinnedVersion, placeOf } from './cache.ts'
import { ended } from './ended.ts'
import { aWorkshop, hello } from './hello.fixture.ts'
import { type Part, parts } from './parts.ts'

const quiet: Voice = { say: () => {}, show: () => {} }

function workshopOfATest(options?: Parameters<typeof aWorkshop>[0]) {
  const workshop = aWorkshop(options)
  onTestFinished(() => rmSync(workshop.folder, { recursive: true, force: true }))
  return workshop
}

const saysOf = (file: string) => spawnSync(file, { encoding: 'utf8' }).stderr.trim()

test('it builds what is missing, stamped with its version, and says what it did', async () => {
  const workshop = workshopOfATest()
  const said: string[] = []
  await expect(locate({ hello }, workshop)).rejects.toThrow('not built yet: hello. Run `make parts`')
  const { hello: file } = await build({ hello }, workshop, { ...quiet, say: (line) => said.push(line) })
  expect(saysOf(file)).toBe('hello v1.2.3')
  expect(said).toEqual([expect.stringMatching(/^hello v1\.2\.3 built in 0:\d\d$/)])
  expect(await locate({ hello }, workshop)).toEqual({ hello: file })
})

test('a second run builds nothing', async () => {
  const workshop = workshopOfATest()
  await build({ hello }, workshop, quiet)
  const said: string[] = []
  await build({ hello }, workshop, { say: (line) => said.push(line), show: () => said.push('shown') })
  expect(said).toEqual([])
})

test('another pin is another place: the old result is not used for it, nor lost', async () => {
  const [old, now] = [workshopOfATest(), workshopOfATest({ version: 'v1.3.0' })]
  const before = await build({ hello }, old, quiet)
  const after = await build({ hello }, { ...now, cache: old.cache }, quiet)
  expect([saysOf(before.hello), saysOf(after.hello)]).toEqual(['hello v1.2.3', 'hello v1.3.0'])
})

test('a recipe that changes is another place too', () => {
  const { modules, cache } = workshopOfATest()
  const stamped: Part = { ...hello, recipe: { ...hello.recipe, stamps: () => ({ 'main.version': 'other' }) } }
  expect(placeOf('hello', stamped, modules, cache).folder).not.toBe(placeOf('hello', hello, modules, cache).folder)
})

test('a run killed in the middle leaves nothing that a later run would use, and the later run cleans up', async () => {
  const workshop = workshopOfATest()
  const drafts = join(workshop.cache, 'parts', '.drafts')
  const run = aRun(workshop)
  await until('it is building', async () => (existsSync(drafts) && readdirSync(drafts).length > 0 ? true : undefined), {
    everyMs: 5,
  })
  run.kill('SIGKILL')
  await ended(run)
  expect(existsSync(placeOf('hello', hello, workshop.modules, workshop.cache).folder)).toBe(false)
  expect(readdirSync(drafts)).toHaveLength(1)
  const { hello: file } = await build({ hello }, workshop, quiet)
  expect(saysOf(file)).toBe('hello v1.2.3')
  expect(readdirSync(drafts)).toEqual([])
})

test('two runs at once share the work, and both find a whole part', async () => {
  const workshop = workshopOfATest()
  const runs = await Promise.all([ended(aRun(workshop)), ended(aRun(workshop))])
  const told = runs.map(({ output }) => output.match(/hello v1\.2\.3 (built by another run|built)/)?.[1])
  expect(runs.map(({ code }) => code)).toEqual([0, 0])
  // Either one waited for the other, or came when all was done and had nothing to say.
  expect(told.filter((each) => each === 'built')).toHaveLength(1)
  expect(saysOf(runs[0]?.output.trim().split('\n').at(-1) ?? '')).toBe('hello v1.2.3')
})

test('a compiler error is told with the part, its version and the last lines of the compiler', async () => {
  const workshop = workshopOfATest()
  writeFileSync(join(workshop.modules, 'hello/source/main.go'), 'package main\n\nfunc main() { nonsense() }\n')
  await expect(build({ hello }, workshop, quiet)).rejects.toThrow(
    /^cannot build hello v1\.2\.3: `go build` ended with 1:.*undefined: nonsense/s,
  )
  expect(readdirSync(join(workshop.cache, 'parts', '.drafts'))).toEqual([])
})

test.each([
  ['of the pinned version', 'echo hello v1.2.3'],
  ['of another patch', 'echo hello v1.2.9'],
])('a ready program %s is taken', async (_, script) => {
  const workshop = withReady(script)
  expect(await build({ hello }, workshop, quiet)).toEqual({ hello: join(workshop.ready, 'hello') })
})

test.each([
  [
    'of another minor',
    'echo hello v1.1.9',
    /CAPT_TOOLS: .*hello is v1\.1\.9, and v1\.2 is needed: put hello v1\.2\.3 there/,
  ],
  ['that tells no version', 'echo hello', /is of an unknown version, and v1\.2 is needed/],
  ['that does not run', 'exit 3', /does not tell its version/],
])('a ready program %s is refused', async (_, script, refusal) => {
  await expect(build({ hello }, withReady(script), quiet)).rejects.toThrow(refusal)
})

// A workshop whose owner has a ready `hello` that does this when asked for its version.
function withReady(script: string) {
  const workshop = workshopOfATest()
  const ready = join(workshop.folder, 'ready')
  mkdirSync(ready)
  writeFileSync(join(ready, 'hello'), `#!/bin/sh\n${script}\n`)
  chmodSync(join(ready, 'hello'), 0o755)
  return { ...workshop, ready }
}

test('every part of the project is pinned to an exact version, with checksums', () => {
  for (const [name, part] of Object.entries<Part>(parts)) {
    const version = pinnedVersion(part, import.meta.dirname)
    expect(version, name).toMatch(/^v\d+\.\d+\.\d+$/)
    expect(readFileSync(join(import.meta.dirname, part.module, 'go.sum'), 'utf8')).toContain(
      `${part.pin} ${version} h1:`,
    )
  }
})

test('what the quickstart needs comes first', () => {
  const needs = Object.values<Part>(parts).map(({ quickstart }) => quickstart)
  expect(needs.lastIndexOf(true)).toBeLessThan(needs.indexOf(false))
})

test('the command refuses an argument it does not know', () => {
  const run = () =>
    execFileSync(process.execPath, [join(import.meta.dirname, 'main.ts'), 'everything'], { stdio: 'pipe' })
  expect(run).toThrow(/unknown argument everything: say/)
})

function aRun({ modules, cache }: { modules: string; cache: string }): ChildProcess {
  return spawn(process.execPath, [join(import.meta.dirname, 'build.fixture.ts'), modules, cache], { stdio: 'pipe' })
}
