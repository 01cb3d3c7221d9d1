import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test.each([
  [
    'what passed and what failed, a file that does not load among it',
    'vitest.config.ts',
    '2 passed, 2 failed, 1 skipped',
  ],
  ['a failure when its set-up failed', 'groundless.config.ts', '0 passed, 1 failed'],
])('a run ends with %s', (_, config, line) => {
  const sample = join(import.meta.dirname, 'reporter-sample')
  const { stdout, status } = spawnSync('vitest', ['run', '--root', sample, '--config', config], { encoding: 'utf8' })
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(line)
  expect(status).toBe(1)
})
