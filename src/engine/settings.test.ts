import { expect, test } from 'vitest'
import { graceMs } from './cli.ts'
import { engineFlags, engineHelp, engineSettingsOf, hurryMs } from './settings.ts'

test('without flags it polls every ten minutes, four Workspaces at a time, and gives a run an hour and a half', () => {
  const { settings, warnings } = engineSettingsOf([])
  expect(warnings).toEqual([])
  expect(settings).toMatchObject({
    pollMs: 600_000,
    jitterMs: 60_000,
    timeoutMs: 5_400_000,
    concurrency: 4,
    binary: '',
    root: '/var/lib/capt-engine',
    isElected: false,
    health: { port: 9440 },
    diagnostics: { port: 8443 },
  })
})

test('a poll may be without jitter, but not without a time', () => {
  expect(engineSettingsOf(['--poll-jitter=0s']).settings.jitterMs).toBe(0)
  expect(() => engineSettingsOf(['--poll=0s'])).toThrow('--poll: "0s" is no duration')
})

test('a leader that could overlap with the next is refused, as it is of the manager', () => {
  expect(() => engineSettingsOf(['--leader-elect-lease-duration=5s'])).toThrow('must be longer than')
})

test('its help has every flag', () => {
  for (const { name } of engineFlags) expect(engineHelp()).toContain(`--${name}`)
})

test('a run that begins just before the engine is told to end has time to end, and one that is interrupted to be killed', () => {
  const { drainMs, timeoutMs } = engineSettingsOf([]).settings
  expect(drainMs).toBeGreaterThan(timeoutMs)
  expect(hurryMs).toBeGreaterThan(graceMs)
})
