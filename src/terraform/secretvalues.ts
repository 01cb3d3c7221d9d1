// The values in a text from a Secret that must not be seen when a command prints one of them: the text, its lines, and what
// stands in them as a value. Pure.
import { isRecord } from '../api/record.ts'

export const shortest = 8 // anything shorter is found in every other word

export function valuesIn(text: string): readonly string[] {
  const found = new Set([text, ...linesOf(text), ...leavesOf(parsed(text))].filter((each) => each.length >= shortest))
  return [...found]
}

// `name = value`, `name: value`, "quoted", https://user:password@host
function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/).flatMap((untrimmed) => {
    const line = untrimmed.trim()
    const assigned = /^(?:-\s+)?[\w.-]+\s*[=:]\s*(.*)$/.exec(line)?.[1] ?? ''
    const quoted = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, inner = '']) => inner)
    const password = /:\/\/[^/@\s]*?:([^/@\s]+)@/.exec(line)?.[1] ?? ''
    return [line, assigned, password, ...quoted]
  })
}

function leavesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value, ...linesOf(value)]
  if (typeof value === 'number') return [String(value)]
  if (Array.isArray(value)) return value.flatMap(leavesOf)
  return isRecord(value) ? Object.values(value).flatMap(leavesOf) : []
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
