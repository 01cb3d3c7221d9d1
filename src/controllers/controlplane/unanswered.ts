// Why the API server of a cluster gave no good answer: one sentence that says what it was and what to do. Whatever the other side
// wrote, no credential is in it. Pure.
import { shortened } from '../../api/text.ts'
import { ApiError } from '../../kube/errors.ts'
import { Unreachable } from '../../kube/wire.ts'
import type { Way } from '../../secrets/kubeconfig.ts'
import { scrub } from '../../terraform/scrub.ts'
import type { No } from './seen.ts'

const mostBytes = 500

export function unanswered(error: ApiError, way: Way): No {
  if (error.code !== undefined) return { ...no(refusal(error, way)), ...(error.code === 401 && { isRejected: true }) }
  const broke = whatBroke(error)
  const code = broke instanceof Error && 'code' in broke ? String(broke.code) : ''
  const known = troubles.find(({ codes }) => codes.test(code))
  if (!known) return no(quoted(error.message, way))
  return { ...no(known.tell(way)), ...(known.isSilent && { isSilent: true }) }
}

export function silent({ server }: Way, seconds: number): No {
  const why = `${hostOf(server)} did not answer within ${seconds} seconds: see whether a VPN, a route or a firewall is between it and here`
  return { ...no(why), isSilent: true }
}

function no(why: string): No {
  return { is: 'no', why }
}

function refusal({ code, message }: ApiError, way: Way): string {
  if (code === 401)
    return 'it does not take the credential (401): let this identity in, which in EKS an access entry does'
  const told = quoted(message, way)
  return code === 403 ? `it knows the credential, which may do too little: make it an administrator (${told})` : told
}

interface Trouble {
  readonly codes: RegExp // of Node
  readonly isSilent?: true
  tell(way: Way): string
}

const troubles: readonly Trouble[] = [
  {
    codes: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    tell: ({ server, serverName = hostOf(server) }) =>
      `its certificate is not for ${serverName}: see whether ${hostOf(server)} leads to this cluster`,
  },
  {
    codes: /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    tell: () => 'its certificate is not valid today: renew it, or correct the clock here',
  },
  {
    codes: /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|INVALID_CA$|INVALID_PURPOSE$)/,
    tell: () =>
      'its certificate is not of the CA that the template told: see whether output cluster_certificate_authority_data is of this cluster',
  },
  {
    codes: /^ERR_OSSL_/,
    tell: () => 'the client certificate cannot be shown: see whether client-key-data is the key of it',
  },
  {
    codes: /^ERR_SSL_.*_ALERT_(.*CERTIFICATE.*|UNKNOWN_CA|ACCESS_DENIED)$/,
    tell: () => 'it does not take the client certificate: let its CA be one that the cluster knows, or give a token',
  },
  {
    codes: /^(ERR_SSL_|EPROTO$)/,
    tell: ({ server }) => `${hostOf(server)} does not speak TLS as an API server does: see whether the port is right`,
  },
  {
    codes: /^(ENOTFOUND|EAI_AGAIN)$/,
    isSilent: true,
    tell: ({ server }) =>
      `nobody here knows where ${hostOf(server)} is: see whether its name is right, and whether DNS here knows names of that network`,
  },
  {
    codes: /^ECONNREFUSED$/,
    isSilent: true,
    tell: ({ server }) => `nobody listens at ${hostOf(server)}: see whether address and port are right`,
  },
  {
    codes: /^(EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/,
    isSilent: true,
    tell: ({ server }) =>
      `no way leads to ${hostOf(server)}: see whether a VPN, a route or a firewall is between it and here`,
  },
  {
    codes: /^(ECONNRESET|EPIPE)$/,
    tell: ({ server }) =>
      `${hostOf(server)} breaks connections off: see whether a firewall is in between, or whether it wants another client certificate`,
  },
]

// Below what our own client says of it. What a proxy says is a sentence already, whatever is below that.
function whatBroke(error: unknown): unknown {
  return error instanceof ApiError || error instanceof Unreachable ? whatBroke(error.cause) : error
}

// A gateway may well quote what was sent to it.
function quoted(text: string, { token, key }: Way): string {
  const secrets = [token, key].flatMap((each) => (each ? [each.open()] : []))
  return shortened(scrub(text, secrets).replaceAll(/\s+/g, ' ').trim(), mostBytes)
}

function hostOf(server: string): string {
  return new URL(server).host
}
