// What cannot be had, as a sentence that says what to do; the engine tells it as `connect failed: …`.
export class InputsError extends Error {
  readonly isMissing: boolean // it is not there (any more); otherwise it is refused

  constructor(message: string, { isMissing = false, ...options }: ErrorOptions & { isMissing?: boolean } = {}) {
    super(message, options)
    this.name = 'InputsError'
    this.isMissing = isMissing
  }
}
