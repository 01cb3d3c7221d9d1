// Reads what STS answers. Its XML is flat and has no attributes that matter: an element is found by its name.
import { seal } from '../api/sealed.ts'
import type { Credentials } from './signature.ts'

export interface Complaint {
  readonly code: string
  readonly message: string
}

// None: that is no answer of STS.
export function readCredentials(xml: string): Credentials | undefined {
  const said = elementOf(xml, 'Credentials')
  return said === undefined
    ? undefined
    : credentialsOf({
        accessKeyId: textOf(said, 'AccessKeyId'),
        secretAccessKey: textOf(said, 'SecretAccessKey'),
        sessionToken: textOf(said, 'SessionToken'),
        expiration: textOf(said, 'Expiration'),
      })
}

export interface Written {
  readonly accessKeyId: string | undefined
  readonly secretAccessKey: string | undefined
  readonly sessionToken: string | undefined
  readonly expiration: string | undefined
}

// Credentials of a session: all four, or none.
export function credentialsOf(written: Written): Credentials | undefined {
  const { accessKeyId, secretAccessKey, sessionToken, expiration = '' } = written
  const expires = new Date(expiration)
  if (!accessKeyId || !secretAccessKey || !sessionToken || Number.isNaN(expires.getTime())) return undefined
  return { accessKeyId, secretAccessKey: seal(secretAccessKey), sessionToken: seal(sessionToken), expires }
}

export function readComplaint(xml: string): Complaint | undefined {
  const said = elementOf(xml, 'Error') ?? ''
  const code = textOf(said, 'Code')
  return code ? { code, message: textOf(said, 'Message') ?? '' } : undefined
}

function elementOf(xml: string, name: string): string | undefined {
  const from = xml.indexOf(`<${name}>`)
  const to = xml.indexOf(`</${name}>`, from)
  return from < 0 || to < 0 ? undefined : xml.slice(from + name.length + 2, to)
}

function textOf(xml: string, name: string): string | undefined {
  return elementOf(xml, name)
    ?.trim()
    .replace(/&(#x?)?(\w+);/g, unescape)
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescape(whole: string, kind: string | undefined, name: string): string {
  if (kind === undefined) return named[name] ?? whole
  const code = Number.parseInt(name, kind === '#x' ? 16 : 10)
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole
}
