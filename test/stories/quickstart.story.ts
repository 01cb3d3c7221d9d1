// `make quickstart`, run as a stranger would whose output is no terminal: it shows what the README says it shows.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

const commandsIn = (shown: string) => shown.split('\n').filter((line) => line.startsWith('$ '))

test('a cluster comes up before the eyes of the user, and what goes wrong is explained', async () => {
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
  expect(shown).toMatch(/^\+\d+s WorkspaceTemplateApply\/minimal-vpc: /m)
  expect(shown).toMatch(/the Cluster is Available/)
  expect(shown).toMatch(/^Cluster default\/minimal +True +Available/m)
  expect(shown).toMatch(/^├─CAPTCluster default\/minimal +True +Provisioned/m)
  expect(shown).toMatch(/^└─CAPTControlPlane default\/minimal, v1\.34\.0 +True +Available/m)
  expect(shown).toMatch(/WorkspaceTemplateApply\/minimal-eks-controlplane \(TerraformFailed/)
  expect(shown).toContain('ResourceLimitExceeded: Cluster limit exceeded for account.')
  expect(shown.trimEnd()).toMatch(/stopped; nothing is left behind$/)

  const [, block = ''] =
    /What you see of the quickstart:\n\n```\n(.*?)```/s.exec(readFileSync(`${root}/README.md`, 'utf8')) ?? []
  expect(commandsIn(block)).not.toEqual([])
  expect(commandsIn(block)).toEqual(commandsIn(shown))
}, 240_000)
