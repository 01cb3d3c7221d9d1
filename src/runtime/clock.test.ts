import { afterEach, expect, test, vi } from 'vitest'
import { systemClock } from './clock.ts'

afterEach(() => {
  vi.useRealTimers()
})

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

test('it wakes after sixty days, which is longer than a timer of Node runs, and can be told to leave on the way', async () => {
  vi.useFakeTimers()
  const day = 86_400_000
  const woken: string[] = []
  systemClock.wakeAt(systemClock.now() + 60 * day, () => woken.push('after sixty days'))
  const callOff = systemClock.wakeAt(systemClock.now() + 60 * day, () => woken.push('although called off'))
  await vi.advanceTimersByTimeAsync(59 * day)
  expect(woken).toEqual([])
  callOff()
  await vi.advanceTimersByTimeAsync(day)
  expect(woken).toEqual(['after sixty days'])
})
