// The manager is struck before each of its writes in a whole life of a cluster, in memory: whatever it was about to write and did not, the life goes on as if nothing
// had been. The same after each write is in a file beside, so that two processors share the work; the engine is struck in
// test/clustercrash.soak.ts, and under real Cluster API core they are killed in test/stories/disturbed.story.ts.
import { expect, test } from 'vitest'
import { sweep } from './clustercrash.ts'

test('a manager that is struck before any of its writes brings a cluster to the same end', async () => {
  const { strikes, fallen } = await sweep(({ who, how }) => who === 'manager' && how === 'before', { isPaused: false })
  expect(strikes).toBeGreaterThan(80)
  expect(fallen).toBe(strikes) // every blow has fallen
}, 300_000)
