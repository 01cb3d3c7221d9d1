import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { aFolder } from '../../test/folder.ts'
import { until } from '../../test/until.ts'
import type { Binary } from './binary.ts'
import { type CommandLine, createCommandLine } from './commandline.ts'
import type { Furnished } from './terraform.ts'

// A shell script in the place of Terraform; it notes how it was called.
function aCommandLine(script = '', who: Partial<Binary> = {}) {
  const note = `echo "\${TF_WORKSPACE-none}: $*" >> calls`
  const home = aFolder({ program: `#!/bin/sh\n${note}\n${script}\n` })
  const cli = createCommandLine({
    program: join(home, 'program'),
    family: 'tofu',
    version: '1.12.6',
    ...who,
    timeoutMs: 90_000,
    clock: virtualClock(),
    stopping: new AbortController().signal,
  })
  const aWhere = (differences: Partial<Furnished> = {}): Furnished & { readonly beside: string } => ({
    folder: aFolder(),
    env: { PATH: process.env['PATH'] ?? '' },
    workspace: 'team.net',
    args: { init: ['-i'], plan: ['-p'], apply: ['-a'], destroy: ['-d'] },
    ...differences,
    beside: aFolder(),
  })
  return { cli, aWhere }
}

const calls = ({ folder }: Furnished) => readFileSync(join(folder, 'calls'), 'utf8').trimEnd().split('\n')

test.each<[string, (cli: CommandLine, where: Furnished) => Promise<unknown>, string]>([
  ['get', async (cli, where) => cli.get(where), 'none: get -no-color'],
  ['init', async (cli, where) => cli.init(where), 'none: init -input=false -no-color -i'],
  [
    'plan',
    async (cli, where) => cli.plan(where),
    'team.net: plan -input=false -no-color -detailed-exitcode -lock=false -out=PLAN -p',
  ],
  ['show', async (cli, where) => cli.showPlan(where), 'team.net: show -json -no-color PLAN'],
  ['apply', async (cli, where) => cli.apply(where), 'team.net: apply -input=false -no-color -a PLAN'],
  ['destroy', async (cli, where) => cli.destroy(where), 'team.net: destroy -input=false -no-color -auto-approve -d'],
  ['output', async (cli, where) => cli.outputs(where), 'team.net: output -json -no-color'],
  ['push', async (cli, where) => cli.push(where), 'team.net: state push -no-color errored.tfstate'],
  ['unlock', async (cli, where) => cli.unlock(where, 'id'), 'team.net: force-unlock -no-color -force id'],
  ['forget', async (cli, where) => cli.forget(where), 'none: workspace delete -no-color team.net'],
])('%s is called so', async (_, call, line) => {
  const { cli, aWhere } = aCommandLine()
  const where = aWhere()
  await call(cli, where)
  expect(calls(where)).toEqual([line.replace('PLAN', join(where.beside, 'plan'))])
})

test('the default workspace is not forgotten', async () => {
  const { cli, aWhere } = aCommandLine()
  const where = aWhere({ workspace: 'default' })
  expect(await cli.forget(where)).toMatchObject({ code: 0 })
  expect(existsSync(join(where.folder, 'calls'))).toBe(false)
})

test('a plan is kept for an apply, and for another when that was kept from running', async () => {
  const { cli, aWhere } = aCommandLine('case $1 in plan) touch "${6#-out=}"; exit 2;; apply) exit 1;; esac')
  const where = aWhere()
  expect(await cli.plan(where)).toMatchObject({ code: 2 })
  expect(await cli.apply(where)).toMatchObject({ code: 1 })
  expect(existsSync(join(where.beside, 'plan'))).toBe(true)
})

