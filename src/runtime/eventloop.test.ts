import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { Clock } from './clock.ts'
import { startEventLoop } from './eventloop.ts'
import { createLog } from './log.ts'

// A clock whose timers ring when they are told to, which may be late.
function lateClock() {
  let now = 0
  let due: (() => void) | undefined
  const clock: Clock = {
    now: () => now,
    wakeAt(_, call) {
      due = call
      return () => {
        due = undefined
      }
    },
  }
  return {
    clock,
    ringAfter(ms: number) {
      now += ms
      due?.()
    },
    isWaiting: () => due !== undefined,
  }
}

function anEventLoop() {
  const to = new PassThrough()
  const late = lateClock()
  return {
    ...late,
    loop: startEventLoop({ clock: late.clock, log: createLog({ to, level: 'info' }) }),
    told: () => String(to.read() ?? ''),
  }
}

test('the longest lag since it was asked is told, once', () => {
  const { loop, ringAfter, told } = anEventLoop()
  ringAfter(500)
  ringAfter(1700)
  ringAfter(501)
  expect(loop.lagSeconds()).toBe(1.2)
  expect(loop.lagSeconds()).toBe(0)
  expect(told()).toBe('')
})

test('a long one is logged', () => {
  const { ringAfter, told } = anEventLoop()
  ringAfter(3500)
  expect(JSON.parse(told())).toMatchObject({ level: 'warn', msg: 'the event loop was stuck', seconds: 3 })
})

test('stopped, it waits for nothing', () => {
  const { loop, ringAfter, isWaiting } = anEventLoop()
  ringAfter(500)
  expect(isWaiting()).toBe(true)
  loop.stop()
  expect(isWaiting()).toBe(false)
})
