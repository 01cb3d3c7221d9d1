// A cluster is moved to another management cluster, in memory, and whoever has a hand in it is struck at some of its acts, drawn by the seed, from the moment the move begins: nothing
// is made or destroyed by it, and on the target all is as if nothing had been. At every act: test/movecrash.soak.ts; with the real clusterctl: test/stories/move.story.ts.
import { expect, test } from 'vitest'
import { sweepMoves } from './movecrash.ts'

test.each([
  ['a manager or an engine, of the source or of the target,', /of the/, 24],
  ['a mover, who then tries again, or ends it by hand, or both,', /^mover$/, 10],
] as const)(
  '%s is struck in a move, and the cluster comes to the same end',
  async (_, who, drawn) => {
    const { fallen } = await sweepMoves((strike) => who.test(strike.who), drawn)
    expect(fallen).toBe(drawn) // every blow has fallen
  },
  300_000,
)
