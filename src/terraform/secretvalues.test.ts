import { expect, test } from 'vitest'
import { valuesIn } from './secretvalues.ts'

test.each<[string, string, readonly string[]]>([
  ['a token', 'abcdefgh12345', ['abcdefgh12345']],
  ['what is too short to be told from a word', 'hunter2', []],
  [
    'the lines of an INI file, and their values',
    '[default]\naws_secret_access_key = wJalrXUtnFEMI\n',
    ['aws_secret_access_key = wJalrXUtnFEMI', 'wJalrXUtnFEMI'],
  ],
  ['the values of a tfvars file', 'password = "s3cret-pass"\n', ['s3cret-pass']],
  ['a JSON document at any depth', '{"a":{"b":["long-secret-1",12345678]}}', ['long-secret-1', '12345678']],
  ['a line within a text within JSON', '{"key":"-----BEGIN-----\\nMIIEvAIBADANBg\\n"}', ['MIIEvAIBADANBg']],
  ['the password of an address', 'https://someone:ghp_token123@example.com', ['ghp_token123']],
  ['YAML', 'users:\n- token: bearer-token-1\n', ['bearer-token-1']],
])('hides %s', (_, text, values) => {
  const found = valuesIn(text)
  expect(found).toEqual(expect.arrayContaining([...values]))
  expect(found.includes(text)).toBe(text.length >= 8)
  expect(found.every((value) => value.length >= 8)).toBe(true)
})
