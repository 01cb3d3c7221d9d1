import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scrub } from './scrub.ts'

describe('what looks like a secret is taken out:', () => {
  test.each([
    ['an AWS access key', 'key AKIAIOSFODNN7EXAMPLE.', 'key ***.'],
    ['an AWS secret key', 'is wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY now', 'is *** now'],
    ['an AWS session token', `t=IQoJ${'b3JpZ2luX2Vj'.repeat(9)}== x`, 't=*** x'],
    ['a signed URL', 'GET https://a/?X-Amz-Signature=0a1b2c&x=1', 'GET https://a/?X-Amz-Signature=***&x=1'],
    ['a bearer token', 'Authorization: Bearer abc.def-12345', 'Authorization: Bearer ***'],
    ['a JSON web token', 'got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln here', 'got *** here'],
    ['a token of GitHub', `with ghp_${'a1'.repeat(18)}`, 'with ***'],
    ['a password in an address', 'clone https://me:s3cret@example.com/x', 'clone https://me:***@example.com/x'],
    ['a password', '  master_password = "a \\"b\\" c" # x', '  master_password = "***" # x'],
    ['a password in JSON', '{"db_password": "x", "a": 1}', '{"db_password": "***", "a": 1}'],
    ['a password in the environment', 'TF_VAR_api_key=abc def', 'TF_VAR_api_key=*** def'],
    ['a private key', 'a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nb', 'a\n***\nb'],
    ['a private key without its end', 'a -----BEGIN PRIVATE KEY-----\nMIIE', 'a ***'],
  ])('%s', (_, text, scrubbed) => {
    expect(scrub(text)).toBe(scrubbed)
  })
})

describe('what does not is left:', () => {
  test.each([
    ['a commit', 'at 3b18e512dba79e4c8300dd08aeb37f8e728b8dad'],
    ['an ARN', 'arn:aws:iam::123456789012:role/capt-Engine2'],
    ['a certificate', '-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----'],
    ['an error that speaks of tokens', 'Error: Invalid token: The security token is expired'],
    ['a reference', 'Reference to undeclared resource'],
  ])('%s', (_, text) => {
    expect(scrub(text)).toBe(text)
  })
})

describe('a value that is known to be secret is taken out', () => {
  test.each([
    ['wherever it is', 'a=hunter22,hunter22', 'a=***,***', ['hunter22']],
    ['where it is quoted', 'x = "a\\"b\\\\c"', 'x = "***"', ['a"b\\c']],
    ['where it is wrapped', 'got correct horse\n│ battery staple', 'got ***', ['correct horse battery staple']],
    ['line by line', '   1: first line\n', '   1: ***\n', ['first line\nsecond line']],
    ['but not where a line of it is a word', 'the data of', 'the data of', ['data\nsecond line']],
    ['before a shorter one within it', 'abcdefgh abcd', '*** ***', ['abcd', 'abcdefgh']],
    ['whatever signs it has', 'a.*+?^${}()|[]\\/-b', '***', ['a.*+?^${}()|[]\\/-b']],
    ['unless it is so short that nothing could be read', 'a true story', 'a true story', ['a', 'tru', '']],
  ])('%s', (_, text, scrubbed, secrets) => {
    expect(scrub(text, secrets)).toBe(scrubbed)
  })

  test('from any text', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ minLength: 6 }), fc.string(), (before, secret, after) => {
        fc.pre(secret.trim().length >= 4)
        const left = scrub(before + secret + after, [secret]).split('***')
        expect(left.filter((each) => each.includes(secret.trim()))).toEqual([])
      }),
    )
  })

  test('also what is left of a long one that output was cut in', () => {
    const secret = Array.from({ length: 100 }, (_, index) => `sesame${index}opens`).join(' ')
    expect(scrub(`before ${secret.slice(700)} after`, [secret])).toMatch(/^before .{0,64}\*{3} after$/)
  })

  // Words are what a wrapped text is cut into; a line of one word is all of it.
  const aSecret = fc.oneof(
    fc.string({ minLength: 8, maxLength: 60 }),
    fc.array(fc.string({ minLength: 8, maxLength: 20 }), { minLength: 1, maxLength: 9000 }).map((all) => all.join(' ')),
    fc.array(fc.string({ minLength: 8, maxLength: 99 }), { minLength: 1, maxLength: 900 }).map((all) => all.join('\n')),
    fc.string({ minLength: 8, maxLength: 60 }).map((each) => each.repeat(2000)),
  )
  const asPrinted: readonly ((secret: string) => string)[] = [
    (secret) => secret,
    (secret) => JSON.stringify(secret),
    (secret) => secret.replace(/ /g, '\n│ '),
    (secret) => secret.replace(/^/gm, '  12: '),
  ]

  test('from a megabyte of text, at once, whatever it is and however it is printed', () => {
    const flat = (text: string) => text.replace(/[\s│]+/g, ' ').trim()
    fc.assert(
      fc.property(
        fc.array(fc.record({ secret: aSecret, print: fc.constantFrom(...asPrinted) }), { minLength: 1, maxLength: 5 }),
        fc.string(),
        (all, noise) => {
          const secrets = all.map(({ secret }) => secret)
          const text = all.map(({ secret, print }) => `${noise} ${print(secret)} ${noise}`).join('\n')
          const started = performance.now()
          const left = scrub(text.padEnd(2 ** 20, `${noise}.\n`), secrets)
          expect(performance.now() - started).toBeLessThan(5000)
          const pieces = left.split('***').map(flat)
          const lines = secrets.flatMap((secret) => [secret, ...secret.split('\n')]).map(flat)
          const known = lines.filter((each) => each.length >= 8)
          expect(known.filter((each) => pieces.some((one) => one.includes(each)))).toEqual([])
        },
      ),
      { numRuns: 20 },
    )
  })

  test.each<[string, string, readonly string[]]>([
    ['many values, none of which is there', '0123456789 abcdef\n'.repeat(60_000), numbered('a value ')],
    ['many values, all of which are there', numbered('secret-').join(' ').repeat(3), numbered('secret-')],
    ['a text without an end to its likeness', 'a'.repeat(2 ** 20), ['a'.repeat(100_000), `${'a'.repeat(100_000)}b`]],
    ['ten thousand words', 'x '.repeat(2 ** 19), [numbered('word').join(' ')]],
    ['a quote that is never closed', `password = "${'x'.repeat(2 ** 20)}`, []],
  ])('in reasonable time: %s', (_, text, secrets) => {
    const started = performance.now()
    const left = scrub(text, secrets)
    expect(performance.now() - started).toBeLessThan(3000)
    expect(secrets.slice(0, 100).filter((each) => left.includes(each))).toEqual([])
  })
})

function numbered(word: string): readonly string[] {
  return Array.from({ length: 20_000 }, (_, index) => `${word}${index + 100_000}`)
}
