// What it means when AWS refuses: whether that passes by itself, and what to do when it does not.
import type { Sealed } from '../api/sealed.ts'
import type { Complaint } from './answer.ts'
import { AwsError } from './errors.ts'

export interface Refused {
  readonly doing: string
  readonly status: number
  readonly complaint: Complaint | undefined // none: the answer is not of AWS's form
  readonly secrets: readonly Sealed[] // that were sent
  readonly isRenewed: boolean // what we showed is renewed by itself when it has ended
  readonly mends: Readonly<Record<string, string>> // by AWS's word
}

const longest = 400

// AWS's own clients come again with InvalidIdentityToken, too: it may be that AWS cannot ask the issuer just now.
const passing =
  /^(Throttl|RequestLimit|TooManyRequests|RequestThrottled|RequestTimeout|IDPCommunicationError|InvalidIdentityToken)/
const ended = /^(ExpiredToken|ExpiredTokenException)$/

export function refusal({ doing, status, complaint, secrets, isRenewed, mends }: Refused): AwsError {
  if (!complaint) {
    const why = `the answer (${status}) is not one of AWS`
    return new AwsError({ doing, why, mend: 'see what stands between this process and AWS', isFinal: false })
  }
  const code = withoutSecrets(complaint.code, secrets)
  const message = withoutSecrets(complaint.message, secrets)
  const doesPass = status >= 500 || status === 429 || passing.test(code)
  const isRenewedAnyway = ended.test(code) && isRenewed
  const isFinal = !doesPass && !isRenewedAnyway
  const mend = isRenewedAnyway ? undefined : mends[code]
  const why = `${status}${code && ` ${code}`}${message && ` (${message})`}`
  return new AwsError({ doing, why, ...(mend !== undefined && { mend }), isFinal, code })
}

export function hasEnded(error: unknown): boolean {
  return error instanceof AwsError && ended.test(error.code)
}

// AWS tells the request again where it finds a signature wrong, with the session token in it.
function withoutSecrets(text: string, secrets: readonly Sealed[]): string {
  const scrubbed = secrets
    .map((secret) => secret.open())
    .flatMap((secret) => [secret, new URLSearchParams([['', secret]]).toString().slice(1)])
    .filter((secret) => secret !== '')
    .reduce((left, secret) => left.replaceAll(secret, '***'), text)
    .replace(/\s+/g, ' ')
    .trim()
  return scrubbed.length > longest ? `${scrubbed.slice(0, longest)}…` : scrubbed
}
