// Asks STS for the credentials of a role: in the name of others (AssumeRole), or with a token of an identity provider that the
// role trusts (AssumeRoleWithWebIdentity). It keeps nothing.
import type { Sealed } from '../api/sealed.ts'
import { readComplaint, readCredentials } from './answer.ts'
import { type Around, call } from './call.ts'
import { AwsError } from './errors.ts'
import { stsHost } from './partition.ts'
import { refusal } from './refusal.ts'
import { type Credentials, type Headers, signPost } from './signature.ts'

export interface Role {
  readonly roleARN: string
  readonly sessionName: string // who it was, in CloudTrail
  readonly region: string // where STS is asked
}

export interface AssumedBy {
  readonly externalID: string | undefined
  readonly credentials: Credentials
  readonly told: string // where they come from: "the environment"
  readonly isRenewed: boolean // they are, by themselves, when they have ended
}

interface Wish extends Role {
  readonly doing: string
  readonly fields: Readonly<Record<string, string>>
  readonly secrets: readonly Sealed[]
  readonly isRenewed: boolean
  readonly mends: Readonly<Record<string, string>>
  headersOf(url: URL, body: string): Headers
}

const form: Headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }

export async function assumeRole(role: Role, by: AssumedBy, around: Around): Promise<Credentials> {
  const { roleARN, region } = role
  const { externalID, credentials, told, isRenewed } = by
  const renew = `renew the credentials of ${told}`
  return ask(
    {
      ...role,
      doing: `assume the role ${roleARN}`,
      fields: { Action: 'AssumeRole', ...(externalID !== undefined && { ExternalId: externalID }) },
      secrets: [credentials.secretAccessKey, ...(credentials.sessionToken ? [credentials.sessionToken] : [])],
      isRenewed,
      mends: {
        AccessDenied: `let the role trust the identity of ${told} (with its external id, if it asks for one), and let that identity do sts:AssumeRole on it`,
        ValidationError: 'correct the ARN of the role and the external id',
        InvalidClientTokenId: renew,
        UnrecognizedClientException: renew,
        ExpiredToken: renew,
        ExpiredTokenException: renew,
        SignatureDoesNotMatch: `correct the secret access key of ${told}, or the clock of this machine`,
        ...regional(region),
      },
      headersOf: (url, body) =>
        signPost({ url, headers: form, body }, { region, credentials, now: new Date(around.now()) }),
    },
    around,
  )
}

export async function assumeRoleWithWebIdentity(role: Role, token: Sealed, around: Around): Promise<Credentials> {
  const { roleARN, region } = role
  return ask(
    {
      ...role,
      doing: `assume the role ${roleARN} with a web identity`,
      fields: { Action: 'AssumeRoleWithWebIdentity', WebIdentityToken: token.open() },
      secrets: [token],
      isRenewed: true,
      mends: {
        AccessDenied: 'let the role trust this service account: its namespace and name stand in the trust policy',
        InvalidIdentityToken:
          "make the management cluster's OIDC issuer an identity provider in the account of the role, for the audience of the token",
        IDPRejectedClaim: 'let the role trust this service account and the audience of its token',
        ValidationError: 'correct AWS_ROLE_ARN and AWS_ROLE_SESSION_NAME',
        ...regional(region),
      },
      headersOf: () => form,
    },
    around,
  )
}

function regional(region: string): Readonly<Record<string, string>> {
  return {
    RegionDisabledException: `activate STS in ${region} for the account, or name another region in AWS_REGION`,
  }
}

async function ask(wish: Wish, around: Around): Promise<Credentials> {
  const { doing, fields, roleARN, sessionName, region, secrets, isRenewed, mends, headersOf } = wish
  const url = endpointOf(region, doing, around.env)
  const body = new URLSearchParams({
    Version: '2011-06-15',
    ...fields,
    RoleArn: roleARN,
    RoleSessionName: sessionName,
  }).toString()
  const { status, text } = await call({ doing, method: 'POST', url, headers: headersOf(url, body), body }, around)
  const credentials = status === 200 ? readCredentials(text) : undefined
  if (credentials) return credentials
  throw refusal({ doing, status, complaint: readComplaint(text), secrets, isRenewed, mends })
}

function endpointOf(region: string, doing: string, env: NodeJS.ProcessEnv): URL {
  const name = env['AWS_ENDPOINT_URL_STS'] ? 'AWS_ENDPOINT_URL_STS' : 'AWS_ENDPOINT_URL'
  const told = env[name]
  const url = URL.parse(told || `https://${stsHost(region)}/`)
  if (url && ['https:', 'http:'].includes(url.protocol)) return url
  throw new AwsError({
    doing,
    why: `${name} is not a URL`,
    mend: 'write one such as https://sts.example',
    isFinal: true,
  })
}
