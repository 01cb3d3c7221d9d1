// The connection to an API server: HTTP/2, or HTTP/1.1 where the other side speaks no other. Made when first needed, made
// anew when it breaks, pinged while it stands, so that a half-open one is noticed. Knows nothing of Kubernetes.
//
// Guarantees. A question is asked again by itself only when the other side has provably not begun it (refused, or above
// the last stream a GOAWAY names), or when it only reads and a kept HTTP/1.1 connection turned out to be closed. `ask`
// settles once: resolves when the answer ended whole, throws when it broke. After `close` nothing is left: no socket, no
// timer, no listener.
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import http2 from 'node:http2'
import type { Socket } from 'node:net'
import type { Access } from './access.ts'
import { type Dialled, dial } from './dial.ts'

export interface Question {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
  readonly answerWithinMs: number // its beginning
  readonly endWithinMs?: number // its end; none: it may go on for ever
  // Asked just before it is sent, when no wait is left; throws if it must not be.
  readonly mayBeSent?: () => void
}

export interface Head {
  readonly status: number
  readonly headers: IncomingHttpHeaders
}

// Says, knowing how an answer begins, who takes its chunks. What a taker throws breaks the answer off.
export type Open = (head: Head) => (chunk: Buffer) => void

export interface Wire {
  ask(question: Question, open: Open): Promise<void>
  // The next question goes over a new connection, with credentials read anew.
  renew(): void
  close(): void
}

export interface WireOptions {
  readonly protocols?: readonly ('h2' | 'http/1.1')[] // in the order of our liking
  readonly pingEveryMs?: number
  readonly pingWithinMs?: number
}

const attempts = 3

// Bytes that may be under way to us. An API server ends watches whose events it cannot get rid of within a moment: with the 64 KiB
// that HTTP/2 begins with, a burst of a dozen objects is enough while we are busy. A stream has what Go's clients give it.
const streamWindow = 4 * 1024 * 1024
const connectionWindow = 64 * 1024 * 1024

// There is not even a connection.
export class Unreachable extends Error {}

class NotBegun extends Error {
  readonly why: Error
  constructor(why: Error) {
    super(why.message)
    this.why = why
  }
}

interface Line {
  ask(question: Question, open: Open): Promise<void>
  isUsable(): boolean
  retire(): void // takes no more questions; those asked may end
  destroy(): void
}

export function createWire(access: Access, options: WireOptions = {}): Wire {
  const { protocols = ['h2', 'http/1.1'], pingEveryMs = 5000, pingWithinMs = 5000 } = options
  const lines = new Set<Line>()
  const closing = new AbortController()
  let current: Promise<Line> | undefined

  async function connect(): Promise<Line> {
    const dialled = await dial(access, protocols, closing.signal).catch((error: unknown) => {
      throw new Unreachable(error instanceof Error ? error.message : String(error), { cause: error })
    })
    const forget = () => lines.delete(line)
    const line =
      dialled.protocol === 'h2'
        ? multiplexed(access.server.origin, dialled.socket, { pingEveryMs, pingWithinMs, forget })
        : oneByOne(access, dialled, { closing: closing.signal, forget })
    lines.add(line)
    return line
  }

  async function lineInUse(signal: AbortSignal | undefined): Promise<Line> {
    for (let attempt = 1; attempt <= attempts; attempt++) {
      closing.signal.throwIfAborted()
      const connecting = (current ??= connect())
      const leave = () => {
        if (current === connecting) current = undefined
      }
      connecting.catch(leave) // whether or not anybody still waits for it
      const line = await unlessCalledOff(connecting, signal)
      if (line.isUsable()) return line
      leave()
    }
    throw new Unreachable('connections are closed as soon as they are made')
  }

  return {
    async ask(question, open) {
      for (let attempt = 1; ; attempt++) {
        question.signal?.throwIfAborted()
        const line = await lineInUse(question.signal)
        try {
          return await line.ask(question, open)
        } catch (error) {
          if (!(error instanceof NotBegun)) throw error
          if (attempt === attempts) throw error.why
        }
      }
    },
    renew() {
      current = undefined
      for (const line of lines) line.retire()
    },
    close() {
      closing.abort(new Error('the connection was closed'))
      current = undefined
      for (const line of lines) line.destroy()
      lines.clear()
    },
  }
}

