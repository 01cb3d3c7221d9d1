// A cluster that is deleted otherwise than by its Cluster, in memory, and the manager is struck at each of its writes from then on: all is destroyed in the
// right order, what was made inside of the cluster first, nothing is made anew, and nothing is left.
import { expect, test } from 'vitest'
import { sweep } from './clustercrash.ts'

test.each([
  ['a namespace goes with everything in it', 'Namespace'],
  ['a network is deleted by hand, and then its control plane', 'hands'],
] as const)(
  'a manager that is struck while %s brings all to the same end',
  async (_, ending) => {
    const { strikes, fallen } = await sweep(({ who }, act) => who === 'manager' && !act.endsWith('(status)'), {
      ending,
    })
    expect(strikes).toBeGreaterThan(20)
    expect(fallen).toBe(strikes) // every blow has fallen
  },
  300_000,
)

// All of them are in test/clustercrash.soak.ts.
test.each([
  ['a cluster whose move never began in earnest goes on and is deleted', 'halfMoved'],
  ['a cluster is let go of, with all it built', 'forced'],
] as const)(
  'a manager or an engine that is struck while %s brings all to the same end',
  async (_, ending) => {
    const drawn = 10
    expect((await sweep(() => true, { ending }, drawn)).fallen).toBe(drawn)
  },
  300_000,
)
