// As much of AWS as the manager calls: STS, and the agent of EKS Pod Identity, on one port. It takes only what is signed as
// AWS's SDK signs it, and breaks when it is told to.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { Certified } from './bed/certificates.ts'
import { type PlainCredentials, postSignedBySmithy } from './signatures.ts'

export interface Asked {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly fields: Readonly<Record<string, string>> // of the form
  readonly body: string
}

// Befalls the next question.
export type Mishap =
  | { readonly do: 'answer'; readonly status: number; readonly body: string | ((asked: Asked) => string) }
  | { readonly do: 'silence' } // takes the question, says nothing
  | { readonly do: 'cut' } // in the middle of its answer
  | { readonly do: 'wait'; readonly until: Promise<void> }

export interface StandIn {
  readonly url: string
  readonly asked: Asked[]
  readonly mishaps: Mishap[]
  readonly given: PlainCredentials[] // the latest last; all of them may sign
}

export interface Knows {
  readonly users?: readonly PlainCredentials[] // besides those it gives
  readonly region?: string
  readonly webIdentity?: () => string // the token it takes
  readonly podIdentity?: () => string
  readonly lastsMs?: number
  readonly tls?: Certified
  now(): number
}

export async function startAws(knows: Knows): Promise<StandIn> {
  const asked: Asked[] = []
  const mishaps: Mishap[] = []
  const given: PlainCredentials[] = []
  let url = ''

  function give(): PlainCredentials & { readonly expiration: string } {
    const nth = given.length + 1
    // With every sign that must be escaped somewhere.
    const fresh = {
      accessKeyId: `ASIA${nth}`,
      secretAccessKey: `secret/${nth}+&<"'>=`,
      sessionToken: `session/${nth}+=&`,
    }
    given.push(fresh)
    return { ...fresh, expiration: new Date(knows.now() + (knows.lastsMs ?? 3_600_000)).toISOString() }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const question = {
      path: request.url ?? '',
      headers: request.headers,
      fields: Object.fromEntries(new URLSearchParams(body)),
      body,
    }
    asked.push(question)
    const mishap = mishaps.shift()
    if (mishap?.do === 'silence') return
    if (mishap?.do === 'wait') await mishap.until
    const said = mishap?.do === 'answer' ? told(mishap, question) : await answer(question)
    response.writeHead(said.status, { 'content-length': Buffer.byteLength(said.body) })
    if (mishap?.do !== 'cut') return void response.end(said.body)
    response.write(said.body.slice(0, 20), () => request.socket.destroy())
  }

  async function answer({ path, headers, fields, body }: Asked): Promise<{ status: number; body: string }> {
    if (path === '/v1/credentials') {
      if (headers.authorization !== knows.podIdentity?.())
        return { status: 400, body: '[7f3a]: (InvalidTokenException): the token is not known, fault: client\n' }
      const { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: Token, expiration } = give()
      return { status: 200, body: JSON.stringify({ AccessKeyId, SecretAccessKey, Token, Expiration: expiration }) }
    }
    if (fields['Version'] !== '2011-06-15' || !fields['RoleArn'] || !fields['RoleSessionName'])
      return complaint(400, 'ValidationError', 'something is missing')
    if (fields['Action'] === 'AssumeRoleWithWebIdentity') {
      if (headers.authorization !== undefined) return complaint(400, 'ValidationError', 'this is not signed')
      const isKnown = fields['WebIdentityToken'] === knows.webIdentity?.()
      return isKnown ? { status: 200, body: granted(give()) } : complaint(400, 'InvalidIdentityToken', 'not known')
    }
    const region = knows.region ?? 'ap-northeast-1'
    const who = [...(knows.users ?? []), ...given].find(({ accessKeyId }) =>
      headers.authorization?.includes(`Credential=${accessKeyId}/`),
    )
    if (!who) return complaint(403, 'InvalidClientTokenId', 'The security token included in the request is invalid.')
    const date = String(headers['x-amz-date'])
    const now = new Date(date.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))
    const sent = { 'content-type': headers['content-type'] ?? '' }
    const mine = await postSignedBySmithy({ url: `${url}${path}`, headers: sent, region, credentials: who, now, body })
    if (mine !== headers.authorization || headers['x-amz-security-token'] !== who.sessionToken)
      return complaint(
        403,
        'SignatureDoesNotMatch',
        `The Canonical String should have been\n${JSON.stringify(headers)}`,
      )
    return { status: 200, body: granted(give()) }
  }

  const listener = (request: IncomingMessage, response: ServerResponse) => void serve(request, response)
  const server = knows.tls ? createTlsServer({ ...knows.tls }, listener) : createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  url = `${knows.tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, asked, mishaps, given }
}

// As STS words it.
export function complaint(status: number, code: string, message: string): { status: number; body: string } {
  const error = `<Error><Type>Sender</Type><Code>${code}</Code><Message>${escaped(message)}</Message></Error>`
  const body = `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">\n  ${error}\n  <RequestId>7f3a</RequestId>\n</ErrorResponse>`
  return { status, body }
}

function told({ status, body }: Extract<Mishap, { do: 'answer' }>, asked: Asked): { status: number; body: string } {
  return { status, body: typeof body === 'string' ? body : body(asked) }
}

function granted({
  accessKeyId,
  secretAccessKey,
  sessionToken = '',
  expiration,
}: PlainCredentials & { expiration: string }): string {
  return `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleResult>
    <AssumedRoleUser><AssumedRoleId>AROA:capt</AssumedRoleId><Arn>arn:aws:sts::111122223333:assumed-role/capt/capt</Arn></AssumedRoleUser>
    <Credentials>
      <AccessKeyId>${accessKeyId}</AccessKeyId>
      <SecretAccessKey>${escaped(secretAccessKey)}</SecretAccessKey>
      <SessionToken>${escaped(sessionToken)}</SessionToken>
      <Expiration>${expiration}</Expiration>
    </Credentials>
  </AssumeRoleResult>
</AssumeRoleResponse>`
}

function escaped(value: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return value.replace(/[&<>"']/g, (sign) => names[sign] ?? '')
}
