// Against servers of Node's own, which do what an API server does only now and then: go away, refuse, fall silent.
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { anAuthority } from '../../test/bed/certificates.ts'
import { until } from '../../test/until.ts'
import type { Access } from './access.ts'
import { createWire, type Question, type Wire, type WireOptions } from './wire.ts'

const authority = anAuthority('wire')
const serving = authority.issueServer('wire', ['127.0.0.1', 'localhost'])

const listening = async (server: Server | http2.Http2SecureServer): Promise<number> => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function wireTo(port: number, options: WireOptions = {}, access: Partial<Access> = {}): Wire {
  const wire = createWire(
    {
      server: new URL(`https://127.0.0.1:${port}`),
      ca: authority.cert,
      namespace: 'default',
      credentials: async () => ({}),
      forget: () => {},
      ...access,
    },
    options,
  )
  onTestFinished(() => wire.close())
  return wire
}

const get: Question = { method: 'GET', path: '/', headers: {}, answerWithinMs: 20_000 }

async function ask(wire: Wire, question: Partial<Question> = {}): Promise<string> {
  const chunks: Buffer[] = []
  let head = 0
  await wire.ask({ ...get, ...question }, ({ status }) => {
    head = status
    return (chunk) => chunks.push(chunk)
  })
  return `${head} ${Buffer.concat(chunks).toString()}`
}

const trouble = async (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'went well',
    (error: Error) => error.message,
  )

type Behave = (stream: http2.ServerHttp2Stream, about: { nth: number; path: string; connection: number }) => void