// What others may wait for, too, goes on.
async function unlessCalledOff<T>(awaited: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return awaited
  return new Promise((resolve, reject) => {
    const callOff = () => reject(reasonOf(signal))
    signal.addEventListener('abort', callOff)
    awaited.then(resolve, reject).finally(() => signal.removeEventListener('abort', callOff))
  })
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error('called off')
}

// Settles once, and takes its timers and listeners with it.
function settling(question: Question, breakOff: (error: Error) => void, done: (error?: Error) => void) {
  let isSettled = false
  const giveUp = (what: string, ms: number) => () => fail(new Error(`${what} within ${ms / 1000} s`))
  const answer = setTimeout(giveUp('no answer', question.answerWithinMs), question.answerWithinMs)
  const { endWithinMs, signal } = question
  const end =
    endWithinMs === undefined ? undefined : setTimeout(giveUp('no end of the answer', endWithinMs), endWithinMs)
  const callOff = () => signal && fail(reasonOf(signal))
  signal?.addEventListener('abort', callOff)
  if (signal?.aborted) queueMicrotask(callOff) // while the connection was made
  function settle(error?: Error): void {
    if (isSettled) return
    isSettled = true
    clearTimeout(answer)
    clearTimeout(end)
    signal?.removeEventListener('abort', callOff)
    done(error)
  }
  function fail(error: Error): void {
    if (isSettled) return
    settle(error)
    breakOff(error)
  }
  return { settle, fail, begun: () => clearTimeout(answer) }
}

function handOn(take: (chunk: Buffer) => void, chunk: Buffer, fail: (error: Error) => void): void {
  try {
    take(chunk)
  } catch (error) {
    fail(error instanceof Error ? error : new Error(String(error)))
  }
}

interface Pinged {
  readonly pingEveryMs: number
  readonly pingWithinMs: number
  forget(): void
}

// HTTP/2: everything over one connection.
function multiplexed(origin: string, socket: Socket, { pingEveryMs, pingWithinMs, forget }: Pinged): Line {
  const settings = { enablePush: false, initialWindowSize: streamWindow }
  const session = http2.connect(origin, { createConnection: () => socket, settings })
  session.once('connect', () => session.setLocalWindowSize(connectionWindow))
  let isUsable = true
  let refusedAbove = Number.POSITIVE_INFINITY
  let lastWord: Error | undefined // why the connection broke
  const end = () => {
    isUsable = false
    clearInterval(pinging)
    socket.destroy() // a session that was destroyed before it connected keeps its socket
    forget()
  }
  session.on('error', (error: Error) => {
    lastWord ??= error
  })
  session.on('goaway', (_code: number, lastStream: number) => {
    isUsable = false
    refusedAbove = Math.min(refusedAbove, lastStream)
  })
  session.on('close', end)
  socket.on('error', (error) => {
    lastWord ??= error
  })
  // A connection that does not answer a ping is dead, whatever the kernel believes.
  const pinging = setInterval(() => {
    if (session.destroyed) return
    const late = setTimeout(() => {
      lastWord ??= new Error(`no answer to a ping within ${pingWithinMs / 1000} s`)
      session.destroy(lastWord)
    }, pingWithinMs)
    // Throws when the connection ended since the timer was set.
    try {
      session.ping(() => clearTimeout(late))
    } catch {
      clearTimeout(late)
    }
  }, pingEveryMs)

  return {
    isUsable: () => isUsable && !session.closed && !session.destroyed,
    retire() {
      isUsable = false
      session.close()
    },
    destroy() {
      session.destroy()
      end()
    },
    ask: async (question, open) =>
      new Promise((resolve, reject) => {
        question.mayBeSent?.()
        const { method, path, headers, body } = question
        let stream: http2.ClientHttp2Stream
        try {
          stream = session.request({ ...headers, ':method': method, ':path': path }, { endStream: body === undefined })
        } catch (error) {
          return reject(new NotBegun(new Error('the connection is gone', { cause: error })))
        }
        const { settle, fail, begun } = settling(
          question,
          () => stream.close(http2.constants.NGHTTP2_CANCEL),
          (error) => (error ? reject(error) : resolve()),
        )
        let take: ((chunk: Buffer) => void) | undefined
        let trouble: Error | undefined
        const early: Buffer[] = [] // when both come at once, Node may tell what is in an answer before how it begins
        stream.on('response', (answered) => {
          begun()
          take = open({ status: answered[':status'] ?? 0, headers: answered })
          for (const chunk of early.splice(0)) handOn(take, chunk, fail)
        })
        stream.on('data', (chunk: Buffer) => {
          if (take) handOn(take, chunk, fail)
          else early.push(chunk)
        })
        stream.on('error', (error: Error) => {
          trouble ??= error
        })
        stream.on('close', () => {
          if (stream.rstCode === http2.constants.NGHTTP2_NO_ERROR && take && stream.readableEnded && !trouble)
            return settle()
          const cause = lastWord ?? trouble ?? new Error(`the stream was closed with code ${stream.rstCode}`)
          const isRefused =
            stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM ||
            (stream.id ?? Number.POSITIVE_INFINITY) > refusedAbove
          settle(isRefused && !take ? new NotBegun(cause) : cause)
        })
        if (body !== undefined) stream.end(body)
      }),
  }
}

