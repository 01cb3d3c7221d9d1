import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readAddress } from './address.ts'

test.each([
  [':8443', { port: 8443 }],
  ['0.0.0.0:9440', { host: '0.0.0.0', port: 9440 }],
  ['[::]:8443', { host: '::', port: 8443 }],
  ['[::1]:0', { host: '::1', port: 0 }],
  ['localhost:8080', { host: 'localhost', port: 8080 }],
  ['0', undefined],
])('%s is an address', (text, address) => {
  expect(readAddress(text)).toEqual(address)
})

test.each(['', '8443', ':', ':x', ':65536', ':-1', '::1:8443', '[::1]', '[host]:80', '[::1:80', 'a:b:80', ':80 '])(
  '%j is none, and it is said how to write one',
  (text) => {
    expect(() => readAddress(text)).toThrow('is no address: write :8443, 127.0.0.1:8443, [::1]:8443, or 0 for none')
  },
)

test('every port on every kind of host is read back', () => {
  const hosts = fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain())
  fc.assert(
    fc.property(hosts, fc.nat(65_535), (host, port) => {
      const text = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
      expect(readAddress(text)).toEqual({ host, port })
    }),
  )
})
