// A life struck at each of its acts, in every way: by the manager, by the engine, and by an engine that comes back elsewhere.
import { expect, test } from 'vitest'
import { live, liveThrough, startSite, strikesOf } from './crash.ts'

test('struck at any of its acts, a life ends as one that was not', async () => {
  const site = await startSite()
  try {
    const undisturbed = await live(site, 'undisturbed')
    const strikes = strikesOf(undisturbed)
    const struck = await liveThrough(site, undisturbed, strikes)
    console.log(`${strikes.length} lives, ${struck.length} of them struck`)
    // Not every life has as many acts: some wait for their blow in vain.
    expect(struck.length).toBeGreaterThan(strikes.length * 0.8)
  } finally {
    await site.end()
  }
})
