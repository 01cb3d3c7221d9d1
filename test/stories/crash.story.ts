// A manager or an engine is struck in the middle of a life on a real API server: whatever it was about to write, the life goes on as
// if nothing had been, or the user is asked. Every act in every way is struck in memory in test/crash.test.ts, and on a real API
// server in test/crash.soak.ts.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { live, liveThrough } from '../crash.ts'
import { startSite, strikesOf } from '../struck.ts'

const sample = 12

test(`struck at ${sample} of its acts, drawn from a seed, a life ends as one that was not`, async () => {
  const site = await startSite()
  try {
    const undisturbed = await live(site, 'undisturbed')
    expect(undisturbed).toMatchObject({ struck: undefined, asked: ['ApprovalRequired'], left: [], twice: [] })
    const some = fc.shuffledSubarray([...strikesOf(undisturbed)], { minLength: sample, maxLength: sample })
    // All of them fall: where a life has fewer acts, in another.
    expect(await liveThrough(site, undisturbed, fc.sample(some, 1).flat())).toBeGreaterThanOrEqual(sample)
  } finally {
    await site.end()
  }
}, 600_000)
