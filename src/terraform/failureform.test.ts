import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type Failed, tellFailure } from './failureform.ts'

const missing = `
Error: No value for required variable

  on main.tf line 1:
   1: variable "v" {
`
const failed = (differences: Partial<Failed> = {}): Failed => ({
  code: 1,
  err: missing,
  ended: 'byItself',
  ...differences,
})
const blobOf = (message: string) => /echo "([^"]*)"/.exec(message)?.[1] ?? ''
const unpacked = (message: string) => gunzipSync(Buffer.from(blobOf(message), 'base64')).toString()

test('a failed plan is told as the provider tells it', () => {
  const message = tellFailure('plan', failed())
  expect(message.replace(blobOf(message), '…')).toBe(
    'cannot diff (i.e. plan) Terraform configuration: Terraform encountered an error. Summary: No value for required variable. To see the full error run: echo "…" | base64 -d | gunzip',
  )
  expect(unpacked(message)).toBe(missing)
})

test.each([
  ['get', 'cannot get remote Terraform module'],
  ['init', 'cannot initialize Terraform configuration'],
  ['apply', 'cannot apply Terraform configuration'],
  ['destroy', 'cannot destroy Terraform configuration'],
  ['outputs', 'cannot list Terraform outputs'],
  ['forget', 'cannot delete Terraform workspace'],
] as const)('a failed %s in the words of the provider', (command, words) => {
  expect(tellFailure(command, failed())).toMatch(new RegExp(`^${words}: Terraform encountered an error\\. Summary: No`))
})

describe('the summary', () => {
  test.each<[string, Partial<Failed>, string]>([
    ['is the first error', { err: 'Warning: old\n\nError: one\n\nError: two\n' }, 'one'],
    ['is what was said when nothing was called an error', { err: '\n  panic: oh\ngoroutine 1\n' }, 'panic: oh'],
    ['says when nothing was said', { err: '', code: 9 }, 'it ended with code 9 and said nothing'],
    ['is of its last line, too', { err: 'Error: unfinished' }, 'unfinished'],
    ['says that time was up', { ended: 'timeout' }, 'it took longer than it may (--timeout) and was interrupted'],
    ['says that we stop', { ended: 'stopped' }, 'it was interrupted because the engine stops'],
  ])('%s', (_, differences, summary) => {
    expect(tellFailure('apply', failed(differences))).toContain(`Summary: ${summary}. To see`)
  })
})

test.each([
  ['that packs well', 'Error: first\n'.padEnd(5_000_000, 'again and again ')],
  ['that does not', `Error: first\n${randomBytes(200_000).toString('hex')}\nthe end`],
  ['in one line', `Error: ${randomBytes(100_000).toString('hex')}`],
])('however much was said, a text %s fits a condition and is whole in its form', (_, err) => {
  const message = tellFailure('apply', failed({ err }))
  expect(message.length).toBeLessThanOrEqual(30_000)
  expect(message.endsWith('" | base64 -d | gunzip')).toBe(true)
  expect(unpacked(message).slice(0, 12)).toBe(err.slice(0, 12))
  expect(unpacked(message).slice(-7)).toBe(err.slice(-7))
  expect(unpacked(message)).toContain('[…]')
})
