// AWS's Signature Version 4, as STS wants it: a URL that carries its signature, and a POST that is signed in its headers.
// It asks nobody: what is signed here is sent elsewhere.
import { createHash, createHmac } from 'node:crypto'
import type { Sealed } from '../api/sealed.ts'

export interface Credentials {
  readonly accessKeyId: string // the name of the key: it stands in the clear in every request
  readonly secretAccessKey: Sealed
  readonly sessionToken?: Sealed
  readonly expires?: Date // none: they do not end, or nobody says when
}

export interface Signing {
  readonly region: string
  readonly credentials: Credentials
  readonly now: Date
}

export interface Presigned {
  readonly url: URL
  readonly headers: Headers // to be sent with the URL, exactly so
  readonly expiresSeconds: number
}

export interface Post {
  readonly url: URL
  readonly headers: Headers
  readonly body: string
}

export type Headers = Readonly<Record<string, string>> // names in small letters

type Pairs = readonly (readonly [string, string])[]

interface Canonical {
  readonly method: string
  readonly url: URL
  readonly query: string
  readonly headers: Headers
  readonly body: string
}

const algorithm = 'AWS4-HMAC-SHA256'
const service = 'sts'

// The URL of a GET that whoever holds it may ask, with those headers and no others.
export function presign({ url, headers, expiresSeconds }: Presigned, by: Signing): string {
  const { accessKeyId, sessionToken } = by.credentials
  const signed = { ...headers, host: url.host }
  const query = canonicalQuery([
    ...url.searchParams,
    ['X-Amz-Algorithm', algorithm],
    ['X-Amz-Credential', `${accessKeyId}/${scopeOf(by)}`],
    ['X-Amz-Date', stampOf(by.now)],
    ['X-Amz-Expires', String(expiresSeconds)],
    ['X-Amz-SignedHeaders', namesOf(signed)],
    ...(sessionToken ? [['X-Amz-Security-Token', sessionToken.open()] as const] : []),
  ])
  const signature = sign({ method: 'GET', url, query, headers: signed, body: '' }, by)
  return `${url.origin}${url.pathname}?${query}&X-Amz-Signature=${signature}`
}

// All headers of the POST, `host` among them.
export function signPost({ url, headers, body }: Post, by: Signing): Headers {
  const { accessKeyId, sessionToken } = by.credentials
  const signed = {
    ...headers,
    host: url.host,
    'x-amz-date': stampOf(by.now),
    ...(sessionToken && { 'x-amz-security-token': sessionToken.open() }),
  }
  const query = canonicalQuery([...url.searchParams])
  const signature = sign({ method: 'POST', url, query, headers: signed, body }, by)
  const who = `Credential=${accessKeyId}/${scopeOf(by)}`
  return { ...signed, authorization: `${algorithm} ${who}, SignedHeaders=${namesOf(signed)}, Signature=${signature}` }
}

function sign(request: Canonical, by: Signing): string {
  const text = [algorithm, stampOf(by.now), scopeOf(by), sha256(canonicalRequest(request))].join('\n')
  return hmac(signingKey(by), text).toString('hex')
}

function canonicalRequest({ method, url, query, headers, body }: Canonical): string {
  const path = encode(url.pathname).replaceAll('%2F', '/') // encoded a second time: only S3 is content with once
  const lines = Object.keys(headers)
    .toSorted()
    .map((name) => `${name}:${(headers[name] ?? '').trim().replace(/\s+/g, ' ')}\n`)
  return [method, path, query, lines.join(''), namesOf(headers), sha256(body)].join('\n')
}

function signingKey({ region, credentials, now }: Signing): Buffer {
  const secret: Buffer = Buffer.from(`AWS4${credentials.secretAccessKey.open()}`)
  return [dayOf(now), region, service, 'aws4_request'].reduce((key, step) => hmac(key, step), secret)
}

function scopeOf({ region, now }: Signing): string {
  return [dayOf(now), region, service, 'aws4_request'].join('/')
}

function namesOf(headers: Headers): string {
  return Object.keys(headers).toSorted().join(';')
}

function canonicalQuery(pairs: Pairs): string {
  return pairs
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1)) // no name comes twice
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

// Everything but letters, digits and -._~ (RFC 3986).
function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (left) => `%${left.charCodeAt(0).toString(16).toUpperCase()}`)
}

function stampOf(moment: Date): string {
  return `${moment.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
}

function dayOf(moment: Date): string {
  return stampOf(moment).slice(0, 8)
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text, 'utf8').digest()
}
