// The manager is struck after each of its writes in a whole life of a cluster, in memory: whatever it had written and did not know, the life goes on as if nothing
// had been. The same before each write is in a file beside, so that two processors share the work; what comes after a status, and the engine, are struck in
// test/clustercrash.soak.ts, and under real Cluster API core they are killed in test/stories/disturbed.story.ts.
import { expect, test } from 'vitest'
import { sweep } from './clustercrash.ts'

test('a manager that is struck after any of its writes brings a cluster to the same end', async () => {
  const { strikes, fallen } = await sweep(
    ({ who, how }, act) => who === 'manager' && how === 'after' && !act.endsWith('(status)'),
    { isPaused: true },
  )
  expect(strikes).toBeGreaterThan(30)
  expect(fallen).toBe(strikes) // every blow has fallen
}, 300_000)
