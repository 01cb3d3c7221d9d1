// Plain JSON objects, told from everything else.

export type JsonRecord = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
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
  return part === whole
}

// The merge patch that makes `before` into `after`. A null cannot be written that way: it counts as nothing.
export function mergePatch(before: JsonRecord, after: JsonRecord): JsonRecord {
  const patch: Record<string, unknown> = {}
  for (const name of Object.keys(before)) if ((after[name] ?? null) === null) patch[name] = null
  for (const [name, value] of Object.entries(after)) {
    const old = before[name]
    if ((value ?? null) === null) continue
    if (isRecord(value)) {
      const within = mergePatch(isRecord(old) ? old : {}, value)
      if (!isRecord(old) || Object.keys(within).length > 0) patch[name] = within
    } else if (!isWithin(value, old) || !isWithin(old, value)) patch[name] = value
  }
  return patch
}
