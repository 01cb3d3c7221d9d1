// The faults, and what each does to an answer. `distort` is a function of the chunks that come from the API server:
// it yields what goes out to the client instead. Only `proxy.ts` touches a socket.

export type Fault =
  // Answers in the API server's stead, with a Status as it would write it. `isDone`: what was asked for happens all the same.
  | {
      readonly do: 'answer'
      readonly code: 409 | 410 | 422 | 429 | 500 | 503 | 504
      readonly retryAfterSeconds?: number
      readonly isDone?: true
    }
  // Passes the request on only after a while.
  | { readonly do: 'delay'; readonly ms: number }
  // In mid-stream: the TCP connection is reset, or (HTTP/2) only this stream of it.
  | { readonly do: 'reset'; readonly after?: Position; readonly only?: 'stream' }
  // Half-open: the connection stands and takes what it is sent, but nothing comes any more, not even an answer to a ping.
  | { readonly do: 'silence'; readonly after?: Position }
  // Cuts the line at this position in half, then ends the answer as if it were whole.
  | { readonly do: 'truncate'; readonly afterLines: number }
  // Holds lines back until so many have come, then sends them as one chunk; `glued` loses the newlines between them.
  | { readonly do: 'merge'; readonly lines: number; readonly glued?: true }
  // A watch that ends with an ERROR event: the resource version is too old.
  | { readonly do: 'expire'; readonly afterLines: number }
  // A few bytes at a time.
  | { readonly do: 'drip'; readonly bytes: number; readonly everyMs: number }

// Those that can befall a connection on which nothing has been asked yet.
export type ConnectFault = Extract<Fault, { do: 'delay' | 'reset' | 'silence' }>

export type Position = { readonly lines: number } | { readonly bytes: number }

export type Step =
  | { readonly send: Buffer }
  | { readonly waitMs: number }
  | { readonly end: 'whole' | 'reset' | 'reset stream' | 'silence' }

export async function* distort(chunks: AsyncIterable<Buffer>, fault: Fault | undefined): AsyncGenerator<Step> {
  yield* bodyOf(chunks, fault)
  yield { end: endOf(fault) }
}

async function* bodyOf(chunks: AsyncIterable<Buffer>, fault: Fault | undefined): AsyncGenerator<Step> {
  switch (fault?.do) {
    case undefined:
    case 'answer': // nothing of what the API server says is passed on
    case 'delay': // has passed before it did
      for await (const chunk of chunks) yield { send: chunk }
      break
    case 'reset':
    case 'silence':
      yield* upTo(chunks, fault.after ?? { bytes: 0 })
      break
    case 'expire':
      yield* upTo(chunks, { lines: fault.afterLines })
      yield { send: Buffer.from(`${JSON.stringify({ type: 'ERROR', object: statusOf(410) })}\n`) }
      break
    case 'truncate': {
      let passed = 0
      for await (const line of linesOf(chunks)) {
        const isCut = passed++ === fault.afterLines
        yield { send: isCut ? line.subarray(0, Math.ceil(line.length / 2)) : line }
        if (isCut) break
      }
      break
    }
    case 'merge': {
      let held: Buffer[] = []
      for await (const line of linesOf(chunks)) {
        held.push(fault.glued ? withoutNewline(line) : line)
        if (held.length < fault.lines) continue
        yield { send: Buffer.concat(held) }
        held = []
      }
      if (held.length > 0) yield { send: Buffer.concat(held) }
      break
    }
    case 'drip':
      for await (const chunk of chunks) {
        for (let at = 0; at < chunk.length; at += fault.bytes) {
          yield { send: chunk.subarray(at, at + fault.bytes) }
          yield { waitMs: fault.everyMs }
        }
      }
      break
  }
}

function endOf(fault: Fault | undefined): 'whole' | 'reset' | 'reset stream' | 'silence' {
  if (fault?.do === 'silence') return 'silence'
  if (fault?.do === 'reset') return fault.only ? 'reset stream' : 'reset'
  return 'whole'
}

async function* upTo(chunks: AsyncIterable<Buffer>, position: Position): AsyncGenerator<Step> {
  if ('lines' in position) {
    let passed = 0
    if (position.lines === 0) return
    for await (const line of linesOf(chunks)) {
      yield { send: line }
      if (++passed >= position.lines) return
    }
    return
  }
  let left = position.bytes
  if (left === 0) return
  for await (const chunk of chunks) {
    yield { send: chunk.subarray(0, left) }
    left -= chunk.length
    if (left <= 0) return
  }
}

// Whole lines, each with its newline; what is left at the end, as it is.
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0)
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk])
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      yield rest.subarray(0, at + 1)
      rest = rest.subarray(at + 1)
    }
  }
  if (rest.length > 0) yield rest
}

function withoutNewline(line: Buffer): Buffer {
  return line.at(-1) === 10 ? line.subarray(0, -1) : line
}

const reasons = {
  409: ['Conflict', 'the object has been modified; please apply your changes to the latest version and try again'],
  410: ['Expired', 'too old resource version'],
  422: ['Invalid', 'sendInitialEvents: Forbidden: not supported'],
  429: ['TooManyRequests', 'Too many requests, please try again later.'],
  500: ['InternalError', 'Internal error occurred'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: ['Timeout', 'request did not complete within requested timeout'],
} as const

export function statusOf(code: keyof typeof reasons, retryAfterSeconds?: number): object {
  const [reason, message] = reasons[code]
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, ...details, code }
}
