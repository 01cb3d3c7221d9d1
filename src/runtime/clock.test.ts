import { expect, test } from 'vitest'
import { systemClock } from './clock.ts'

test('it wakes whom it promised to wake, at that time and not before, and not whom it was told to leave', async () => {
  const calledOff: string[] = []
  const callOff = systemClock.wakeAt(systemClock.now() + 5, () => calledOff.push('woken'))
  callOff()
  const promised = systemClock.now() + 20
  await new Promise<void>((wake) => {
    systemClock.wakeAt(promised, wake)
  })
  expect(systemClock.now()).toBeGreaterThanOrEqual(promised - 1)
  expect(calledOff).toEqual([])
})
