import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readComplaint, readCredentials } from './answer.ts'

const answer = (inside: string) =>
  `<AssumeRoleResponse><AssumeRoleResult>${inside}</AssumeRoleResult></AssumeRoleResponse>`
const whole =
  '<Credentials><AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>a&amp;b&#x2f;c&#47;&lt;</SecretAccessKey><SessionToken> tok </SessionToken><Expiration>2026-11-16T12:00:00Z</Expiration></Credentials>'

test('credentials are read, and what is escaped is what it was', () => {
  const read = readCredentials(answer(whole))
  expect(read?.accessKeyId).toBe('ASIA1')
  expect(read?.secretAccessKey.open()).toBe('a&b/c/<')
  expect(read?.sessionToken?.open()).toBe('tok')
  expect(read?.expires).toEqual(new Date('2026-11-16T12:00:00Z'))
})

test.each<[string, string]>([
  ['no credentials', ''],
  ['no key', whole.replace(/<AccessKeyId>.*<\/AccessKeyId>/, '')],
  ['an empty secret', whole.replace(/<SecretAccessKey>.*<\/SecretAccessKey>/, '<SecretAccessKey/>')],
  ['no session', whole.replace(/<SessionToken>.*<\/SessionToken>/, '<SessionToken></SessionToken>')],
  ['an end that is no time', whole.replace('2026-11-16T12:00:00Z', 'soon')],
  ['an answer that breaks off', whole.slice(0, -9)],
])('with %s it is no answer', (_, inside) => {
  expect(readCredentials(answer(inside))).toBeUndefined()
})

test('a complaint is read', () => {
  const text =
    '<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>A &amp; B</Message></Error></ErrorResponse>'
  expect(readComplaint(text)).toEqual({ code: 'AccessDenied', message: 'A & B' })
  expect(readComplaint('<ErrorResponse><Error><Code>Throttling</Code></Error></ErrorResponse>')).toEqual({
    code: 'Throttling',
    message: '',
  })
  expect(readComplaint('<html>Bad gateway</html>')).toBeUndefined()
})

test('what is escaped in no known way stays as it is', () => {
  const odd = '&#x110000;&#;&#xzz;&nope;&'
  expect(readComplaint(`<Error><Code>X</Code><Message>${odd}</Message></Error>`)?.message).toBe(odd)
})

test('whatever comes, it is read or it is nothing', () => {
  const part = fc.constantFrom(
    '<Credentials>',
    '</Credentials>',
    '<Error>',
    '<Code>',
    '</Code>',
    '&#x110000;',
    '&#;',
    '&x;',
    'a',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(part, fc.string()), { maxLength: 12 }), (parts) => {
      const text = parts.join('')
      const complaint = readComplaint(text)
      expect(complaint === undefined || complaint.code !== '').toBe(true)
      expect(readCredentials(text)).toBeUndefined()
    }),
  )
})
