// What cannot be had, as a sentence that says what to do; the engine tells it as `connect failed: …`.
export class InputsError extends Error {
  override readonly name = 'InputsError'
}
