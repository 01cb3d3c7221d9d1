// Under real Cluster API core and with real OpenTofu, a cluster comes to the same end when its manager is killed again and again, and
// when its way to the API server breaks in every manner there is. Every write is struck in memory: test/clustercrash.ts.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lendAudit } from '../bed/audit.ts'
import type { FaultProxy } from '../bed/faults/proxy.ts'
import type { Rule } from '../bed/faults/rules.ts'
import { theBed } from '../bed/story.ts'
import { anyBlows } from '../blows.ts'
import { type Ground, type Lived, liveAll, startGround } from '../disturbed.ts'

const blows = 6
const writesBetween = { min: 5, max: 14 } // a life has a hundred, and some are made before a blow falls
let ground: Ground

beforeAll(async () => {
  ground = await startGround()
})
afterAll(async () => {
  if (ground) await lendAudit(theBed(), ground.bed.auditLog, 'disturbed-story')
  await ground?.end()
})

test('a manager that is killed and one behind a broken wire bring clusters to the same end as one that is left alone', async () => {
  const rules: Rule[] = []
  const [kills = []] = fc.sample(anyBlows(blows, writesBetween), 1)
  const [seed = 1] = fc.sample(fc.nat(), 1)
  const breaks = (proxy: FaultProxy) => void rules.push(...breaksOf(proxy))
  const { undisturbed, killed, behind } = await liveAll(ground, { kills, seed, breaks })
  const told = rules.map(({ fault, occasion, strikes }) => `${occasion.verb} ${fault.do} ${strikes.length} times`)
  console.info(`${killed.fell} kills; and on the wire: ${told.join(', ')}`)
  expect(rules.flatMap(({ strikes }) => strikes).length).toBeGreaterThan(30)
  expect(killed.fell).toBe(blows)
  for (const life of [undisturbed, killed, behind]) {
    expect.soft(life.stages).toEqual(undisturbed.stages)
    expect.soft(troubleIn(life)).toEqual([])
  }
}, 600_000)

// Each resource was made once and destroyed once.
function troubleIn({ ledger, wrong, left }: Lived): readonly string[] {
  const ids = Map.groupBy(ledger, (line) => line.replace(/^(made|gone) /, ''))
  const odd = [...ids].filter(([, lines]) => lines.map((line) => line.slice(0, 4)).join() !== 'made,gone')
  return [
    ...odd.map(([what, lines]) => `${what}: ${lines.join(', ')}`),
    ...(ids.size === 5 ? [] : [`${ids.size} resources instead of 5`]),
    ...wrong,
    ...left,
  ]
}

// Some of every kind.
function breaksOf(proxy: FaultProxy): readonly Rule[] {
  return [
    proxy.inject({ verb: 'patch', probability: 0.05 }, { do: 'reset' }), // it was written, and nobody heard
    proxy.inject({ verb: 'patch', probability: 0.05 }, { do: 'answer', code: 504, isDone: true }),
    proxy.inject({ verb: 'patch', probability: 0.04 }, { do: 'answer', code: 409 }),
    proxy.inject({ verb: 'patch', probability: 0.04 }, { do: 'answer', code: 429, retryAfterSeconds: 1 }),
    proxy.inject({ verb: 'patch', probability: 0.04 }, { do: 'answer', code: 500 }),
    proxy.inject({ verb: 'patch', probability: 0.04 }, { do: 'delay', ms: 700 }),
    proxy.inject({ verb: 'delete', times: 1 }, { do: 'reset' }),
    proxy.inject({ verb: 'delete', times: 1 }, { do: 'answer', code: 504, isDone: true }),
    proxy.inject({ verb: 'get', probability: 0.06 }, { do: 'answer', code: 500 }),
    proxy.inject({ verb: 'watch', probability: 0.2, times: 6 }, { do: 'reset', after: { lines: 3 } }),
    proxy.inject({ verb: 'watch', probability: 0.2, times: 2 }, { do: 'expire', afterLines: 2 }),
    proxy.inject({ verb: 'watch', probability: 0.2, times: 2 }, { do: 'truncate', afterLines: 2 }),
    proxy.inject({ verb: 'watch', probability: 0.2, times: 1 }, { do: 'silence', after: { lines: 2 } }),
    proxy.inject({ verb: 'connect', probability: 0.3, times: 2 }, { do: 'reset' }),
  ]
}
