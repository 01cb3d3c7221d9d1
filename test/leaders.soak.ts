// Three managers, of which one leads, in lives drawn from a seed: only who leads changes anything. What a single such life
// looks like is in test/stories/leaders.story.ts.
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Company, leaseMs, startCompany } from './company.ts'

const blow = fc.record({
  afterMs: fc.nat(4000),
  do: fc.constantFrom('kill', 'end', 'stop'),
  forMs: fc.oneof(fc.nat(leaseMs), fc.integer({ min: leaseMs, max: 2 * leaseMs })), // shorter than the lease, and longer
})
type Blow = typeof blow extends fc.Arbitrary<infer T> ? T : never

test('six companies, each under eight blows', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(blow, { minLength: 8, maxLength: 8 }), async (blows) => {
      const company = await startCompany()
      try {
        for (const each of blows) await strike(company, each)
        await company.leader()
        await company.rest()
        const { judged, late, wrong } = await company.judge()
        console.log(`${judged} changes, ${late.length} late`)
        expect(wrong).toEqual([])
      } finally {
        await company.end()
      }
    }),
    { numRuns: 6, endOnFailure: true },
  )
})

async function strike(company: Company, { afterMs, do: what, forMs }: Blow): Promise<void> {
  const life = await company.leader()
  await sleep(afterMs)
  if (life.member.obituary() !== undefined) return
  if (what === 'kill') return life.member.kill('SIGKILL')
  if (what === 'end') return life.member.kill('SIGTERM')
  await company.freeze(life)
  await sleep(forMs)
  company.thaw(life)
}
