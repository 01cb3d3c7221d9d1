import { expect, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { createEnding } from './ending.ts'

// Something that ends when it is let, and writes down what is done to it.
function aProcess({ isHurried = true } = {}) {
  const clock = virtualClock()
  const did: string[] = []
  const stopped = Promise.withResolvers<void>()
  const served = {
    async stop() {
      did.push('stop')
      return stopped.promise
    },
    ...(isHurried && { hurry: () => void did.push('hurry') }),
  }
  const ending = createEnding({
    clock,
    drainMs: 100,
    hurryMs: 20,
    served: () => served,
    exit: (code) => void did.push(`exit ${code}`),
  })
  return { ending, clock, did, ...stopped }
}

test('told to end, it lets what runs come to its end', async () => {
  const { ending, clock, did, resolve } = aProcess()
  ending.told()
  await clock.advance(99)
  expect(did).toEqual(['stop'])
  resolve()
  await clock.advance(0)
  expect(did).toEqual(['stop', 'exit 0'])
})

test('what runs longer than it may is interrupted, and waited for', async () => {
  const { ending, clock, did, resolve } = aProcess()
  ending.told()
  await clock.advance(119)
  expect(did).toEqual(['stop', 'hurry'])
  resolve()
  await clock.advance(0)
  expect(did).toEqual(['stop', 'hurry', 'exit 0'])
})

test('what does not end although it was interrupted is left', async () => {
  const { ending, clock, did } = aProcess()
  ending.told()
  await clock.advance(120)
  expect(did).toEqual(['stop', 'hurry', 'exit 1'])
})

test('told twice, it interrupts at once', () => {
  const { ending, did } = aProcess()
  ending.told()
  ending.told()
  expect(did).toEqual(['stop', 'hurry'])
})

test.each([1, 70])('what must not go on interrupts what runs before it exits with %i', async (code) => {
  const { ending, clock, did, resolve } = aProcess()
  ending.atOnce(code)
  await clock.advance(19)
  expect(did).toEqual(['hurry', 'stop'])
  resolve()
  await clock.advance(0)
  expect(did).toEqual(['hurry', 'stop', `exit ${code}`])
})

test('what cannot end although it must not go on exits all the same', async () => {
  const { ending, clock, did } = aProcess()
  ending.atOnce(1)
  await clock.advance(20)
  expect(did).toEqual(['hurry', 'stop', 'exit 1'])
})

test('one that has nothing to interrupt exits at once where it must not go on, and at the end of its time', async () => {
  const lost = aProcess({ isHurried: false })
  lost.ending.atOnce(1)
  expect(lost.did).toEqual(['exit 1'])
  const told = aProcess({ isHurried: false })
  told.ending.told()
  await told.clock.advance(100)
  expect(told.did).toEqual(['stop', 'exit 1'])
})
