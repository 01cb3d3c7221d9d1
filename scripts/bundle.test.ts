import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { type Bundle, bundleAll, bundleTable } from './bundle.ts'

const folder = mkdtempSync(join(tmpdir(), 'capt-bundle-'))
let bundles: readonly Bundle[] = []
beforeAll(async () => {
  bundles = await bundleAll(folder)
})
afterAll(() => rmSync(folder, { recursive: true }))

function run(program: string, ...args: string[]) {
  const { file = '' } = bundles.find((bundle) => bundle.program === program) ?? {}
  return spawnSync(process.execPath, [file, ...args], { encoding: 'utf8' })
}

describe.each(['capt-manager', 'capt-engine', 'capt'])('%s, bundled into one file', (program) => {
  test('tells its version', () => {
    expect(run(program, '--version')).toMatchObject({ status: 0, stdout: `${program} ${manifest.version}\n` })
  })

  test('tells what it is for', () => {
    expect(run(program, '--help').stdout).toMatch(new RegExp(`^${program}: [^\\n]+\\n\\nUsage: ${program} `))
  })

  test('refuses a flag it does not know, and says where to look', () => {
    const { status, stderr } = run(program, '--colour')
    expect(status).toBe(2)
    expect(stderr).toContain('there is no flag --colour (see --help)')
  })
})

test('the table has a row for each', () => {
  expect(bundleTable(bundles).split('\n')).toHaveLength(2 + 3)
})
