// Thirty kills of the manager and thirty of the engine, at drawn points of lives with real OpenTofu. Twelve of them are in
// test/stories/killed.story.ts.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyBlows } from './blows.ts'
import { liveUnder, troubleIn } from './killing.ts'

test('under sixty kills, what was begun is ended, and nothing is made twice that nobody approved', async () => {
  const [manager = [], engine = []] = fc.sample(anyBlows(30), 2)
  const lives = await liveUnder({ manager, engine })
  const asked = lives.flatMap((life) => life.asked).filter((reason) => reason === 'ApplyInterrupted')
  console.log(`${lives.length} lives; of ${asked.length} runs that were cut off the user was told`)
  expect(lives.flatMap(troubleIn)).toEqual([])
})
