// A life of a cluster struck at each act of its manager and of its engine, in every way, in memory. Of the engine's strikes only
// that the cluster comes to the same end is judged here: what is asked of the user after them is for test/crash.test.ts.
import { expect, test } from 'vitest'
import { sweep } from './clustercrash.ts'

test.each(['Cluster', 'Namespace', 'hands', 'halfMoved', 'forced'] as const)(
  'whoever is struck at any act, a cluster that ends by %s comes to the same end',
  async (ending) => {
    const { strikes, fallen } = await sweep(() => true, { ending, isPaused: true })
    console.log(`${strikes} blows, and ${fallen} have fallen`)
    expect(fallen).toBe(strikes)
  },
)
