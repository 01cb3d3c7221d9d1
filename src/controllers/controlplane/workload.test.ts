// Against servers of Node's own with certificates of every sort: what is said of those that do not answer as they should.
import { once } from 'node:events'
import http2 from 'node:http2'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { anAuthority } from '../../../test/bed/certificates.ts'
import { seal } from '../../api/sealed.ts'
import { ApiError } from '../../kube/errors.ts'
import { selfSigned } from '../../runtime/certificate.ts'
import type { Way } from '../../secrets/kubeconfig.ts'
import type { No } from './seen.ts'
import { unanswered } from './unanswered.ts'
import { createWorkload } from './workload.ts'

const token = 'token-0123456789abcdef'
const authority = anAuthority('one')
const namesake = anAuthority('one') // with another key
const stranger = anAuthority('other')
const serving = authority.issueServer('api', ['127.0.0.1'])
const shown = authority.issueClient('me')

const listening = async (server: Server | http2.Http2SecureServer): Promise<string> => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Reply {
  readonly status?: number
  readonly body?: object
}

// The replies in order, the last one again and again; 'silence': none ever.
async function anApiServer(
  options: http2.SecureServerOptions = serving,
  ...replies: readonly (Reply | 'silence')[]
): Promise<{ readonly server: string; readonly asked: string[] }> {
  const http = http2.createSecureServer(options)
  const sessions = new Set<http2.ServerHttp2Session>()
  const asked: string[] = []
  http.on('session', (session) => sessions.add(session.on('error', () => {})))
  http.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    const reply = replies[Math.min(asked.length, replies.length - 1)] ?? {}
    asked.push(`${headers[':method']} ${headers[':path']?.split('?')[0]}`)
    if (reply === 'silence') return
    stream.respond({ ':status': reply.status ?? 200 })
    stream.end(JSON.stringify(reply.body ?? {}))
  })
  onTestFinished(() => {
    for (const session of sessions) session.destroy()
    http.close()
  })
  return { server: await listening(http), asked }
}

async function aServer(behave: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const tcp = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    behave(socket)
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    tcp.close()
  })
  return listening(tcp)
}

const soon = 300 // milliseconds
const to = (server: string, more: Partial<Way> = {}): Way => ({
  server,
  ca: authority.cert,
  token: seal(token),
  ...more,
})
const greet = async (way: Way, env = {}) => createWorkload(env).greet(way)
const status = (code: number, message: string): Reply => ({ status: code, body: { kind: 'Status', code, message } })
const ofItself = async (day: string) => {
  const { certificate, key } = selfSigned(['127.0.0.1'], new Date(day))
  return to((await anApiServer({ cert: certificate, key: key.open() })).server, { ca: certificate })
}

test('one that answers is believed', async () => {
  const { server, asked } = await anApiServer()
  expect(await greet(to(server))).toEqual({ is: 'yes' })
  expect(asked).toEqual(['GET /'])
})

describe('Services with a load balancer are removed', () => {
  const aService = (name: string, type: string, metadata: object = {}) => ({
    metadata: { namespace: 'default', name, uid: `uid-of-${name}`, ...metadata },
    spec: { type },
  })
  const page = (items: readonly object[], next = ''): Reply => ({
    body: { kind: 'ServiceList', metadata: { resourceVersion: '1', continue: next }, items },
  })
  const web = aService('web', 'LoadBalancer')
  const till = aService('till', 'LoadBalancer')
  const leaving = aService('leaving', 'LoadBalancer', { deletionTimestamp: '2026-11-16T11:00:00Z' })
  const plain = aService('kubernetes', 'ClusterIP')
  const list = 'GET /api/v1/services'
  const remove = async (...replies: readonly Reply[]) => {
    const { server, asked } = await anApiServer(serving, ...replies)
    return { told: await createWorkload({}).removeLoadBalancers(to(server)), asked }
  }

  test('none is there', async () => {
    expect(await remove(page([plain]))).toEqual({ told: [], asked: [list] })
  })

  test('on whichever page they are, and what still lasts is told', async () => {
    const { told, asked } = await remove(
      page([plain, web], 'more'),
      page([till, leaving]),
      {},
      {},
      page([plain, web, leaving]),
    )
    expect(told).toEqual(['default/web', 'default/leaving'])
    expect(asked.toSorted()).toEqual([
      'DELETE /api/v1/namespaces/default/services/till',
      'DELETE /api/v1/namespaces/default/services/web',
      list,
      list,
      list,
    ])
  })

  test.each([404, 409])('one that has gone meanwhile, or is another now (%i), is no trouble', async (code) => {
    const { told } = await remove(
      page([web]),
      {
        status: code,
        body: { kind: 'Status', code, reason: code === 404 ? 'NotFound' : 'Conflict', details: { name: 'web' } },
      },
      page([]),
    )
    expect(told).toEqual([])
  })

  test('what may not be done is told', async () => {
    const { told } = await remove(page([web]), status(403, 'services "web" is forbidden'))
    expect(told).toMatchObject({ is: 'no', why: expect.stringContaining('make it an administrator') as string })
  })
})

