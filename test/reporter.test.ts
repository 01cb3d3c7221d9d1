import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('a run ends with what passed and what failed, a file that does not load counted as failed', () => {
  const sample = join(import.meta.dirname, 'reporter-sample')
  const { stdout, status } = spawnSync('vitest', ['run', '--root', sample], { encoding: 'utf8' })
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('2 passed, 2 failed, 1 skipped')
  expect(status).toBe(1)
})
