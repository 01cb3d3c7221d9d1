// A drawing on a terminal that is drawn again in its place. It does not know what it shows.
import { widthOf } from './columns.ts'

export interface Terminal {
  write(text: string): void
  size(): { readonly columns: number; readonly rows: number }
}

export interface Screen {
  show(lines: readonly string[]): void
  close(): void // the last drawing stays
}

const escape = '\u001B['
const hideCursor = `${escape}?25l`
const showCursor = `${escape}?25h`
const clearLine = `${escape}K`
const clearBelow = `${escape}J`

export function createScreen({ write, size }: Terminal): Screen {
  let shown: readonly string[] = []
  write(hideCursor)
  return {
    // In one write: nothing flickers.
    show(lines) {
      // A line that is wider than the terminal takes several rows, and after a resize other ones than before.
      const { columns } = size()
      const rows = shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0)
      const up = rows > 0 ? `${escape}${rows}A` : ''
      write(`${up}\r${lines.map((line) => `${line}${clearLine}\n`).join('')}${clearBelow}`)
      shown = lines
    },
    close: () => write(showCursor),
  }
}

// As much of it as fits on a screen; what comes last is never cut.
export function fitting(first: readonly string[], last: readonly string[], rows: number): readonly string[] {
  const room = rows - last.length - 1 // the cursor stands below
  if (first.length <= room) return [...first, ...last]
  const kept = Math.max(1, room - 1)
  return [...first.slice(0, kept), `(and ${first.length - kept} more lines)`, ...last]
}
