// Files that hold keys and tokens: for their owner only.
import { writeFileSync } from 'node:fs'

// Writes the text and returns the path, as arguments of programs want it.
export function privateFile(path: string, text: string): string {
  writeFileSync(path, text, { mode: 0o600 })
  return path
}
