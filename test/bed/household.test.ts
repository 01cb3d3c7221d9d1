// Nothing is left behind, however the founder of a household goes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { until } from '../until.ts'
import { foundHousehold } from './household.ts'

test.each<{ how: string; argument: string; signal?: NodeJS.Signals }>([
  { how: 'ends it', argument: 'end' },
  { how: 'fails', argument: 'throw' },
  { how: 'leaves without a word', argument: 'exit' },
  { how: 'is interrupted by Ctrl-C', argument: 'stay', signal: 'SIGINT' },
  { how: 'is told to stop', argument: 'stay', signal: 'SIGTERM' },
  { how: 'is killed', argument: 'stay', signal: 'SIGKILL' },
])('when the founder $how, its processes, their children and its folder go', async ({ argument, signal }) => {
  const founder = spawn(process.execPath, [join(import.meta.dirname, 'household.fixture.ts'), argument], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true, // a group of its own, as a shell would give it: Ctrl-C reaches all of it
  })
  const [line] = (await once(founder.stdout, 'data')) as [Buffer]
  const { folder, pids } = JSON.parse(line.toString()) as { folder: string; pids: number[] }
  if (signal) {
    await until('all have started', async () => (groupsOf(pids).length >= 2 * pids.length ? true : undefined))
    process.kill(-(founder.pid ?? 0), signal)
  }
  await until('all have gone', async () => (groupsOf(pids).length === 0 && !existsSync(folder) ? true : undefined), {
    withinSeconds: 10,
  })
})

test('a member that ends tells why, with its last words', async () => {
  const home = foundHousehold('test')
  onTestFinished(async () => home.end())
  const member = home.start('brief', 'sh', ['-c', 'echo port is taken >&2; exit 3'])
  const obituary = await until('it ends', async () => member.obituary())
  expect(obituary).toBe('brief ended with 3; it said last:\nport is taken')
})

test('logs are kept for those who want them', async () => {
  const home = foundHousehold('test')
  const member = home.start('speaker', 'sh', ['-c', 'echo here I am; sleep 1000'])
  await until('it speaks', async () => (readFileSync(member.log, 'utf8').includes('here') ? true : undefined))
  const kept = await home.keepLogs()
  onTestFinished(async () => rm(kept, { recursive: true }))
  await home.end()
  expect(readdirSync(kept)).toEqual(['speaker.log'])
  expect(readFileSync(join(kept, 'speaker.log'), 'utf8')).toBe('here I am\n')
})

test('a member gets a small environment: nothing of the person who runs it but the PATH, and what saves time', async () => {
  const home = foundHousehold('test')
  onTestFinished(async () => home.end())
  for (const [name, value] of Object.entries({ GOGC: '300', NODE_COMPILE_CACHE: home.folder })) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const member = home.start('env', 'env', [], { OWN: 'its own' })
  await until('it ends', async () => member.obituary())
  const names = readFileSync(member.log, 'utf8')
    .trim()
    .split('\n')
    .map((entry) => entry.split('=')[0])
  expect(new Set(names)).toEqual(new Set(['GOGC', 'HOME', 'NODE_COMPILE_CACHE', 'OWN', 'PATH', 'PWD']))
})

// The living processes whose process group is one of these.
function groupsOf(pids: readonly number[]): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map((pid) => groupOf(pid))
    .filter((group): group is number => group !== undefined && pids.includes(group))
}

function groupOf(pid: string): number | undefined {
  try {
    const [state, , group] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return state === 'Z' ? undefined : Number(group)
  } catch {
    return undefined // gone while we looked
  }
}
