// One X.509 certificate for serving, self-signed, written in DER by hand. Whoever wants a checked one brings files.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { type Sealed, seal } from '../api/sealed.ts'

export interface Certificate {
  readonly certificate: string // PEM
  readonly key: Sealed // PEM
}

const validDays = 365

export function selfSigned(names: readonly string[], now: Date): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))
  const us = sequence(set(sequence(oid('550403'), der(0x0c, 'capt'))))
  // An hour for clocks that are behind.
  const [from, to] = [now.getTime() - 3_600_000, now.getTime() + validDays * 86_400_000]
  const toBeSigned = sequence(
    der(0xa0, integer(Buffer.of(2))), // version 3
    integer(Buffer.concat([Buffer.of(0x40), randomBytes(15)])), // a serial number must be positive
    ecdsaWithSha256,
    us,
    sequence(time(from), time(to)),
    us,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        extension('551d0f', 'critical', der(0x03, Buffer.of(7, 0x80))), // key usage: digital signature
        extension('551d13', 'critical', sequence()), // basic constraints: no authority
        extension('551d25', '', sequence(oid('2b06010505070301'))), // extended key usage: server
        extension('551d11', '', sequence(...names.map((name) => der(0x82, name)))), // alternative names: DNS
      ),
    ),
  )
  const signature = der(0x03, Buffer.of(0), sign('sha256', toBeSigned, privateKey))
  const body = sequence(toBeSigned, ecdsaWithSha256, signature).toString('base64')
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${body.replaceAll(/.{64}/g, '$&\n').trimEnd()}\n-----END CERTIFICATE-----\n`,
    key: seal(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
  }
}

// A tag, the length, the content. Lengths from 128 on are told in so many bytes.
function der(tag: number, ...content: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(content.map((part) => Buffer.from(part)))
  const size = body.length.toString(16)
  const bytes = Buffer.from(size.length % 2 ? `0${size}` : size, 'hex')
  return Buffer.concat([body.length < 128 ? Buffer.of(tag) : Buffer.of(tag, 0x80 + bytes.length), bytes, body])
}

const sequence = (...content: readonly Buffer[]) => der(0x30, ...content)
const set = (...content: readonly Buffer[]) => der(0x31, ...content)
const integer = (bytes: Buffer) => der(0x02, bytes)
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))

// From 2050 on the year has four digits (RFC 5280, 4.1.2.5).
function time(milliseconds: number): Buffer {
  const text = `${new Date(milliseconds).toISOString().replaceAll(/\D/g, '').slice(0, 14)}Z`
  return text < '2050' ? der(0x17, text.slice(2)) : der(0x18, text)
}

function extension(hex: string, critical: 'critical' | '', value: Buffer): Buffer {
  const isCritical = critical ? [der(0x01, Buffer.of(0xff))] : []
  return sequence(oid(hex), ...isCritical, der(0x04, value))
}
