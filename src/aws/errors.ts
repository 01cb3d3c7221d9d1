// What can go wrong with an AWS identity, as one error that prints as a sentence. It never carries a key, a token, a body or
// a header.

export interface Trouble {
  readonly doing: string // what was tried: "assume the role arn:…"
  readonly why: string // what AWS said, or what broke
  readonly mend?: string // what to do about it
  readonly isFinal: boolean
  readonly code?: string // AWS's word for it: AccessDenied
}

export class AwsError extends Error {
  readonly isFinal: boolean // somebody must mend something; what is not final passes by itself
  readonly code: string

  constructor({ doing, why, mend, isFinal, code = '' }: Trouble, options?: ErrorOptions) {
    super(`cannot ${doing}: ${why}${mend === undefined ? '' : `: ${mend}`}`, options)
    this.name = 'AwsError'
    this.isFinal = isFinal
    this.code = code
  }
}
