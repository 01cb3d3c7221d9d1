// What a JSON value must not hold, because it would not reach Terraform as it is. Types are judged elsewhere.

const deepest = 200 // deeper than anybody writes, and far from where the stack of a reader ends

// Where and why, in a sentence; undefined: the value can be passed on. The value itself is never told: it may be a secret.
export function unsafeIn(value: unknown, at = 'value'): string | undefined {
  const waiting: [unknown, string, number][] = [[value, at, 0]] // a list of our own: a value nested without end must not exhaust the stack
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [each, place, depth] = next
    if (depth > deepest) return `${at} has more than ${deepest} lists and objects within each other: make it flatter`
    if (typeof each === 'string' && !each.isWellFormed())
      return `${place} holds half a character, which no text in Unicode can: write the whole of it`
    if (typeof each === 'string' && each !== each.normalize('NFC'))
      return `${place} is not in Unicode's normal form NFC, into which Terraform would bring it: write it so`
    if (typeof each === 'number' && !Number.isFinite(each))
      return `${place} is larger than any number that can be passed on: write it as text`
    if (typeof each === 'number' && Number.isInteger(each) && !Number.isSafeInteger(each))
      return `${place} is an integer beyond 2^53, which JSON readers round: write it as text`
    if (Array.isArray(each))
      for (const [index, item] of each.entries()) waiting.push([item, `${place}[${index}]`, depth + 1])
    else if (typeof each === 'object' && each !== null)
      for (const [key, item] of Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
        waiting.push([item, `${place}.${key}`, depth + 1], [key, `a key of ${place}`, depth])
      }
  }
  return undefined
}
