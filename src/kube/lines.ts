// Cuts a stream of bytes into lines, however the bytes are chunked. Pure.

export interface Lines {
  push(chunk: Buffer): readonly string[]
  // What is left when the stream has ended; empty when it ended with a newline.
  rest(): string
}

const newline = 10

export function createLines(): Lines {
  let parts: Buffer[] = [] // of a line that has not ended yet
  return {
    push(chunk) {
      const lines: string[] = []
      let from = 0
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
        if (parts.length === 0) lines.push(chunk.toString('utf8', from, at))
        else {
          parts.push(chunk.subarray(from, at))
          lines.push(Buffer.concat(parts).toString('utf8'))
          parts = []
        }
        from = at + 1
      }
      if (from < chunk.length) parts.push(chunk.subarray(from))
      return lines
    },
    rest: () => Buffer.concat(parts).toString('utf8'),
  }
}
