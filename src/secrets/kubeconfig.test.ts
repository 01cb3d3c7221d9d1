import { KubeConfig } from '@kubernetes/client-node'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { aCA, aClientCertificate, aJwt, anAwsToken, anotherCA, base64 } from '../../test/pki.ts'
import { seal } from '../api/sealed.ts'
import { isSameServer, judgeKubeconfig, type Way, writeKubeconfig, writeUserKubeconfig } from './kubeconfig.ts'

const now = new Date('2026-11-16T12:00:00Z')
const later = new Date('2026-11-16T13:00:00Z')
const server = 'https://api.example'

interface Wish {
  readonly cluster?: object
  readonly user?: object
  readonly context?: object
  readonly whole?: object
}

function aKubeconfig({ cluster, user = { token: 's3cr3t' }, context, whole }: Wish = {}): string {
  return stringify({
    clusters: [{ name: 'here', cluster: { server, 'certificate-authority-data': base64(aCA), ...cluster } }],
    users: [{ name: 'me', user }],
    contexts: [{ name: 'demo', context: { cluster: 'here', user: 'me', ...context } }],
    'current-context': 'demo',
    ...whole,
  })
}
const judge = (text: string) => judgeKubeconfig(seal(text), now)
const { certificate, key } = aClientCertificate
const shown = { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key.open()) }

// With secrets open, to compare.
const opened = ({ token, key: secret, ...way }: Way) => ({ ...way, token: token?.open(), key: secret?.open() })

describe('a kubeconfig can be used', () => {
  test.each<[string, Wish, object]>([
    ['with a token', {}, { server, ca: aCA, token: 's3cr3t' }],
    ['with a client certificate', { user: shown }, { server, ca: aCA, certificate, key: key.open() }],
    ['with both, by its token', { user: { ...shown, token: 's3cr3t' } }, { token: 's3cr3t' }],
    [
      'with several CAs',
      { cluster: { 'certificate-authority-data': base64(aCA + anotherCA) } },
      { ca: aCA + anotherCA },
    ],
    [
      'with another name in the certificate',
      { cluster: { 'tls-server-name': 'x.example' } },
      { serverName: 'x.example' },
    ],
    ['with one context, which need not be the current one', { whole: { 'current-context': '' } }, { token: 's3cr3t' }],
    ['with a token that lasts', { user: { token: aJwt({ exp: later.getTime() / 1000 }) } }, { server }],
    [
      'with a server that has a path',
      { cluster: { server: `${server}/k8s/clusters/c-1` } },
      { server: `${server}/k8s/clusters/c-1` },
    ],
  ])('%s', (_, wish, way) => {
    const judged = judge(aKubeconfig(wish))
    expect(judged.is === 'usable' ? opened(judged.way) : judged).toMatchObject(way)
  })

  test('until its token ends, if it says so', () => {
    const ends = (token: string) => judge(aKubeconfig({ user: { token } }))
    expect(ends(anAwsToken(now))).toMatchObject({ expires: new Date('2026-11-16T12:14:00Z') })
    expect(ends('s3cr3t')).toMatchObject({ is: 'usable', expires: undefined })
  })
})