test.each<[string, 'apply' | 'destroy' | 'plan', string, number, readonly string[]]>([
  ['an apply that worked', 'apply', 'exit 0', 0, []],
  ['an apply that failed', 'apply', 'exit 1', 1, []],
  ['an apply that was killed', 'apply', 'kill -KILL $$', 137, ['apply.out']],
  ['an apply that crashed', 'apply', 'exit 11', 11, ['apply.out']],
  ['a destroy that was killed', 'destroy', 'kill -KILL $$', 137, ['destroy.out']],
  ['a plan that was killed', 'plan', 'kill -KILL $$', 137, []],
])('what is left of %s', async (_, name, end, code, left) => {
  const { cli, aWhere } = aCommandLine(`echo a.a: Creating...; ${end}`)
  const where = aWhere()
  expect(await cli[name](where)).toMatchObject({ code, out: 'a.a: Creating...\n' })
  expect(readdirSync(where.beside)).toEqual(left)
  for (const each of left) expect(readFileSync(join(where.beside, each), 'utf8')).toBe('a.a: Creating...\n')
})

test('a plan of which there is no file has failed, and an older one is not taken for it', async () => {
  const { cli, aWhere } = aCommandLine('exit 2')
  const where = aWhere()
  writeFileSync(join(where.beside, 'plan'), 'older')
  expect(await cli.plan(where)).toMatchObject({ code: 1 })
  expect(existsSync(join(where.beside, 'plan'))).toBe(false)
})

test('what is printed comes without secrets, but JSON as it is', async () => {
  const { cli, aWhere } = aCommandLine('echo out hush-word; echo err hush-word >&2')
  const where = aWhere({ secrets: ['hush-word'] })
  const printed = [await cli.init(where), await cli.plan(where), await cli.apply(where), await cli.destroy(where)]
  expect(JSON.stringify(printed)).not.toContain('hush')
  for (const { out, err } of [await cli.showPlan(where), await cli.outputs(where)]) {
    expect(out).toBe('out hush-word\n')
    expect(err).not.toContain('hush')
  }
})

// Each init says that it has begun and waits until it may end.
const waiting = 'touch begun; until [ -e go ]; do sleep 0.05; done'
const cached = { env: { PATH: process.env['PATH'] ?? '', TF_PLUGIN_CACHE_DIR: '/cache' } }

test.each<[string, Partial<Binary>, Partial<Furnished>]>([
  ['OpenTofu that locks its cache', { version: '1.10.0' }, cached],
  ['OpenTofu of a later time', { version: '2.0.0' }, cached],
  ['Terraform without a cache', { family: 'terraform', version: '1.13.0' }, {}],
])('of %s several inits run at a time', async (_, who, differences) => {
  const { cli, aWhere } = aCommandLine(waiting, who)
  const wheres = [aWhere(differences), aWhere(differences)]
  const running = wheres.map(async (where) => cli.init(where))
  for (const { folder } of wheres) await until('it begins', async () => existsSync(join(folder, 'begun')) || undefined)
  for (const { folder } of wheres) writeFileSync(join(folder, 'go'), '')
  expect(await Promise.all(running)).toMatchObject([{ code: 0 }, { code: 0 }])
})

test.each<[string, Partial<Binary>]>([
  ['Terraform', { family: 'terraform', version: '1.13.0' }],
  ['older OpenTofu', { version: '1.9.4' }],
])('of %s with a cache one init runs after another, also after one that failed', async (_, who) => {
  const { cli, aWhere } = aCommandLine(`[ "$1" = init ] || exit 0; ${waiting}; exit 1`, who)
  const [first, second] = [aWhere(cached), aWhere(cached)]
  await expect(cli.init({ ...first, folder: '/nowhere' })).rejects.toThrow('cannot run')
  const running = [cli.init(first), cli.init(second)]
  await until('the first begins', async () => existsSync(join(first.folder, 'begun')) || undefined)
  expect(await cli.outputs(second)).toMatchObject({ code: 0 }) // nothing else waits
  expect(existsSync(join(second.folder, 'begun'))).toBe(false)
  writeFileSync(join(first.folder, 'go'), '')
  await until('the second begins', async () => existsSync(join(second.folder, 'begun')) || undefined)
  writeFileSync(join(second.folder, 'go'), '')
  expect(await Promise.all(running)).toMatchObject([{ code: 1 }, { code: 1 }])
})
