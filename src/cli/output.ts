// What a process writes to, as far as a drawing must know it: how large it is, whether it has colours and which letters.
import type { Output } from './tree.ts'

interface Stream {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  on(event: 'resize', call: () => void): unknown
  off(event: 'resize', call: () => void): unknown
}

export function outputOf(stream: Stream, env: NodeJS.ProcessEnv, isColourWanted: boolean): Output {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  const isTerminal = stream.isTTY === true && env['TERM'] !== 'dumb'
  return {
    write: (text) => void stream.write(text),
    size: () => (isTerminal ? { columns: stream.columns || 80, rows: stream.rows || 24 } : undefined),
    isColoured: isTerminal && isColourWanted && !env['NO_COLOR'],
    isUnicode: /utf-?8/i.test(locale),
    onResize(call) {
      stream.on('resize', call)
      return () => void stream.off('resize', call)
    },
  }
}
