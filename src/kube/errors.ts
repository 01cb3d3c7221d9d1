// What can go wrong when an API server is asked, as one error that prints as a sentence. It never carries a body that was
// sent, a header or a credential.

export interface Trouble {
  readonly doing: string // what was tried: "apply Workspace default/demo"
  readonly code?: number // of the answer; none: there was no answer
  readonly reason?: string // the API server's word for it: NotFound, Conflict, Invalid
  readonly message: string // what it said, or what broke
  readonly about?: string // the name of the object the answer is about
  readonly retryAfterSeconds?: number
  readonly isUnreachable?: boolean // there was not even a connection
}

export class ApiError extends Error {
  readonly code: number | undefined
  readonly reason: string
  readonly about: string | undefined
  readonly retryAfterSeconds: number | undefined
  readonly isUnreachable: boolean

  constructor(trouble: Trouble, options?: ErrorOptions) {
    const { doing, code, reason = '', message, about, retryAfterSeconds, isUnreachable = false } = trouble
    super(`cannot ${doing}: ${code === undefined ? '' : `${code} `}${message}`, options)
    this.name = 'ApiError'
    this.code = code
    this.reason = reason
    this.about = about
    this.retryAfterSeconds = retryAfterSeconds
    this.isUnreachable = isUnreachable
  }
}

// The object is not there. A 404 for a kind or a namespace that is not there, or from something between us and the API
// server, says nothing of the object: only the API server's own word about that very name does.
export function isNotFound(error: unknown, name: string): boolean {
  return error instanceof ApiError && error.code === 404 && error.reason === 'NotFound' && error.about === name
}

// The kind is not served (its CRD is not there, or not yet), in the API server's own words.
export function isNotServed(error: unknown): boolean {
  return error instanceof ApiError && error.code === 404 && error.reason !== '' && error.about === undefined
}

export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === 409 && error.reason !== 'AlreadyExists'
}

// An apply met fields that somebody else has set, and did not come by force: that does not pass by itself.
export function isContested(error: unknown): boolean {
  return error instanceof ApiError && error.code === 409 && /Apply failed with \d+ conflict/.test(error.message)
}

// The API server will not have it, today or tomorrow: somebody must change something. What passes by itself is none of these.
export function isRefused(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || error.isUnreachable) return false
  const { code = 500 } = error
  return code >= 400 && code < 500 && ![401, 408, 409, 429].includes(code)
}

export function isAlreadyThere(error: unknown): boolean {
  return error instanceof ApiError && error.reason === 'AlreadyExists'
}

// The resource version is too old: list again.
export function isExpired(error: unknown): boolean {
  return error instanceof ApiError && error.code === 410
}

// A write that was not sent, because another leads or may lead by now.
export class NotLeading extends Error {}
