// A manager or an engine is struck at each of its acts, in every way, on an API server in memory: whatever it was about to write,
// the life goes on as if nothing had been, or the user is asked. On a real one: test/stories/crash.story.ts, test/crash.soak.ts.
import { expect, test } from 'vitest'
import { live, liveThrough } from './crash.ts'
import { siteInMemory, strikesOf } from './struck.ts'

test('struck at any of its acts, a life ends as one that was not', async () => {
  const site = siteInMemory()
  try {
    const undisturbed = await live(site, 'undisturbed')
    expect(undisturbed).toMatchObject({ struck: undefined, asked: ['ApprovalRequired'], left: [], twice: [] })
    const strikes = strikesOf(undisturbed)
    expect(strikes.length).toBeGreaterThan(200)
    expect(await liveThrough(site, undisturbed, strikes)).toBe(strikes.length) // every blow has fallen
  } finally {
    await site.end()
  }
}, 300_000)
