import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { aFolder } from '../../test/folder.ts'
import { until } from '../../test/until.ts'
import { type Run, runCommand } from './cli.ts'
import { isLeftRunning } from './leftrunning.ts'

const path = process.env['PATH'] ?? ''

// A shell script in the place of Terraform, in a folder of its own.
function aRun(script: string, differences: Partial<Run> = {}) {
  const folder = aFolder({ program: `#!/bin/sh\n${script}\n` })
  const clock = virtualClock()
  const stopping = new AbortController()
  onTestFinished(() => stopping.abort())
  const run: Run = {
    program: join(folder, 'program'),
    args: [],
    folder,
    env: { PATH: path },
    beside: folder,
    name: 'plan',
    timeoutMs: 90_000,
    clock,
    stopping: stopping.signal,
    ...differences,
  }
  const said = (word: string) =>
    until(`it says ${word}`, async () => readFileSync(join(folder, 'plan.out'), 'utf8').includes(word) || undefined)
  return { folder, clock, stop: () => stopping.abort(), run, said, ended: async () => runCommand(run) }
}

test('what it prints and its exit code are given back, and no trace stays', async () => {
  const { ended, folder } = aRun('echo to out; echo to err >&2; exit 2')
  expect(await ended()).toEqual({ code: 2, out: 'to out\n', err: 'to err\n', ended: 'byItself' })
  expect(readdirSync(folder)).toEqual(['program'])
})

test('it gets its arguments as they are, its folder, no input, and no environment but what is given', async () => {
  const { ended, folder } = aRun('for each in "$@"; do echo "<$each>"; done; /bin/pwd; cat; env', {
    args: ['-var=a=it\'s "$HOME" `x`', '', 'b c\nd'],
    env: { PATH: path, MINE: 'x' },
  })
  const { out } = await ended()
  const [first, second, third, fourth, where, ...env] = out.trimEnd().split('\n')
  expect([first, second, third, fourth]).toEqual(['<-var=a=it\'s "$HOME" `x`>', '<>', '<b c', 'd>'])
  expect(where).toBe(folder)
  expect(env.filter((line) => !/^(_|PWD|OLDPWD|SHLVL)=/.test(line)).toSorted()).toEqual([`MINE=x`, `PATH=${path}`])
})

test('of much noise the beginning and the end are kept', async () => {
  const { ended } = aRun('echo first; head -c 20000000 /dev/zero | tr "\\0" x; echo; echo last', { keep: 2000 })
  const { out } = await ended()
  expect(out).toMatch(/^first\nx+\n\[… 19998012 bytes left out …\]\nx+\nlast\n$/)
  expect(out.length).toBeLessThan(2100)
})

test('noise without end does not fill the disk', async () => {
  const { ended, clock, folder } = aRun(
    'echo first; head -c 70000000 /dev/zero; echo ready; until [ -e go ]; do sleep 0.1; done; echo last',
  )
  const running = ended()
  await until('the noise is made', async () => statSync(join(folder, 'plan.out')).size > 70_000_000 || undefined)
  await clock.advance(5000)
  await until('it is cut', async () => statSync(join(folder, 'plan.out')).size < 3_000_000 || undefined)
  writeFileSync(join(folder, 'go'), '')
  const { out, code } = await running
  expect([code, out.startsWith('first\n'), out.endsWith('last\n')]).toEqual([0, true, true])
})

const gentle = 'trap "echo bye; exit 7" INT; echo ready; while :; do sleep 0.1; done'
const deaf = 'trap "" INT; echo ready; while :; do sleep 0.1; done'

test('after its time it is interrupted, and may end in good order', async () => {
  const { ended, clock, said } = aRun(gentle)
  const running = ended()
  await said('ready')
  await clock.advance(90_000)
  expect(await running).toEqual({ code: 7, out: 'ready\nbye\n', err: '', ended: 'timeout' })
})

test('before its time it is not', async () => {
  const { ended, clock, said, stop } = aRun(gentle)
  const running = ended()
  await said('ready')
  await clock.advance(89_999)
  stop()
  expect(await running).toMatchObject({ ended: 'stopped', out: 'ready\nbye\n' })
})

test('who does not listen is killed a minute later', async () => {
  const { ended, clock, said, stop } = aRun(deaf)
  const running = ended()
  await said('ready')
  stop()
  await clock.advance(60_000)
  expect(await running).toMatchObject({ code: 137, ended: 'stopped' })
})

test('when we stop already, it is not begun', async () => {
  const { ended, stop, folder } = aRun('touch begun')
  stop()
  expect(await ended()).toMatchObject({ ended: 'stopped' })
  expect(existsSync(join(folder, 'begun'))).toBe(false)
})

test('what it leaves in the background ends with it', async () => {
  const { ended } = aRun('sleep 600 & echo $!')
  const { out } = await ended()
  await until('it is gone', async () => !isAlive(Number(out)) || undefined)
})

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

test.each<[string, Partial<Run>, string]>([
  ['its folder is gone', { folder: '/nowhere/at/all' }, 'the work folder or /bin/sh is not there (ENOENT)'],
  ['it is not there', { program: '/nowhere/tofu' }, 'it is not there: install it, or correct --terraform-binary (127)'],
  [
    'it may not be executed',
    { program: '/dev/null' },
    'it may not be executed: correct its mode, or --terraform-binary (126)',
  ],
  ['its arguments are too long', { args: [`-var=a=hush${'x'.repeat(200_000)}`] }, 'too long: give them by varFiles'],
])('it cannot be run because %s: told without its arguments', async (_, differences, says) => {
  const { ended, run } = aRun('', { args: ['hush'], ...differences })
  const error = await ended().then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(String(error)).toContain(`Error: cannot run ${run.program}: `)
  expect(String(error)).toContain(says)
  expect(String(error)).not.toContain('hush')
})

test('when we are killed it is interrupted, ends in good order, and what it said is there for a later life', async () => {
  const deafChild = '(trap "" INT; exec sleep 600) & echo $! > child'
  const script = `${deafChild}; trap "echo bye; exit 7" INT; echo begun; while :; do sleep 0.1; done`
  const folder = aFolder({ program: `#!/bin/sh\n${script}\n` })
  const fixture = join(import.meta.dirname, 'cli.fixture.ts')
  const engine = spawn(process.execPath, [fixture, folder, join(folder, 'program')], { stdio: 'ignore' })
  onTestFinished(() => {
    engine.kill('SIGKILL')
  })
  const log = join(folder, 'apply.out')
  await until('it has begun', async () => (existsSync(log) && readFileSync(log, 'utf8').includes('begun')) || undefined)
  await until('it is noted', async () => (await isLeftRunning(folder)) || undefined)
  engine.kill('SIGKILL')
  await once(engine, 'exit')
  await until('it has ended', async () => !(await isLeftRunning(folder)) || undefined)
  expect(readFileSync(log, 'utf8')).toBe('begun\nbye\n')
  const child = Number(readFileSync(join(folder, 'child'), 'utf8'))
  await until('what it left behind is gone', async () => !isAlive(child) || undefined)
})
