import { getCiphers } from 'node:tls'
import { expect, test } from 'vitest'
import { cipherSuites, tlsBounds } from './tls.ts'

const ofTls13 = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256'

test('every suite that is offered is one that Node has', () => {
  const { ciphers = '' } = tlsBounds('VersionTLS12', cipherSuites)
  for (const name of ciphers.split(':')) expect(getCiphers()).toContain(name.toLowerCase())
  expect(cipherSuites).toHaveLength(15)
})

test.each<[string, string[], string | undefined]>([
  ['none', [], undefined],
  ['one of TLS 1.2', ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'], `${ofTls13}:ECDHE-RSA-AES128-GCM-SHA256`],
  ['one of TLS 1.3', ['TLS_AES_256_GCM_SHA384'], ofTls13],
])('of %s Node is told', (_, suites, ciphers) => {
  expect(tlsBounds('VersionTLS13', suites)).toEqual({
    minVersion: 'TLSv1.3',
    ...(ciphers !== undefined && { ciphers }),
  })
})
