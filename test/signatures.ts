// AWS signatures as others make them: the signer of AWS's own SDK and aws4fetch. Ours is held against both.
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import { AwsV4Signer } from 'aws4fetch'

export interface PlainCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

export interface Signed {
  readonly url: string // without what signing adds
  readonly headers: Readonly<Record<string, string>>
  readonly region: string
  readonly credentials: PlainCredentials
  readonly now: Date
}

export async function presignedBySmithy({ url, headers, region, credentials, now }: Signed): Promise<URL> {
  const { query, ...request } = requestOf('GET', url, headers)
  const { 'X-Amz-Expires': expires, ...rest } = query
  const signed = await signer(region, credentials).presign(
    { ...request, query: rest },
    { signingDate: now, expiresIn: Number(expires) },
  )
  const result = new URL(url)
  for (const [name, value] of Object.entries(signed.query ?? {})) result.searchParams.set(name, String(value))
  return result
}

export async function presignedByAws4fetch({ url, headers, region, credentials, now }: Signed): Promise<URL> {
  const options = { method: 'GET', url, headers: { ...headers }, signQuery: true }
  const signed = await new AwsV4Signer({
    ...options,
    ...credentials,
    region,
    service: 'sts',
    datetime: stamp(now),
  }).sign()
  return signed.url
}

export async function postSignedBySmithy(signed: Signed & { readonly body: string }): Promise<string> {
  const { url, headers, region, credentials, now, body } = signed
  const request = { ...requestOf('POST', url, headers), body }
  const { headers: all } = await signer(region, credentials).sign(request, { signingDate: now })
  return all['authorization'] ?? ''
}

export async function postSignedByAws4fetch(signed: Signed & { readonly body: string }): Promise<string> {
  const { url, headers, region, credentials, now, body } = signed
  const options = { method: 'POST', url, headers: { ...headers }, body, allHeaders: true }
  const { headers: all } = await new AwsV4Signer({
    ...options,
    ...credentials,
    region,
    service: 'sts',
    datetime: stamp(now),
  }).sign()
  return all.get('authorization') ?? ''
}

function signer(region: string, credentials: PlainCredentials): SignatureV4 {
  return new SignatureV4({ service: 'sts', region, credentials, sha256: Sha256, applyChecksum: false })
}

function requestOf(method: string, text: string, headers: Readonly<Record<string, string>>) {
  const url = new URL(text)
  return {
    method,
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: { ...headers, host: url.host },
  }
}

function stamp(moment: Date): string {
  return moment.toISOString().replace(/[-:]|\.\d{3}/g, '')
}

// Node's, in the form that the signer asks for.
class Sha256 {
  readonly #hash: Hash | Hmac

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    const key = typeof secret === 'string' || ArrayBuffer.isView(secret) ? secret : secret && new Uint8Array(secret)
    this.#hash = key === undefined ? createHash('sha256') : createHmac('sha256', key as Uint8Array)
  }

  update(data: Uint8Array): void {
    this.#hash.update(data)
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }

  reset(): void {
    throw new Error('nobody asks for it')
  }
}
