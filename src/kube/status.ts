// How an API server says no: a Status. Read once, here, into an ApiError.
import type { Resource } from '../api/resource.ts'
import { ApiError } from './errors.ts'

// meta.k8s.io/v1 Status: what we read of it.
interface Status {
  readonly kind: 'Status'
  readonly code?: number
  readonly reason?: string
  readonly message?: string
  readonly details?: { readonly name?: string; readonly kind?: string; readonly retryAfterSeconds?: number }
}

interface Refused {
  readonly doing: string
  readonly code: number
  readonly body: unknown
  readonly retryAfter?: string | undefined // the header
  readonly resource?: Pick<Resource, 'plural'> | undefined
}

const goNotFound = '404 page not found\n'

export function refusal({ doing, code, body, retryAfter, resource }: Refused): ApiError {
  // Of a group that it does not serve the API server says so in Go's words, not in a Status.
  if (code === 404 && body === goNotFound) {
    return new ApiError({ doing, code, reason: 'NotFound', message: 'the API server serves no such group or version' })
  }
  const seconds = retryAfter === undefined ? Number.NaN : Number(retryAfter)
  if (!isStatus(body)) {
    // Not the API server's own words: something between us and it. What it wrote may be a whole page.
    const message = 'and no reason was given; is there a proxy or load balancer in between?'
    return new ApiError({ doing, code, message, ...(seconds >= 0 && { retryAfterSeconds: seconds }) })
  }
  const { name, kind, retryAfterSeconds = seconds } = body.details ?? {}
  const isAboutIt = kind === undefined || resource === undefined || kind === resource.plural
  return new ApiError({
    doing,
    code: body.code ?? code,
    ...(body.reason !== undefined && { reason: body.reason }),
    message: body.message ?? 'without a message',
    ...(name !== undefined && { about: isAboutIt ? name : `${kind} ${name}` }),
    ...(retryAfterSeconds >= 0 && { retryAfterSeconds }),
  })
}

function isStatus(body: unknown): body is Status {
  return typeof body === 'object' && body !== null && 'kind' in body && body.kind === 'Status'
}