async function anHttp2Server(behave: Behave) {
  const server = http2.createSecureServer(serving)
  const sessions = new Set<http2.ServerHttp2Session>()
  let asked = 0
  server.on('session', (session) => {
    sessions.add(session)
    session.on('error', () => {})
    const connection = sessions.size
    session.on('stream', (stream, headers) => {
      stream.on('error', () => {})
      behave(stream, { nth: ++asked, path: headers[':path'] ?? '', connection })
    })
  })
  onTestFinished(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  return { port: await listening(server), sessions, asked: () => asked }
}

const answering = (stream: http2.ServerHttp2Stream, text: string) => {
  stream.respond({ ':status': 200 })
  stream.end(text)
}

describe('over HTTP/2', () => {
  // A busy Node does so now and then: the first event of a watch was lost, and a cache waited for it.
  test('what comes before it is told how the answer begins is not lost', async () => {
    const { port } = await anHttp2Server((stream) => {
      stream.respond({ ':status': 200 })
      stream.end('all of it')
    })
    const { connect: connectAsEver } = http2
    const connecting = vi.spyOn(http2, 'connect').mockImplementation((...args: unknown[]) => {
      const session = Reflect.apply(connectAsEver, http2, args) as http2.ClientHttp2Session
      const request = session.request.bind(session)
      return Object.assign(session, { request: (...how: Parameters<typeof request>) => headLast(request(...how)) })
    })
    onTestFinished(() => connecting.mockRestore())
    expect(await ask(wireTo(port))).toBe('200 all of it')
  })

  function headLast(stream: http2.ClientHttp2Stream): http2.ClientHttp2Stream {
    const emit = stream.emit.bind(stream) as (...event: unknown[]) => boolean
    let head: readonly unknown[] | undefined
    return Object.assign(stream, {
      emit(...event: readonly unknown[]) {
        if (event[0] === 'response') head = event
        const isHeard = event[0] === 'response' || emit(...event)
        if (event[0] === 'data' && head) emit(...head)
        return isHeard
      },
    })
  }

  test('many questions share one connection', async () => {
    const server = await anHttp2Server((stream, { path }) => answering(stream, path))
    const wire = wireTo(server.port)
    const paths = Array.from({ length: 50 }, (_, index) => `/${index}`)
    expect(await Promise.all(paths.map(async (path) => ask(wire, { path })))).toEqual(
      paths.map((path) => `200 ${path}`),
    )
    expect(server.sessions.size).toBe(1)
  })

  // An API server ends watches whose events it cannot get rid of within a moment.
  test('a server may send megabytes while we are busy, on every stream', async () => {
    const { port, sessions } = await anHttp2Server((stream) => answering(stream, ''))
    await ask(wireTo(port))
    const [session] = sessions
    expect(session?.remoteSettings.initialWindowSize).toBe(4 * 1024 * 1024)
    await until('the connection is wide', async () => (session?.state.remoteWindowSize ?? 0) > 60_000_000 || undefined)
  })

  test('what a server that goes away has not begun is asked again, elsewhere; what it has begun ends there', async () => {
    const server = await anHttp2Server((stream, { nth, connection }) => {
      if (nth === 1) {
        stream.respond({ ':status': 200 })
        stream.write('be')
        return
      }
      if (nth === 2) {
        const first = [...server.sessions][0]
        first?.goaway(http2.constants.NGHTTP2_NO_ERROR, 1) // of the two streams only the first is begun
        return
      }
      answering(stream, `from connection ${connection}`)
    })
    const wire = wireTo(server.port)
    const slow = trouble(ask(wire, { path: '/slow' }))
    await until('the first is begun', async () => (server.asked() === 1 ? true : undefined))
    expect(await ask(wire)).toBe('200 from connection 2')
    expect(server.asked()).toBe(3)
    for (const session of server.sessions) session.destroy()
    expect(await slow).not.toBe('went well')
  })

  test('what is refused is asked again, three times at most', async () => {
    const refuse = (stream: http2.ServerHttp2Stream) => stream.close(http2.constants.NGHTTP2_REFUSED_STREAM)
    const shy = await anHttp2Server((stream, { nth }) => (nth === 1 ? refuse(stream) : answering(stream, 'at last')))
    expect(await ask(wireTo(shy.port), { method: 'POST', body: '{}' })).toBe('200 at last')
    const always = await anHttp2Server(refuse)
    expect(await trouble(ask(wireTo(always.port)))).not.toBe('went well')
    expect(always.asked()).toBe(3)
  })

  test('what breaks in the middle is an error, and is not asked again', async () => {
    const server = await anHttp2Server((stream) => {
      stream.respond({ ':status': 200 })
      stream.write('half')
      setTimeout(() => stream.destroy(new Error('a bug of the server')), 50)
    })
    expect(await trouble(ask(wireTo(server.port)))).not.toBe('went well')
    expect(server.asked()).toBe(1)
  })

  test('a connection that answers no ping is given up, and the next question goes over a new one', async () => {
    const server = await anHttp2Server((stream, { nth }) => {
      if (nth > 1) answering(stream, 'alive')
    })
    const relay = await aRelay(server.port)
    const wire = wireTo(relay.port, { pingEveryMs: 100, pingWithinMs: 300 })
    const asked = trouble(ask(wire))
    await until('it is asked', async () => (server.asked() === 1 ? true : undefined))
    relay.fallSilent()
    expect(await asked).toBe('no answer to a ping within 0.3 s')
    relay.recover()
    expect(await ask(wire)).toBe('200 alive')
  })

  test('who is called off tells the server, and whether it may be sent is asked last', async () => {
    const codes: number[] = []
    const server = await anHttp2Server((stream) => stream.on('close', () => codes.push(stream.rstCode)))
    const wire = wireTo(server.port)
    const calling = new AbortController()
    const asked = trouble(ask(wire, { signal: calling.signal }))
    await until('it is asked', async () => (server.asked() === 1 ? true : undefined))
    calling.abort(new Error('enough'))
    expect(await asked).toBe('enough')
    await until('the server is told', async () => (codes.length === 1 ? true : undefined))
    expect(codes).toEqual([http2.constants.NGHTTP2_CANCEL])
    const mayBeSent = () => {
      throw new Error('not any more')
    }
    expect(await trouble(ask(wire, { mayBeSent }))).toBe('not any more')
    expect(server.asked()).toBe(1)
  })

  test('who waits too long for an answer, or for its end, gives up', async () => {
    const server = await anHttp2Server((stream, { path }) => {
      if (path === '/begins') stream.respond({ ':status': 200 })
    })
    const wire = wireTo(server.port)
    expect(await trouble(ask(wire, { answerWithinMs: 50 }))).toBe('no answer within 0.05 s')
    expect(await trouble(ask(wire, { path: '/begins', endWithinMs: 400 }))).toBe('no end of the answer within 0.4 s')
  })
})

// A cable one can cut without either end noticing.
async function aRelay(to: number) {
  const pairs: { readonly near: Socket; readonly far: Socket }[] = []
  let isSilent = false
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1')
    near.on('error', () => {})
    far.on('error', () => {})
    near.on('data', (chunk: Buffer) => isSilent || far.write(chunk))
    far.on('data', (chunk: Buffer) => isSilent || near.write(chunk))
    near.on('close', () => far.destroy())
    pairs.push({ near, far })
  })
  onTestFinished(() => {
    for (const { near, far } of pairs) {
      near.destroy()
      far.destroy()
    }
    server.close()
  })
  const port = await listening(server)
  return {
    port,
    fallSilent: () => (isSilent = true),
    recover: () => (isSilent = false),
  }
}

describe('over HTTP/1.1', () => {
  async function anHttp1Server(behave: (nth: number, socket: Socket, path: string) => string | undefined) {
    let asked = 0
    const sockets = new Set<Socket>()
    const server = https.createServer({ ...serving, keepAliveTimeout: 60_000 }, (request, response) => {
      sockets.add(request.socket)
      const text = behave(++asked, request.socket, request.url ?? '')
      if (text !== undefined) response.end(text)
    })
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return { port: await listening(server), asked: () => asked, connections: () => sockets.size }
  }

  test('a server that speaks nothing newer is spoken to in its words, over connections that are kept', async () => {
    const server = await anHttp1Server((nth, _, path) => `${nth} ${path}`)
    const wire = wireTo(server.port)
    for (const nth of [1, 2, 3]) expect(await ask(wire, { path: `/${nth}` })).toBe(`200 ${nth} /${nth}`)
    expect(server.connections()).toBe(1)
  })

  test('a kept connection that was closed meanwhile is replaced for a question that only reads', async () => {
    const server = await anHttp1Server((nth, socket) => {
      if (nth !== 2) return 'fine'
      socket.destroy() // in the moment it is asked: as one that was closed while the question was under way
      return undefined
    })
    const wire = wireTo(server.port)
    await ask(wire)
    expect(await ask(wire)).toBe('200 fine')
    expect(server.asked()).toBe(3)
    const other = await anHttp1Server((nth, socket) => {
      if (nth !== 2) return 'fine'
      socket.destroy()
      return undefined
    })
    const writing = wireTo(other.port)
    await ask(writing)
    expect(await trouble(ask(writing, { method: 'POST', body: '{}' }))).not.toBe('went well')
    expect(other.asked()).toBe(2)
  })

  test('an answer that was cut off is an error', async () => {
    const server = await anHttp1Server((_, socket) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf')
      return undefined
    })
    expect(await trouble(ask(wireTo(server.port)))).not.toBe('went well')
  })
})

