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
})
