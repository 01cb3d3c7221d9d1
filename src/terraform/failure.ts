// Reads what an engine says when Terraform failed: what went wrong in one line, of which class it is, and what to do. Pure.

export type FailureClass = 'quota' | 'credentials' | 'dependency' | 'timeout' | 'lock' | 'syntax' | 'unknown'

export interface Failure {
  readonly step: 'connect' | 'observe' | 'create' | 'update' | 'delete' | undefined
  readonly summary: string // one line, at most 400 characters
  readonly class: FailureClass
  readonly hint: string // what to do
  readonly text: string // all of it, at most 64 KiB
}

// The message of `Synced=False`. `secrets` are values that must not be seen, beside what looks like a secret.
export declare function readFailure(message: string, secrets?: readonly string[]): Failure
