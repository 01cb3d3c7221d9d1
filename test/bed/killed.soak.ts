// A bed killed at any moment of its start leaves neither a process nor a folder. The moments are drawn from a seed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { until } from '../until.ts'

test('ten beds, two at a time, each killed at another moment, leave nothing behind', async () => {
  await fc.assert(
    fc.asyncProperty(fc.tuple(fc.nat(14_000), fc.nat(14_000)), async (moments) => {
      await Promise.all(moments.map(killedAfter))
    }),
    { numRuns: 5, endOnFailure: true },
  )
})

async function killedAfter(ms: number): Promise<void> {
  const founder = spawn(process.execPath, [join(import.meta.dirname, 'bed.fixture.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(founder.stdout, 'data')) as [Buffer]
  const folder = line.toString().match(/ in (\S+)/)?.[1] ?? ''
  expect(existsSync(folder)).toBe(true)
  await sleep(ms)
  founder.kill('SIGKILL')
  await until(
    `all of the bed killed after ${ms} ms is gone`,
    async () => (!existsSync(folder) && processesNaming(folder).length === 0 ? true : undefined),
    { withinSeconds: 10 },
  )
}

function processesNaming(folder: string): string[] {
  return globSync('/proc/[0-9]*/cmdline').filter((file) => {
    try {
      return readFileSync(file, 'utf8').includes(folder)
    } catch {
      return false // gone while we looked
    }
  })
}