type Handed = (error: Error | null, socket?: Socket) => void

function handOver(dialling: Promise<Dialled>, done: Handed): void {
  dialling.then(
    ({ socket }) => setImmediate(done, null, socket),
    (error: Error) => setImmediate(done, error),
  )
}

// HTTP/1.1: a connection a question, kept for the next one.
function oneByOne(
  access: Access,
  first: Dialled,
  { closing, forget }: { readonly closing: AbortSignal; forget(): void },
): Line {
  let asking = 0
  let spare: Socket | undefined = first.socket
  let isUsable = true
  // A spare connection that ends before its use must not end the process.
  first.socket.on('error', () => {})
  const agent = new HttpAgent({ keepAlive: true, maxFreeSockets: 4 })
  // The types know only connections that are there at once.
  Object.assign(agent, {
    createConnection(_options: object, done: Handed) {
      const ready = spare && !spare.destroyed ? spare : undefined
      spare = undefined
      if (ready) return ready
      handOver(dial(access, ['http/1.1'], closing), done)
      return undefined
    },
  })
  const { host } = access.server
  const leaveIfDone = () => {
    if (isUsable || asking > 0) return
    spare?.destroy()
    agent.destroy()
    forget()
  }

  return {
    isUsable: () => isUsable,
    retire() {
      isUsable = false
      leaveIfDone()
    },
    destroy() {
      isUsable = false
      spare?.destroy()
      agent.destroy()
    },
    ask: async (question, open) =>
      new Promise((resolve, reject) => {
        question.mayBeSent?.()
        const { method, path, headers, body } = question
        const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
        asking++
        const request: ClientRequest = httpRequest({ agent, method, path, headers: { ...headers, host, ...length } })
        const { settle, fail, begun } = settling(
          question,
          () => request.destroy(),
          (error) => {
            asking--
            leaveIfDone()
            if (error) reject(error)
            else resolve()
          },
        )
        request.on('response', (response) => {
          begun()
          const take = open({ status: response.statusCode ?? 0, headers: response.headers })
          response.on('data', (chunk: Buffer) => handOn(take, chunk, fail))
          response.on('end', () => (response.complete ? settle() : fail(new Error('the answer was cut off'))))
          response.on('error', fail)
        })
        request.on('error', (error) => {
          const wasKept = request.reusedSocket && method === 'GET'
          settle(wasKept ? new NotBegun(error) : error)
        })
        request.end(body)
      }),
  }
}