describe('it is told what it was, and what to do', () => {
  const ofCA = 'its certificate is not of the CA that the template told: see whether output cluster_certificate'
  test.each<[string, () => Promise<Way>, string, 'silent'?]>([
    ['a CA of another', async () => to((await anApiServer()).server, { ca: stranger.cert }), ofCA],
    ['a CA of the same name', async () => to((await anApiServer()).server, { ca: namesake.cert }), ofCA],
    [
      'a certificate for another host',
      async () => to((await anApiServer(authority.issueServer('api', ['api.example']))).server),
      'its certificate is not for 127.0.0.1:',
    ],
    [
      'another address of a cluster, which leads elsewhere',
      async () => to((await anApiServer()).server, { serverName: 'api.example' }),
      'its certificate is not for api.example: see whether 127.0.0.1:',
    ],
    [
      'a certificate that is over',
      async () => ofItself('2020-01-01'),
      'its certificate is not valid today: renew it, or',
    ],
    ['a certificate to come', async () => ofItself('2090-01-01'), 'its certificate is not valid today: renew it, or'],
    [
      'a key of another certificate',
      async () => to((await anApiServer()).server, { certificate: shown.cert, key: seal(serving.key) }),
      'the client certificate cannot be shown: see whether client-key-data is the key of it',
    ],
    [
      'a key that is none',
      async () => to((await anApiServer()).server, { certificate: shown.cert, key: seal('soon') }),
      'the client certificate cannot be shown',
    ],
    [
      'a door that wants to see a certificate',
      async () => to((await anApiServer({ ...serving, ca: authority.cert, requestCert: true })).server),
      'it does not take the client certificate',
    ],
    [
      'a port that speaks no TLS',
      async () => to(await aServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))),
      'does not speak TLS as an API server does: see whether the port is right',
    ],
    [
      'a connection that is broken off',
      async () => to(await aServer((socket) => socket.destroy())),
      'breaks connections off',
    ],
    ['a port where nobody is', async () => to('https://127.0.0.1:1'), 'nobody listens at 127.0.0.1:1: see', 'silent'],
    [
      'a credential that is not taken',
      async () => to((await anApiServer(serving, status(401, 'Unauthorized'))).server),
      'it does not take the credential (401): let this identity in, which in EKS an access entry does',
    ],
    [
      'a credential without rights',
      async () => to((await anApiServer(serving, status(403, 'User "me" cannot get path "/"'))).server),
      'it knows the credential, which may do too little: make it an administrator (cannot reach the API server: 403 User "me" cannot',
    ],
    [
      'a server in trouble',
      async () => to((await anApiServer(serving, status(503, 'etcd is away'))).server),
      'cannot reach the API server: 503 etcd is away',
    ],
  ])('%s', async (_, way, why, silence) => {
    const answer = await greet(await way())
    expect(answer).toMatchObject({ is: 'no', why: expect.stringContaining(why) as string })
    expect((answer as No).isSilent).toBe(silence && true)
  })

  test.each<[string, () => Promise<string>]>([
    ['says nothing', async () => aServer(() => {})],
    ['says nothing more', async () => (await anApiServer(serving, 'silence')).server],
  ])('one that %s', async (_, server) => {
    expect(await createWorkload({}, soon).greet(to(await server()))).toEqual({
      is: 'no',
      why: expect.stringMatching(
        /did not answer within 0\.3 seconds: see whether a VPN, a route or a firewall/,
      ) as string,
      isSilent: true,
    })
  })

  // Not to be had from a socket here.
  test.each([
    ['ENOTFOUND', 'nobody here knows where api.example is'],
    ['EAI_AGAIN', 'nobody here knows where api.example is'],
    ['EHOSTUNREACH', 'no way leads to api.example'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'it does not take the client certificate'],
    ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'it does not take the client certificate'],
    ['EOTHER', 'cannot reach the API server: oops'],
  ])('%s', (code, why) => {
    const cause = Object.assign(new Error('oops'), { code })
    const error = new ApiError({ doing: 'reach the API server', message: 'oops' }, { cause })
    expect(unanswered(error, to('https://api.example')).why).toContain(why)
  })

  test('a proxy that is not there is not taken for the server', async () => {
    const proxied = to('https://api.example')
    const { why } = (await greet(proxied, { HTTPS_PROXY: 'http://127.0.0.1:1' })) as No
    expect(why).toMatch(/the proxy 127\.0\.0\.1:1 gives no way to api\.example:443/)
  })
})

