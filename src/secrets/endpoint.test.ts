import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Endpoint, readEndpoint, tellEndpoint, urlOf } from './endpoint.ts'

const eks = '0123456789ABCDEF.gr7.ap-northeast-1.eks.amazonaws.com'
const at = (host: string, port = 443): Endpoint => ({ host, port })

describe('an address is read as a template may write it', () => {
  test.each<[string, string, Endpoint]>([
    ['the URL that EKS gives', `https://${eks}`, at(eks.toLowerCase())],
    ['a URL with a port', 'https://api.example:6443', at('api.example', 6443)],
    ['a URL with the port that it has anyway', 'https://api.example:443', at('api.example')],
    ['a URL with a slash at its end', 'https://api.example/', at('api.example')],
    ['a URL with a path, which Cluster API has no place for', 'https://api.example/k8s', at('api.example')],
    ['a URL in capitals', 'HTTPS://API.Example', at('api.example')],
    ['a host', 'api.example', at('api.example')],
    ['a host of one word', 'localhost', at('localhost')],
    ['a host with a port', 'api.example:6443', at('api.example', 6443)],
    ['an address', '10.0.0.1', at('10.0.0.1')],
    ['an address with a port', '10.0.0.1:6443', at('10.0.0.1', 6443)],
    ['a long address', '2001:db8::1', at('2001:db8::1')],
    ['a long address in capitals and with zeros', '2001:0DB8:0:0::1', at('2001:db8::1')],
    ['a long address in brackets', '[2001:db8::1]', at('2001:db8::1')],
    ['a long address with a port', '[2001:db8::1]:6443', at('2001:db8::1', 6443)],
    ['a long address in a URL', 'https://[2001:DB8::1]:6443/', at('2001:db8::1', 6443)],
    ['anything with blanks around it', ' https://api.example\n', at('api.example')],
  ])('%s', (_, text, endpoint) => {
    expect(readEndpoint(text)).toEqual(endpoint)
  })
})

describe('what is no address is not taken for one', () => {
  test.each([
    ['nothing', ''],
    ['a blank', ' '],
    ['a sentence', 'not known yet'],
    ['without TLS', 'http://api.example'],
    ['another scheme', 'ftp://api.example'],
    ['a scheme alone', 'https://'],
    ['port 0', 'https://api.example:0'],
    ['a port that is none', 'https://api.example:70000'],
    ['a port in words', 'https://api.example:https'],
    ['a user', 'https://me@api.example'],
    ['a password', 'https://:s3cr3t@api.example'],
    ['a question', 'https://api.example/?token=s3cr3t'],
    ['a fragment', 'https://api.example/#here'],
    ['a number', '443'],
    ['half of an address', '10.1'],
    ['an address with a zone', 'fe80::1%eth0'],
    ['an underscore', 'my_api.example'],
    ['JSON', '"https://api.example"'],
    ['a host that is too long', 'a'.repeat(513)],
  ])('%s', (_, text) => {
    expect(readEndpoint(text)).toBeUndefined()
  })
})

test('what is told is read again the same', () => {
  const host = fc.oneof(
    fc.domain(),
    fc.ipV4(),
    fc.ipV6().map((address) => readEndpoint(address)?.host ?? address),
  )
  const port = fc.integer({ min: 1, max: 65_535 })
  fc.assert(
    fc.property(fc.record({ host, port }), (endpoint) => {
      expect(readEndpoint(tellEndpoint(endpoint))).toEqual(endpoint)
      expect(readEndpoint(urlOf(endpoint))).toEqual(endpoint)
    }),
  )
})

test('whatever is read, Cluster API takes', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.webUrl(), fc.ipV6()), (text) => {
      const { host = 'a', port = 1 } = readEndpoint(text) ?? {}
      expect(host).toMatch(/^[A-Za-z0-9.:-]{1,512}$/)
      expect(port > 0 && port < 65_536).toBe(true)
    }),
  )
})