test('a server that closes connections as soon as they are made is not hammered', async () => {
  let connections = 0
  const server = http2.createSecureServer(serving, () => {})
  server.on('session', (session) => {
    connections++
    session.destroy()
  })
  onTestFinished(() => void server.close())
  const wire = wireTo(await listening(server))
  expect(await trouble(ask(wire))).not.toBe('went well')
  expect(connections).toBeLessThanOrEqual(6)
})

describe('through a proxy', () => {
  async function aProxy(answer = 'HTTP/1.1 200 Connection established\r\n\r\n') {
    const asked: string[] = []
    const server = createHttpServer()
    server.on('connect', ({ url = '', headers }, socket: Socket) => {
      asked.push(`${url} ${headers['proxy-authorization'] ?? ''}`.trim())
      socket.write(answer)
      if (!answer.includes(' 200 ')) return void socket.end()
      const [host, port] = url.split(':')
      const far = connect(Number(port), host)
      far.on('error', () => socket.destroy())
      socket.on('error', () => far.destroy())
      far.pipe(socket).pipe(far)
    })
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return { port: await listening(server), asked }
  }

  test('a way is asked for, with a name and a password if there are any', async () => {
    const server = await anHttp2Server((stream) => answering(stream, 'through'))
    const proxy = await aProxy()
    const wire = wireTo(server.port, {}, { proxy: new URL(`http://us%3Aer:p%40ss@127.0.0.1:${proxy.port}`) })
    expect(await ask(wire)).toBe('200 through')
    expect(proxy.asked).toEqual([`127.0.0.1:${server.port} Basic ${Buffer.from('us:er:p@ss').toString('base64')}`])
  })

  test('a proxy that refuses is named, and its password is not', async () => {
    const proxy = await aProxy('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const wire = wireTo(1, {}, { proxy: new URL(`http://user:s3cr3t@127.0.0.1:${proxy.port}`) })
    const why = await trouble(ask(wire))
    expect(why).toBe(`the proxy 127.0.0.1:${proxy.port} gives no way to 127.0.0.1:1: 407 Proxy Authentication Required`)
  })
})

test('a question can be called off while the connection is made, and the others go on waiting for it', async () => {
  const { port: to } = await anHttp2Server((stream) => answering(stream, 'at last'))
  const held: Socket[] = []
  const slow = createServer((socket) => void held.push(socket.on('error', () => {})))
  onTestFinished(() => void slow.close())
  const wire = wireTo(await listening(slow))
  const calling = new AbortController()
  const called = trouble(ask(wire, { signal: calling.signal }))
  const patient = ask(wire)
  const near = await until('they call', async () => held[0])
  calling.abort(new Error('no longer'))
  expect(await called).toBe('no longer')
  const far = connect(to, '127.0.0.1')
  near.pipe(far).pipe(near)
  expect(await patient).toBe('200 at last')
  expect(held).toHaveLength(1)
})

test('a server whose certificate is of nobody we know is not spoken to, unless that was said', async () => {
  const server = await anHttp2Server((stream) => answering(stream, 'hello'))
  const stranger = anAuthority('stranger')
  expect(await trouble(ask(wireTo(server.port, {}, { ca: stranger.cert })))).toMatch(/certificate/)
  expect(await ask(wireTo(server.port, {}, { ca: stranger.cert, isUnchecked: true }))).toBe('200 hello')
  expect(await trouble(ask(wireTo(server.port, {}, { serverName: 'elsewhere' })))).toMatch(/elsewhere/)
})

test('after the end nothing is left, and nothing is begun', async () => {
  const server = await anHttp2Server((stream, { path }) => {
    if (path !== '/silent') answering(stream, 'hello')
  })
  const wire = wireTo(server.port)
  await ask(wire)
  const pending = trouble(ask(wire, { path: '/silent' }))
  await until('it is asked', async () => (server.asked() === 2 ? true : undefined))
  wire.close()
  expect(await pending).not.toBe('went well')
  expect(await trouble(ask(wire))).toBe('the connection was closed')
  await until('the server sees it go', async () =>
    [...server.sessions].every(({ closed, destroyed }) => closed || destroyed) ? true : undefined,
  )
})
