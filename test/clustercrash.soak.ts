// A life of a cluster struck at each act of its manager and of its engine, in every way, in memory. Of the engine's strikes only
// that the cluster comes to the same end is judged here: what is asked of the user after them is for test/crash.test.ts.
import { expect, test } from 'vitest'
import { sweep } from './clustercrash.ts'

test('whoever is struck at any act, a cluster comes to the same end', async () => {
  const { strikes, lives } = await sweep(() => true)
  console.log(`${strikes} blows in ${lives} lives`)
  expect(lives).toBeGreaterThanOrEqual(strikes)
})