describe('a kubeconfig cannot be used', () => {
  const over = aJwt({ exp: now.getTime() / 1000 })
  const two = [
    { name: 'a', context: { cluster: 'here', user: 'me' } },
    { name: 'b', context: {} },
  ]
  test.each<[string, string, string]>([
    ['when it is empty', '', 'current-context'],
    ['when it is no YAML', 'a: [s3cr3t', 'is not YAML, from line 1 on'],
    ['when it is not one', 'clusters: s3cr3t', 'clusters: Invalid input'],
    ['when it is a list', '- s3cr3t', 'is not as kubectl writes one'],
    [
      'when nobody knows which context',
      aKubeconfig({ whole: { 'current-context': '', contexts: two } }),
      'current-context',
    ],
    ['when it lacks the current context', aKubeconfig({ whole: { 'current-context': 'other' } }), 'context other'],
    [
      'when it lacks the cluster',
      aKubeconfig({ context: { cluster: 'other' } }),
      'names a cluster that it does not have',
    ],
    ['when it lacks the user', aKubeconfig({ context: { user: 'other' } }), 'names a user that it does not have'],
    ['without a server', aKubeconfig({ cluster: { server: '' } }), 'server is not an address'],
    ['without TLS', aKubeconfig({ cluster: { server: 'http://api.example' } }), 'server is not an address'],
    [
      'with a server that is no URL',
      aKubeconfig({ cluster: { server: 'api.example:443' } }),
      'server is not an address',
    ],
    [
      'with a password in its server',
      aKubeconfig({ cluster: { server: 'https://:s3cr3t@x' } }),
      'server is not an address',
    ],
    ['unchecked', aKubeconfig({ cluster: { 'insecure-skip-tls-verify': true } }), 'insecure-skip-tls-verify'],
    ['without a CA', aKubeconfig({ cluster: { 'certificate-authority-data': '' } }), 'certificate-authority-data'],
    [
      'with a CA that is a file',
      aKubeconfig({ cluster: { 'certificate-authority-data': '', 'certificate-authority': '/ca.crt' } }),
      'certificate-authority names a file: write certificate-authority-data instead',
    ],
    [
      'with a CA, and one that is a file',
      aKubeconfig({ cluster: { 'certificate-authority': '/ca.crt' } }),
      'certificate-authority names a file: write certificate-authority-data instead',
    ],
    ['with a proxy of its own', aKubeconfig({ cluster: { 'proxy-url': 'http://:s3cr3t@proxy.example' } }), 'proxy-url'],
    [
      'with a CA that is none',
      aKubeconfig({ cluster: { 'certificate-authority-data': base64('soon') } }),
      'certificate-authority-data is no certificate',
    ],
    ['with an exec plugin', aKubeconfig({ user: { exec: { apiVersion: 'v1', command: 'aws' } } }), 'exec is a plugin'],
    [
      'with a token and an exec plugin',
      aKubeconfig({ user: { token: 's3cr3t', exec: { apiVersion: 'v1', command: 'aws' } } }),
      'exec is a plugin',
    ],
    ['with an auth provider', aKubeconfig({ user: { 'auth-provider': { name: 'gcp' } } }), 'auth-provider'],
    ['without a credential', aKubeconfig({ user: {} }), 'neither a token'],
    ['with a token in a file', aKubeconfig({ user: { tokenFile: '/token' } }), 'tokenFile names a file: write token'],
    // The file comes first in client-go: core would show what stands there, its own account's token, to that server.
    [
      'with a token, and one in a file',
      aKubeconfig({ user: { token: 's3cr3t', tokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token' } }),
      'tokenFile names a file: write token instead',
    ],
    [
      'with a client certificate in a file',
      aKubeconfig({ user: { ...shown, 'client-certificate': '/client.crt' } }),
      'client-certificate names a file: write client-certificate-data instead',
    ],
    [
      'with a client key in a file',
      aKubeconfig({ user: { ...shown, 'client-key': '/client.key' } }),
      'client-key names a file: write client-key-data instead',
    ],
    ['with a password', aKubeconfig({ user: { username: 'me', password: 's3cr3t' } }), 'username'],
    ['with a token and a password', aKubeconfig({ user: { token: 's3cr3t', password: 's3cr3t' } }), 'password'],
    ['as somebody else', aKubeconfig({ user: { token: 's3cr3t', as: 'root' } }), 'as acts as somebody else'],
    ['with another uid', aKubeconfig({ user: { token: 's3cr3t', 'as-uid': '1' } }), 'as-uid'],
    ['in other groups', aKubeconfig({ user: { token: 's3cr3t', 'as-groups': ['system:masters'] } }), 'as-groups'],
    ['with more to say', aKubeconfig({ user: { token: 's3cr3t', 'as-user-extra': { a: ['b'] } } }), 'as-user-extra'],
    ['with half a client certificate', aKubeconfig({ user: { ...shown, 'client-key-data': '' } }), 'client-key-data'],
    [
      'with a client certificate that is none',
      aKubeconfig({ user: { ...shown, 'client-certificate-data': base64('s3cr3t') } }),
      'client-certificate-data is no certificate',
    ],
    ['with a token that has ended', aKubeconfig({ user: { token: over } }), 'its token has expired'],
    [
      'with a token of AWS that has ended',
      aKubeconfig({ user: { token: anAwsToken(new Date('2026-11-16T11:46:00Z')) } }),
      'its token has expired',
    ],
  ])('%s', (_, text, why) => {
    const judged = judge(text)
    expect(judged).toMatchObject({ is: 'unusable', why: expect.stringContaining(why) as string })
    for (const secret of ['s3cr3t', over, base64('s3cr3t')]) expect(JSON.stringify(judged)).not.toContain(secret)
  })
})

const words = fc
  .string({ minLength: 1, unit: fc.constantFrom(...Array.from('aZ09-_.~+/=:#{}[],&*!|>%@`"\' ')) })
  .filter((text) => text.trim() === text && text !== '')
const ways: fc.Arbitrary<Way> = fc
  .record({
    host: fc.domain(),
    port: fc.integer({ min: 1, max: 65_535 }),
    ca: fc.constantFrom(aCA, aCA + anotherCA),
    serverName: fc.option(fc.domain(), { nil: undefined }),
    identity: fc.oneof(
      words.map((token) => ({ token: seal(token) })),
      fc.constant({ certificate, key }),
    ),
  })
  .map(({ host, port, ca, serverName, identity }) => ({
    server: `https://${host}:${port}`,
    ca,
    ...(serverName !== undefined && { serverName }),
    ...identity,
  }))

test('what we write can be used, and leads the same way', () => {
  fc.assert(
    fc.property(fc.oneof(words, fc.constantFrom('true', '123', 'null', '0x1')), ways, (cluster, way) => {
      const written = writeKubeconfig(cluster, way)
      const judged = judgeKubeconfig(written, now)
      expect(judged.is === 'usable' ? opened(judged.way) : judged).toEqual(opened(way))
      expect(String(written)).toBe('***')
    }),
  )
})

describe('what we write is read by the official client', () => {
  const way: Way = { server, ca: aCA, serverName: 'x.example' }
  const loaded = (text: string) => {
    const config = new KubeConfig()
    config.loadFromString(text)
    return { cluster: config.getCurrentCluster(), user: config.getCurrentUser() }
  }

  test('for Cluster API', () => {
    const { cluster, user } = loaded(writeKubeconfig('demo', { ...way, token: seal('s3cr3t') }).open())
    expect(cluster).toMatchObject({
      name: 'demo',
      server,
      caData: base64(aCA),
      tlsServerName: 'x.example',
      skipTLSVerify: false,
    })
    expect(user).toMatchObject({ token: 's3cr3t' })
  })

  test('for people, who have an AWS identity of their own', () => {
    const text = writeUserKubeconfig('demo', way, { name: 'demo-eks', region: 'ap-northeast-1' })
    const { cluster, user } = loaded(text)
    expect(cluster).toMatchObject({ server, caData: base64(aCA), tlsServerName: 'x.example' })
    expect(user).toMatchObject({
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1beta1',
        command: 'aws',
        args: ['eks', 'get-token', '--cluster-name', 'demo-eks', '--region', 'ap-northeast-1'],
      },
    })
    expect(Object.keys((parse(text) as { users: [{ user: object }] }).users[0].user)).toEqual(['exec'])
  })

  test('for people, in a region that only they know', () => {
    expect(writeUserKubeconfig('demo', way, { name: 'demo', region: undefined })).not.toContain('--region')
  })
})

test.each([
  [server, 'https://API.example:443/', true],
  ['https://[2001:db8::1]', '2001:DB8::1', true],
  [server, 'https://api.example:6443', false],
  [server, 'https://other.example', false],
  ['soon', 'soon!', false],
  ['?', '?', false],
])('%s and %s are one server: %s', (one, other, isSame) => {
  expect(isSameServer(one, other)).toBe(isSame)
})
