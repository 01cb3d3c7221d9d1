// `make quickstart`, run as a stranger would whose output is no terminal: it shows what the README says it shows.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

const commandsIn = (shown: string) => shown.split('\n').filter((line) => line.startsWith('$ '))

test('an apply converges before the eyes of the user, another fails and says why, and a cluster comes up', async () => {
  const quickstart = spawn(process.execPath, ['scripts/quickstart.ts'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [shown, complaints] = await Promise.all([
    text(quickstart.stdout),
    text(quickstart.stderr),
    once(quickstart, 'exit'),
  ])
  expect(quickstart.exitCode, `${shown}\n${complaints}`).toBe(0)
  expect(shown).toMatch(/apply hello: Converged/)
  expect(shown).toMatch(/apply failing: TerraformFailed/)
  expect(shown).toMatch(/^hello +hello +True +Ready /m)
  expect(shown).toMatch(/^failing +failing +False +TerraformFailed /m)
  expect(shown).toMatch(/status\.outputs\}\n\{"/)
  expect(shown).toContain('A node group has between 1 and 10 nodes, not 100.')
  expect(shown).toMatch(/^Cluster default\/demo +True +Available/m)
  expect(shown).toMatch(/^├─BedCluster default\/demo/m)
  expect(shown.trimEnd()).toMatch(/stopped; nothing is left behind$/)

  const [, block = ''] =
    /What you see at the end of the quickstart:\n\n```\n(.*?)```/s.exec(readFileSync(`${root}/README.md`, 'utf8')) ?? []
  expect(commandsIn(block)).not.toEqual([])
  expect(commandsIn(block)).toEqual(commandsIn(shown))
}, 240_000)
