import { expect, test } from 'vitest'
import { virtualClock } from './clock.ts'

test('sleepers wake in the order of their hours, each at its own hour, and may sleep again on the way', async () => {
  const clock = virtualClock()
  const log: string[] = []
  const sleeper = async (name: string, ...naps: number[]) => {
    for (const nap of naps) {
      await clock.sleep(nap)
      log.push(`${name} at ${clock.now()}`)
    }
  }
  const all = [sleeper('late', 300), sleeper('often', 100, 100, 150), sleeper('never', 1000)]
  await clock.advance(400)
  expect(log).toEqual(['often at 100', 'often at 200', 'late at 300', 'often at 350'])
  expect(clock.now()).toBe(400)
  await clock.advance(600)
  await Promise.all(all)
  expect(log.at(-1)).toBe('never at 1000')
})
