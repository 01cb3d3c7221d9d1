// What a JSON value must not hold, because it would not reach Terraform as it is. Types are judged elsewhere.

// Where and why, in a sentence; undefined: the value can be passed on. The value itself is never told: it may be a secret.
export function unsafeIn(value: unknown, at = 'value'): string | undefined {
  const waiting: [unknown, string][] = [[value, at]] // a list of our own: a value nested without end must not exhaust the stack
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [each, place] = next
    if (typeof each === 'string' && each !== each.normalize('NFC'))
      return `${place} is not in Unicode's normal form NFC, into which Terraform would bring it: write it so`
    if (typeof each === 'number' && Number.isInteger(each) && !Number.isSafeInteger(each))
      return `${place} is an integer beyond 2^53, which JSON readers round: write it as text`
    if (Array.isArray(each)) waiting.push(...each.map((item, index): [unknown, string] => [item, `${place}[${index}]`]))
    else if (typeof each === 'object' && each !== null)
      for (const [key, item] of Object.entries(each)) {
        waiting.push([item, `${place}.${key}`], [key, `a key of ${place}`])
      }
  }
  return undefined
}
