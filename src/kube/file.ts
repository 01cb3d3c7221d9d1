// A file that others replace while we run: its text as it is now, read again when the file changed and at latest every
// minute. It is never written here.
import { readFileSync, statSync } from 'node:fs'

export interface TrackedFile {
  text(): string // trimmed, never empty; throws a sentence
  forget(): void
}

interface Reading {
  readonly text: string
  readonly stamp: string
  readonly at: number
}

const longestMs = 60_000 // for a change that neither time, size nor place of the file betrays

export function trackFile(path: string, what: string, now: () => number): TrackedFile {
  let last: Reading | undefined
  return {
    text() {
      try {
        last = read(path, last, now())
      } catch (error) {
        // In the middle of being replaced: what was good a moment ago is, most likely, good still.
        if (!last) throw new Error(`cannot read ${what}: ${error instanceof Error && error.message}`, { cause: error })
      }
      return last.text
    },
    forget() {
      last = undefined
    },
  }
}

function read(path: string, last: Reading | undefined, at: number): Reading {
  const { mtimeMs, size, ino } = statSync(path) // before the text: a change between the two is seen the next time
  const stamp = `${mtimeMs} ${size} ${ino}`
  if (last?.stamp === stamp && at - last.at < longestMs) return last
  const text = readFileSync(path, 'utf8').trim()
  if (!text) throw new Error(`${path} is empty`)
  return { text, stamp, at }
}
