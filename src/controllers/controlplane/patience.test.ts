import { expect, test } from 'vitest'
import { condition, now } from '../../../test/applies.ts'
import { built, but, copies, ofCP, withSecrets } from '../../../test/controlplanes.ts'
import { secondsUntil } from './patience.ts'
import type { Seen } from './seen.ts'

const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString()
interface Past {
  readonly told?: { readonly is: 'True' | 'False'; readonly since: number; readonly message?: string }
  readonly built?: number // that many seconds ago
  readonly due?: number
}
const after = ({ told, built: done, due }: Past): Seen => {
  const { is = 'True', since = 0, message = '' } = told ?? {}
  const conditions = ['SecretsReady', 'Available'].map((type) =>
    condition(type, is, 'X', { message, lastTransitionTime: ago(since) }),
  )
  const seen = ofCP(built, { status: { conditions: told ? conditions : [] } })
  const eks = built.eks && but(built.eks, { status: { lastAppliedTime: done === undefined ? undefined : ago(done) } })
  return withSecrets({ ...seen, eks }, due === undefined ? {} : { copies: copies({ dueIn: -due / 60 }) })
}

test.each<[string, Past, number]>([
  ['that was never told', {}, 5],
  ['of what was well', { told: { is: 'True', since: 999 }, built: 999 }, 5],
  ['that is new', { told: { is: 'False', since: 1 } }, 5],
  ['that is half a minute old', { told: { is: 'False', since: 30 } }, 30],
  ['that is old', { told: { is: 'False', since: 999 } }, 60],
  ['that came after a long build', { told: { is: 'False', since: 720 }, built: 2 }, 5],
  ['that came after a long build, a while later', { told: { is: 'False', since: 740 }, built: 22 }, 22],
  [
    'with what Terraform changed, though the last is good',
    { told: { is: 'True', since: 9999, message: 'the last good stays' }, built: 20 },
    20,
  ],
  [
    'with what a user changed, though the last is good',
    { told: { is: 'True', since: 9999, message: 'the last good stays' }, built: 9999 },
    60,
  ],
  ['with a token that was due', { told: { is: 'True', since: 9999, message: 'x' }, built: 9999, due: 12 }, 12],
  ['with a token that will be due', { told: { is: 'False', since: 40 }, due: -300 }, 40],
])('trouble %s is tried again with patience', (_, past, seconds) => {
  expect(secondsUntil('patiently', after(past), 'SecretsReady')).toBe(seconds)
})

test('an API server that falls silent is asked again soon, whatever was said while it answered', () => {
  const served = after({ told: { is: 'True', since: 999, message: 'it serves, but the upgrade failed' }, built: 999 })
  expect(secondsUntil('patiently', served, 'Available')).toBe(5)
})

test('what only has to settle, and what is mended elsewhere, have times of their own', () => {
  expect([secondsUntil('atOnce', built, 'SecretsReady'), secondsUntil('eachMinute', built, 'SecretsReady')]).toEqual([
    1, 60,
  ])
})
