import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { seal } from './sealed.ts'

const token = seal('s3cr3t')

test('a sealed value is given away only when asked for', () => {
  expect(token.open()).toBe('s3cr3t')
})

test.each<[string, string]>([
  ['as text', String(token)],
  ['in JSON', JSON.stringify({ token })],
  ['inspected', inspect({ token }, { depth: null, showHidden: true })],
  ['joined', [token].join(',')],
  ['in an error', new Error('refused', { cause: token }).stack ?? ''],
])('%s it shows nothing', (_, shown) => {
  expect(shown).not.toContain('s3cr3t')
})
