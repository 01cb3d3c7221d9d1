// X.509 certificates of P-256 keys, written in DER by hand: no library that does it is smaller.
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

export interface Draft {
  readonly subject: Name
  readonly issuer: Name
  readonly from: number // milliseconds
  readonly to: number
  readonly publicKey: KeyObject
  readonly extensions: readonly Extension[]
}

// In Kubernetes the common name of a client is its user, each organization a group.
export interface Name {
  readonly commonName: string
  readonly organizations?: readonly string[]
}

export type Extension =
  | { readonly is: 'authority' } // who signs others
  | { readonly is: 'leaf' }
  | { readonly is: 'server'; readonly names: readonly string[] } // DNS, or IPv4
  | { readonly is: 'client' }

export interface KeyPair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

export function newKeyPair(): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

// As PEM.
export function signed(draft: Draft, signingKey: KeyObject): string {
  const { subject, issuer, from, to, publicKey, extensions } = draft
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))
  const toBeSigned = sequence(
    der(0xa0, integer(Buffer.of(2))), // version 3
    integer(Buffer.concat([Buffer.of(0x40), randomBytes(15)])), // a serial number must be positive
    ecdsaWithSha256,
    nameOf(issuer),
    sequence(time(from), time(to)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions.flatMap(extended))),
  )
  const signature = der(0x03, Buffer.of(0), sign('sha256', toBeSigned, signingKey))
  const body = sequence(toBeSigned, ecdsaWithSha256, signature).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${body.replaceAll(/.{64}/g, '$&\n').trimEnd()}\n-----END CERTIFICATE-----\n`
}

function extended(each: Extension): readonly Buffer[] {
  switch (each.is) {
    case 'authority':
      return [
        extension('551d0f', 'critical', der(0x03, Buffer.of(2, 0x84))), // key usage: digital signature, certificates
        extension('551d13', 'critical', sequence(yes)), // basic constraints: an authority
      ]
    case 'leaf':
      return [
        extension('551d0f', 'critical', der(0x03, Buffer.of(7, 0x80))), // key usage: digital signature
        extension('551d13', 'critical', sequence()), // basic constraints: no authority
      ]
    case 'server':
      return [
        extension('551d25', '', sequence(oid('2b06010505070301'))), // extended key usage: server
        extension('551d11', '', sequence(...each.names.map(alternative))),
      ]
    case 'client':
      return [extension('551d25', '', sequence(oid('2b06010505070302')))]
  }
}

function alternative(name: string): Buffer {
  return isIPv4(name) ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, name)
}

function nameOf({ commonName, organizations = [] }: Name): Buffer {
  const part = (hex: string, value: string) => der(0x31, sequence(oid(hex), der(0x0c, value)))
  return sequence(...organizations.map((each) => part('55040a', each)), part('550403', commonName))
}

// From 2050 on the year has four digits (RFC 5280, 4.1.2.5).
function time(milliseconds: number): Buffer {
  const text = `${new Date(milliseconds).toISOString().replaceAll(/\D/g, '').slice(0, 14)}Z`
  return text < '2050' ? der(0x17, text.slice(2)) : der(0x18, text)
}

function extension(hex: string, critical: 'critical' | '', value: Buffer): Buffer {
  return sequence(oid(hex), ...(critical ? [yes] : []), der(0x04, value))
}

// A tag, the length, the content. Lengths from 128 on are told in so many bytes.
function der(tag: number, ...content: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(content.map((part) => Buffer.from(part)))
  const size = body.length.toString(16)
  const bytes = Buffer.from(size.length % 2 ? `0${size}` : size, 'hex')
  return Buffer.concat([body.length < 128 ? Buffer.of(tag) : Buffer.of(tag, 0x80 + bytes.length), bytes, body])
}

const yes = der(0x01, Buffer.of(0xff))
const sequence = (...content: readonly Buffer[]) => der(0x30, ...content)
const integer = (bytes: Buffer) => der(0x02, bytes)
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
