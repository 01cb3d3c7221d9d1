// Real OpenTofu, and a SIGKILL now and then: what was begun is ended, nothing is made twice unless the user, who was asked, has
// approved it, and nothing is left behind. Sixty kills are in test/killing.soak.ts.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyBlows } from '../blows.ts'
import { liveUnder, troubleIn } from '../killing.ts'

test('the manager and the engine are killed six times each, at points drawn from a seed', async () => {
  const [manager = [], engine = []] = fc.sample(anyBlows(6), 2)
  const lives = await liveUnder({ manager, engine })
  expect(lives.flatMap(troubleIn)).toEqual([])
}, 1_000_000)
