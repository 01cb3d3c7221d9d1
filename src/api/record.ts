// Plain JSON objects, told from everything else.

export type JsonRecord = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// Undefined when the text is not JSON.
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// Whether everything that `part` says, `whole` says too: the fields of a record, the items of a list one by one.
export function isWithin(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part)) {
    return (
      Array.isArray(whole) && part.length === whole.length && part.every((item, index) => isWithin(item, whole[index]))
    )
  }
  if (isRecord(part)) {
    return (
      isRecord(whole) &&
      Object.entries(part).every(([name, value]) => value === undefined || isWithin(value, whole[name]))
    )
  }
  return Object.is(part, whole)
}
