import { expect, test } from 'vitest'
import type { Election } from './election.ts'
import { createLeadership } from './leadership.ts'

function anElection(name: string, deeds: string[]) {
  const its = { isHeld: false, lead: () => {} }
  const make = (onLeading: () => void): Election => {
    its.lead = () => {
      its.isHeld = true
      onLeading()
    }
    return {
      start: () => void deeds.push(`start ${name}`),
      holds: () => its.isHeld,
      standing: () => ({ role: 'waiting', holder: '', transitions: 0 }),
      stop: async () => void deeds.push(`stop ${name}`),
    }
  }
  return { its, make }
}

test('Leases are taken one after the other, and all of them make a leader', async () => {
  const deeds: string[] = []
  const [first, second] = [anElection('first', deeds), anElection('second', deeds)]
  const elections = [first.make, second.make]
  const leadership = createLeadership({ isElected: true, elections, onLeading: () => void deeds.push('lead') })
  leadership.start()
  expect(deeds).toEqual(['start first'])
  first.its.lead()
  expect(leadership.holds()).toBe(false)
  expect(deeds).toEqual(['start first', 'start second'])
  second.its.lead()
  expect(leadership.holds()).toBe(true)
  first.its.isHeld = false
  expect(leadership.holds()).toBe(false)
  await leadership.stop()
  expect(deeds).toEqual(['start first', 'start second', 'lead', 'stop second', 'stop first'])
})

test('who is not elected leads at once', () => {
  const deeds: string[] = []
  const leadership = createLeadership({ isElected: false, elections: [], onLeading: () => void deeds.push('lead') })
  leadership.start()
  expect(deeds).toEqual(['lead'])
  expect(leadership.holds()).toBe(true)
})
