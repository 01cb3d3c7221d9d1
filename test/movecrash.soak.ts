// A move of a cluster struck at each act of both managers, of both engines and of the mover, in every way, in memory.
import { expect, test } from 'vitest'
import { sweepMoves } from './movecrash.ts'

test('whoever is struck at any act of a move, the cluster comes to the same end', async () => {
  const { strikes, fallen } = await sweepMoves(() => true)
  console.log(`${strikes} blows, and ${fallen} have fallen`)
  expect(fallen).toBe(strikes)
})
