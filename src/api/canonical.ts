// JSON in one form, whatever order its keys were written in, and a hash of it. What is undefined is left out, as JSON does; nothing
// else is: a field with its default is not the same as no field.
import { hash } from 'node:crypto'

export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
}

// 32 hexadecimal digits: short enough for a name, and long enough that nobody can make two values with the same.
export function hashOf(value: unknown): string {
  return hash('sha256', canonical(value), 'hex').slice(0, 32)
}
