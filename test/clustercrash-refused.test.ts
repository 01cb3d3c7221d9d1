// Each write of the manager in a whole life of a cluster is answered with a failure, whether it was done or not, and the manager lives on, in
// memory: nothing is said that is not so, and the life goes on as if nothing had been. Those of a status are in test/clustercrash.soak.ts.
import { expect, test } from 'vitest'
import { sweep } from './clustercrash.ts'

test('a manager whose writes are answered with failures brings a cluster to the same end', async () => {
  const { strikes, fallen } = await sweep(
    ({ how }, act) => (how === 'refused' || how === 'denied') && !act.endsWith('(status)'),
    { isPaused: false },
  )
  expect(strikes).toBeGreaterThan(50)
  expect(fallen).toBe(strikes) // every one has been met
}, 300_000)
