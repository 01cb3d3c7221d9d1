import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Extension, type KeyPair, type Name, newKeyPair, signed } from './x509.ts'

const [root, leaf] = [newKeyPair(), newKeyPair()]
const us = { commonName: 'us' }

function issued(subject: Name, { publicKey }: KeyPair, ...extensions: readonly Extension[]) {
  const valid = { from: Date.parse('2026-03-04T05:06:07Z'), to: Date.parse('2027-03-04T05:06:07Z') }
  return new X509Certificate(signed({ subject, issuer: us, ...valid, publicKey, extensions }, root.privateKey))
}
const authority = issued(us, root, { is: 'authority' })

test('an authority signs itself, and says that it is one', () => {
  expect(authority.ca).toBe(true)
  expect(authority.checkIssued(authority)).toBe(true)
  expect(authority.verify(root.publicKey)).toBe(true)
})

test('what an authority issues for a server has its names and addresses', () => {
  const server = issued(
    { commonName: 'api' },
    leaf,
    { is: 'leaf' },
    { is: 'server', names: ['localhost', '10.96.0.1'] },
  )
  expect(server.ca).toBe(false)
  expect(server.checkIssued(authority)).toBe(true)
  expect(server.verify(root.publicKey)).toBe(true)
  expect(server.verify(leaf.publicKey)).toBe(false)
  expect(server.checkPrivateKey(leaf.privateKey)).toBe(true)
  expect(server.subjectAltName).toBe('DNS:localhost, IP Address:10.96.0.1')
  expect(server.checkIP('10.96.0.1')).toBe('10.96.0.1')
  expect(server.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
})

test('what an authority issues for a client says who it is, and of which groups', () => {
  const client = issued({ commonName: 'jürgen', organizations: ['a', 'b'] }, leaf, { is: 'leaf' }, { is: 'client' })
  expect(client.subject).toBe('O=a\nO=b\nCN=jürgen')
  expect(client.issuer).toBe('CN=us')
  expect(client.subjectAltName).toBeUndefined()
  expect(client.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
})
