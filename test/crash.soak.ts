// A life on a real API server struck at each of its acts, in every way: by the manager, by the engine, and by an engine that comes
// back elsewhere. The same in memory: test/crash.test.ts.
import { expect, test } from 'vitest'
import { live, liveThrough } from './crash.ts'
import { startSite, strikesOf } from './struck.ts'

test('struck at any of its acts, a life ends as one that was not', async () => {
  const site = await startSite()
  try {
    const undisturbed = await live(site, 'undisturbed')
    const strikes = strikesOf(undisturbed)
    const fallen = await liveThrough(site, undisturbed, strikes)
    console.log(`${strikes.length} blows, and ${fallen} have fallen`)
    expect(fallen).toBe(strikes.length)
  } finally {
    await site.end()
  }
})