describe('what the other side writes', () => {
  test('tells no credential that was shown to it, and not all too much', async () => {
    const quoting = status(500, `upstream refused:\n  Authorization: Bearer ${token} ${'and so on '.repeat(200)}`)
    const { server } = await anApiServer(serving, quoting)
    const workload = createWorkload({})
    for (const answer of [await workload.greet(to(server)), await workload.accountToken(to(server), 600)]) {
      const { why } = answer as No
      expect(why).toContain('500 upstream refused: Authorization: Bearer ***')
      expect(why).not.toContain(token)
      expect(Buffer.byteLength(why)).toBeLessThanOrEqual(500)
    }
  })

  test('tells none either where there are too few rights', async () => {
    const { server } = await anApiServer(serving, status(403, `no rights: ${token}`))
    expect(JSON.stringify(await greet(to(server)))).not.toContain(token)
  })
})

describe('a token of an account', () => {
  const given = { status: { token: 'of-account', expirationTimestamp: '2026-11-16T13:00:00Z' } }

  test('is asked for when the account is there', async () => {
    const { server, asked } = await anApiServer(serving, {}, {}, { body: given })
    const answer = await createWorkload({}).accountToken(to(server), 600)
    expect('is' in answer ? answer : answer.token.open()).toBe('of-account')
    expect(asked).toEqual([
      'PATCH /api/v1/namespaces/kube-system/serviceaccounts/capt-manager',
      'PATCH /apis/rbac.authorization.k8s.io/v1/clusterrolebindings/capt-manager',
      'POST /api/v1/namespaces/kube-system/serviceaccounts/capt-manager/token',
    ])
  })

  test.each<[string, () => Promise<string>]>([
    ['that never answers', async () => aServer(() => {})],
    ['that falls silent on the way', async () => (await anApiServer(serving, {}, 'silence')).server],
  ])('is not waited for longer than an answer, from a server %s', async (_, server) => {
    const way = to(await server())
    const began = performance.now()
    expect(await createWorkload({}, soon).accountToken(way, 600)).toMatchObject({ is: 'no', isSilent: true })
    expect(performance.now() - began).toBeLessThan(5000)
  })

  test('is refused by name', async () => {
    const { server } = await anApiServer(serving, {}, status(403, 'no right to escalate'))
    const { why } = (await createWorkload({}).accountToken(to(server), 600)) as No
    expect(why).toContain(
      'make it an administrator (cannot apply ClusterRoleBinding capt-manager: 403 no right to escalate)',
    )
  })
})
