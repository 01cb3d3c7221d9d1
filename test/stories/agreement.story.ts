// The schema in TypeScript and the one in the API server agree on every object, whatever it is. `make soak` tries more.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { judge } from '../../src/api/judge.ts'
import { kinds } from '../../src/api/kinds.ts'
import { theBed } from '../bed/story.ts'
import { anySpec } from '../fuzz.ts'
import { aSpecimen } from '../specimens.ts'

const { kube } = theBed()
const objects = Number(process.env['CAPT_FUZZ_OBJECTS'] ?? 500)

const timeout = Math.max(120_000, objects * 60)

test.concurrent.each(kinds)('on $kind', { timeout }, async (kind) => {
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(anySpec(kind), async (spec) => {
      const object = JSON.parse(JSON.stringify(aSpecimen(kind, 'default', spec as object))) as ReturnType<
        typeof aSpecimen
      >
      const theirs = await kube.trial(object)
      const ours = judge(kind, object)
      accepted += Number('accepted' in theirs)
      expect({ accepted: ours.length === 0, because: 'refused' in theirs ? theirs.refused : ours }).toMatchObject({
        accepted: 'accepted' in theirs,
      })
    }),
    { numRuns: Math.ceil(objects / kinds.length), endOnFailure: true },
  )
  expect(accepted).toBeGreaterThan(0)
})
