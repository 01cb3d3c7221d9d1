import { createPrivateKey, X509Certificate } from 'node:crypto'
import { connect, createServer, type TLSSocket } from 'node:tls'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { type Certificate, selfSigned } from './certificate.ts'

const service = 'capt-metrics.appthrust-capt-system.svc'
const now = new Date('2026-03-04T05:06:07Z')

test('it says whose it is, for which names, and how long', () => {
  const { certificate, key } = selfSigned(['localhost', service], now)
  const x509 = new X509Certificate(certificate)
  expect(x509.subject).toBe('CN=capt')
  expect(x509.issuer).toBe('CN=capt')
  expect(x509.subjectAltName).toBe(`DNS:localhost, DNS:${service}`)
  expect(x509.checkHost(service)).toBe(service)
  expect(x509.checkHost('elsewhere')).toBeUndefined()
  expect(new Date(x509.validFrom)).toEqual(new Date('2026-03-04T04:06:07Z'))
  expect(new Date(x509.validTo)).toEqual(new Date('2027-03-04T05:06:07Z'))
  expect(x509.ca).toBe(false)
  expect(x509.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
  expect(x509.verify(x509.publicKey)).toBe(true)
  expect(x509.checkPrivateKey(createPrivateKey(key.open()))).toBe(true)
  expect(x509.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
  expect(JSON.stringify({ key })).toBe('{"key":"***"}')
})

test('no two have the same number', () => {
  const numbers = [1, 2, 3].map(() => new X509Certificate(selfSigned(['a'], now).certificate).serialNumber)
  expect(new Set(numbers).size).toBe(3)
  for (const number of numbers) expect(number).toMatch(/^40[0-9A-F]{30}$/)
})

test.each(['2049-06-01T00:00:00Z', '2050-06-01T00:00:00Z'])('it is dated well from %s on', (from) => {
  const x509 = new X509Certificate(selfSigned(['a'], new Date(from)).certificate)
  expect(new Date(x509.validTo).getTime() - new Date(from).getTime()).toBe(365 * 86_400_000)
})

test('it can be read with any names, few or many, short or long', () => {
  const names = fc.array(fc.domain(), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(names, (all) => {
      const x509 = new X509Certificate(selfSigned(all, now).certificate)
      expect(x509.subjectAltName).toBe(all.map((name) => `DNS:${name}`).join(', '))
      expect(x509.verify(x509.publicKey)).toBe(true)
    }),
    { numRuns: 50 },
  )
})

test.each(['TLSv1.2', 'TLSv1.3'] as const)('a client that trusts it speaks %s with us', async (version) => {
  const pair = selfSigned(['localhost'], new Date())
  const port = await served(pair)
  const { authorized, protocol } = await handshake({ port, ca: pair.certificate, version, servername: 'localhost' })
  expect({ authorized, protocol }).toEqual({ authorized: true, protocol: version })
})

test('a client that trusts another, or looks for another name, does not', async () => {
  const pair = selfSigned(['localhost'], new Date())
  const port = await served(pair)
  const other = selfSigned(['localhost'], new Date()).certificate
  const version = 'TLSv1.3'
  await expect(handshake({ port, ca: other, version, servername: 'localhost' })).rejects.toThrow(
    /self-signed|signature/,
  )
  await expect(handshake({ port, ca: pair.certificate, version, servername: 'elsewhere' })).rejects.toThrow(/altnames/)
})

async function served({ certificate, key }: Certificate): Promise<number> {
  const server = createServer({ cert: certificate, key: key.open() }, (socket) =>
    socket.on('error', () => undefined).end(),
  )
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => void server.close())
  return (server.address() as { port: number }).port
}

interface Call {
  readonly port: number
  readonly ca: string
  readonly version: 'TLSv1.2' | 'TLSv1.3'
  readonly servername: string
}

async function handshake({ port, ca, version, servername }: Call) {
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const opened: TLSSocket = connect(
      { host: '127.0.0.1', port, ca, servername, minVersion: version, maxVersion: version },
      () => resolve(opened),
    )
    opened.on('error', reject)
  })
  const { authorized } = socket
  const protocol = socket.getProtocol()
  socket.destroy()
  return { authorized, protocol }
}
