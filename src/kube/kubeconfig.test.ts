import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { aFolder } from '../../test/folder.ts'
import type { Access } from './access.ts'
import { accessByKubeconfig } from './kubeconfig.ts'

const around = { env: {}, now: () => 0 }
const base64 = (text: string) => Buffer.from(text).toString('base64')

interface Wish {
  readonly cluster?: object
  readonly user?: object
  readonly context?: object
  readonly whole?: object
}

function aKubeconfig({ cluster, user, context, whole }: Wish = {}): string {
  return stringify({
    clusters: [{ name: 'here', cluster: { server: 'https://api.example:6443', ...cluster } }],
    users: [{ name: 'me', user: user ?? {} }],
    contexts: [{ name: 'demo', context: { cluster: 'here', user: 'me', ...context } }],
    'current-context': 'demo',
    ...whole,
  })
}

function accessOf(wish: Wish, files: Record<string, string> = {}): Access {
  return accessByKubeconfig([join(aFolder({ config: aKubeconfig(wish), ...files }), 'config')], undefined, around)
}

// With secrets open, to compare.
async function opened(access: Access) {
  const { token, certificate, key, basic } = await access.credentials()
  return { token: token?.open(), certificate, key: key?.open(), basic: basic?.open() }
}

describe('how the server is reached', () => {
  test.each<[string, object, object]>([
    ['at its address', {}, { server: new URL('https://api.example:6443'), namespace: 'default' }],
    [
      'below a path',
      { server: 'https://rancher.example/k8s/demo' },
      { server: new URL('https://rancher.example/k8s/demo') },
    ],
    ['in the clear', { server: 'http://127.0.0.1:8001' }, { server: new URL('http://127.0.0.1:8001') }],
    ['by a given authority', { 'certificate-authority-data': base64('PEM') }, { ca: 'PEM' }],
    ['by one in a file', { 'certificate-authority': 'ca.pem' }, { ca: 'FILE' }],
    [
      'the given one first',
      { 'certificate-authority-data': base64('PEM'), 'certificate-authority': 'ca.pem' },
      { ca: 'PEM' },
    ],
    ['by another name', { 'tls-server-name': 'kubernetes' }, { serverName: 'kubernetes' }],
    ['unchecked', { 'insecure-skip-tls-verify': true }, { isUnchecked: true }],
    ['through a proxy', { 'proxy-url': 'http://proxy.example' }, { proxy: new URL('http://proxy.example') }],
  ])('%s', (_, cluster, expected) => {
    expect(accessOf({ cluster }, { 'ca.pem': 'FILE\n' })).toMatchObject(expected)
  })

  test('what is not said is not there, even when it is said to be null or empty', () => {
    const nothing = { 'certificate-authority-data': '', 'tls-server-name': null, 'insecure-skip-tls-verify': false }
    const access = accessOf({ cluster: { ...nothing, extensions: null }, context: { namespace: '' } })
    expect(Object.keys(access).toSorted()).toEqual(['credentials', 'forget', 'namespace', 'server'])
    expect(access.namespace).toBe('default')
  })

  test('the namespace is that of the context', () => {
    expect(accessOf({ context: { namespace: 'team' } }).namespace).toBe('team')
  })

  test('the proxy of the environment is asked for', () => {
    const file = join(aFolder({ config: aKubeconfig() }), 'config')
    const env = { HTTPS_PROXY: 'http://proxy.example' }
    expect(accessByKubeconfig([file], undefined, { ...around, env }).proxy?.href).toBe('http://proxy.example/')
  })
})

describe('as whom', () => {
  test.each<[string, object, object]>([
    ['nobody', {}, {}],
    ['a token', { token: 'hush' }, { token: 'hush' }],
    ['a token in a file', { tokenFile: 'token' }, { token: 'from file' }],
    ['the file before the token', { token: 'hush', tokenFile: 'token' }, { token: 'from file' }],
    [
      'a certificate',
      { 'client-certificate-data': base64('C'), 'client-key-data': base64('K') },
      { certificate: 'C', key: 'K' },
    ],
    [
      'one in files',
      { 'client-certificate': 'cert', 'client-key': 'key' },
      { certificate: 'cert file', key: 'key file' },
    ],
    [
      'the given one before files',
      {
        'client-certificate': 'cert',
        'client-key': 'key',
        'client-certificate-data': base64('C'),
        'client-key-data': base64('K'),
      },
      { certificate: 'C', key: 'K' },
    ],
    ['a password', { username: 'me', password: 'hush' }, { basic: 'me:hush' }],
    ['a token before a password', { username: 'me', password: 'hush', token: 'hush' }, { token: 'hush' }],
    [
      'both a certificate and a token',
      { 'client-certificate': 'cert', 'client-key': 'key', token: 'hush' },
      { certificate: 'cert file', key: 'key file', token: 'hush' },
    ],
    ['a token before a program', { token: 'hush', exec: { apiVersion: 'x', command: 'x' } }, { token: 'hush' }],
  ])('%s', async (_, user, expected) => {
    const access = accessOf({ user }, { token: 'from file\n', cert: 'cert file\n', key: 'key file\n' })
    expect(await opened(access)).toEqual({
      token: undefined,
      certificate: undefined,
      key: undefined,
      basic: undefined,
      ...expected,
    })
  })

  test('a context without a user is nobody, and so is a user without anything', async () => {
    expect(await accessOf({ context: { user: '' } }).credentials()).toEqual({})
    expect(await accessOf({ whole: { users: [{ name: 'me', user: null }] } }).credentials()).toEqual({})
  })

  test('files that were replaced are read again, and so is what was refused', async () => {
    const user = { tokenFile: 'token', 'client-certificate': 'cert', 'client-key': 'key' }
    const folder = aFolder({ config: aKubeconfig({ user }), token: 'a', cert: 'a', key: 'a' })
    const access = accessByKubeconfig([join(folder, 'config')], undefined, around)
    expect(await opened(access)).toMatchObject({ token: 'a', certificate: 'a', key: 'a' })
    for (const name of ['token', 'cert', 'key']) writeFileSync(join(folder, name), 'new')
    expect(await opened(access)).toMatchObject({ token: 'new', certificate: 'new', key: 'new' })
    for (const name of ['token', 'cert', 'key']) {
      rmSync(join(folder, name))
      expect(await opened(access)).toMatchObject({ token: 'new', certificate: 'new', key: 'new' })
      access.forget()
      await expect(access.credentials()).rejects.toThrow('ENOENT')
      writeFileSync(join(folder, name), 'new')
      await access.credentials()
    }
  })

  test('nothing of it is printed', async () => {
    const access = accessOf({
      user: { token: 'hush', 'client-certificate-data': base64('C'), 'client-key-data': base64('hush') },
    })
    expect(JSON.stringify(await access.credentials())).not.toContain('hush')
  })
})

describe('by a program', () => {
  const apiVersion = 'client.authentication.k8s.io/v1'
  // It answers with what it was told, and who it is, as its token.
  const plugin = `#!/bin/sh
node -e 'console.log(JSON.stringify({ apiVersion: "${apiVersion}", kind: "ExecCredential", status: {
  token: JSON.stringify([process.argv.slice(1), process.env.OURS, process.env.ITS, process.env.KUBERNETES_EXEC_INFO, process.pid])
} }))' "$@"
`
  const cluster = {
    'certificate-authority': 'ca.pem',
    'tls-server-name': 'kubernetes',
    extensions: [{ name: 'other' }, { name: 'client.authentication.k8s.io/exec', extension: { audience: 'demo' } }],
  }
  const exec = { apiVersion, command: './plugin', args: ['get', 'token'], env: [{ name: 'ITS', value: 'too' }] }

  function accessBy(differences: object) {
    const wish = { cluster, user: { exec: { ...exec, ...differences } } }
    const folder = aFolder({ config: aKubeconfig(wish), plugin, 'ca.pem': 'PEM' })
    const env = { PATH: process.env['PATH'], OURS: 'yes' }
    const access = accessByKubeconfig([join(folder, 'config')], undefined, { ...around, env })
    const told = async () => JSON.parse((await opened(access)).token ?? '') as readonly unknown[]
    return { ...access, told }
  }

  test('that lies beside the kubeconfig and gets its arguments and environment', async () => {
    const info = JSON.stringify({ apiVersion, kind: 'ExecCredential', spec: { interactive: false } })
    expect((await accessBy({}).told()).slice(0, 4)).toEqual([['get', 'token'], 'yes', 'too', info])
  })

  test('that is told of the cluster if it is to be', async () => {
    const [, , , info] = await accessBy({ provideClusterInfo: true, interactiveMode: 'IfAvailable' }).told()
    expect(JSON.parse(String(info))).toHaveProperty('spec.cluster', {
      server: 'https://api.example:6443',
      'tls-server-name': 'kubernetes',
      'certificate-authority-data': base64('PEM'),
      config: { audience: 'demo' },
    })
  })

  test('that is asked again when its answer was refused', async () => {
    const access = accessBy({})
    const first = await access.told()
    expect(await access.told()).toEqual(first)
    access.forget()
    expect(await access.told()).not.toEqual(first)
  })

  test('but not by one that wants a terminal', () => {
    expect(() => accessBy({ interactiveMode: 'Always' })).toThrow(
      /^the exec plugin of user "me" of kubeconfig .* wants a terminal \(interactiveMode Always\), and gets none: use a token$/,
    )
  })
})

describe('what is wrong with it is a sentence', () => {
  const where = 'kubeconfig FOLDER/config'
  test.each<[string, Wish | string, string]>([
    [
      'no context chosen',
      { whole: { 'current-context': '' } },
      `${where} has no current context: pass --context, or run kubectl config use-context`,
    ],
    [
      'a context that is not there',
      { whole: { 'current-context': 'gone' } },
      `${where} has no context "gone": add it, or use another context (there: demo)`,
    ],
    [
      'a cluster that is not there',
      { context: { cluster: 'gone' } },
      `${where} has no cluster "gone": add it, or use another context (there: demo)`,
    ],
    [
      'a user that is not there',
      { context: { user: 'gone' } },
      `${where} has no user "gone": add it, or use another context (there: demo)`,
    ],
    [
      'no cluster',
      { context: { cluster: null } },
      `context "demo" of ${where} names no cluster: add one with kubectl config set-context`,
    ],
    ['no server', { cluster: { server: null } }, `cluster "here" of ${where} has no server: write https://host:port`],
    [
      'a server without scheme',
      { cluster: { server: 'localhost:6443' } },
      `cluster "here" of ${where} has a server that is not a URL: write https://host:port`,
    ],
    [
      'a server that is no URL',
      { cluster: { server: 'here' } },
      `cluster "here" of ${where} has a server that is not a URL: write https://host:port`,
    ],
    [
      'a certificate without a key',
      { user: { 'client-certificate': 'c' } },
      `user "me" of ${where} has only one of client-certificate and client-key: add the other, or its -data`,
    ],
    [
      'a key without a certificate',
      { user: { 'client-key': 'c' } },
      `user "me" of ${where} has only one of client-certificate and client-key: add the other, or its -data`,
    ],
    [
      'impersonation',
      { user: { as: 'other' } },
      `user "me" of ${where} has impersonation (as), which is not supported: use a token, a client certificate or an exec plugin`,
    ],
    [
      'an auth-provider',
      { user: { 'auth-provider': { name: 'gcp' } } },
      `user "me" of ${where} has an auth-provider, which is not supported: use a token, a client certificate or an exec plugin`,
    ],
    [
      'no file of the authority',
      { cluster: { 'certificate-authority': 'ca' } },
      `cannot read the certificate-authority of cluster "here" of ${where}: ENOENT: no such file or directory, stat 'FOLDER/ca'`,
    ],
    [
      'no base64',
      { user: { 'client-key-data': '-----BEGIN hush' } },
      `${where} is not as kubectl writes one: users.0.user.client-key-data: is not base64`,
    ],
    [
      'a number for a token',
      { user: { token: 12_345 } },
      `${where} is not as kubectl writes one: users.0.user.token: Invalid input: expected string, received number`,
    ],
    [
      'no map',
      '- hush',
      `${where} is not as kubectl writes one: all of it: Invalid input: expected object, received array`,
    ],
    [
      'no YAML',
      'users:\n- user:\n   token: hush\n  token: "hush\n',
      `${where} is not YAML, from line 4 on: correct it`,
    ],
    ['two documents', `${aKubeconfig()}---\nhush: hush\n`, `${where} is not YAML, from line 14 on: correct it`],
    ['an alias of nothing', 'users: *hush', `${where} is not YAML: correct it`],
    ['nothing', '', `cannot read ${where}: FOLDER/config is empty`],
  ])('%s', (_, wish, says) => {
    const folder = aFolder({ config: typeof wish === 'string' ? wish : aKubeconfig(wish) })
    const expected = says.replaceAll('FOLDER', folder)
    expect(() => accessByKubeconfig([join(folder, 'config')], undefined, around)).toThrow(
      expect.objectContaining({ message: expected }),
    )
  })

  test('a file that is not there', () => {
    expect(() => accessByKubeconfig(['/no/such/file'], undefined, around)).toThrow(
      "cannot read kubeconfig /no/such/file: ENOENT: no such file or directory, stat '/no/such/file'",
    )
  })
})

test('of several files the first to say a thing is believed, and a path starts from the file it stands in', async () => {
  const folder = aFolder({ first: aKubeconfig({ user: { token: 'first' }, whole: { 'current-context': '' } }) })
  mkdirSync(join(folder, 'far'))
  const second = {
    user: { token: 'second', username: 'unheard' },
    cluster: { 'tls-server-name': 'unheard' },
    whole: {
      contexts: [
        { name: 'demo', context: { cluster: 'here', user: 'me', namespace: 'unheard' } },
        { name: 'far', context: { cluster: 'here', user: 'far' } },
      ],
      users: [{ name: 'far', user: { tokenFile: 'token' } }],
      'current-context': 'far',
    },
  }
  writeFileSync(join(folder, 'far/config'), aKubeconfig(second))
  writeFileSync(join(folder, 'far/token'), 'far away')
  const files = [join(folder, 'first'), join(folder, 'far/config')]
  const current = accessByKubeconfig(files, undefined, around)
  expect(await opened(current)).toMatchObject({ token: 'far away' })
  const named = accessByKubeconfig(files, 'demo', around)
  expect(await opened(named)).toMatchObject({ token: 'first', basic: undefined })
  expect(named).not.toHaveProperty('serverName')
  expect(named.namespace).toBe('default')
  expect(() => accessByKubeconfig(files, 'gone', around)).toThrow(`${files.join(delimiter)} has no context "gone"`)
})

// The official client reads the same; of entries that came twice it is shown the first, because it refuses to merge them.
describe('any kubeconfigs are read as the official client reads them', () => {
  const name = fc.constantFrom('a', 'b')
  const text = fc
    .string({ minLength: 1, maxLength: 8, unit: fc.constantFrom('a', '1', ' ', ':', '#', '"', "'", '-', '{', 'é') })
    .filter((each) => each.trim() === each)
  const either = (field: string, file: string) =>
    fc.oneof(
      text.map((value) => ({ [`${field}-data`]: base64(value) })),
      fc.constant({ [field]: file }),
    )
  const cluster = fc
    .tuple(
      fc.record(
        {
          server: fc.constantFrom('https://one.example', 'https://10.0.0.1:6443', 'https://[fd00::1]/k8s/demo/'),
          'tls-server-name': text,
          'insecure-skip-tls-verify': fc.boolean(),
        },
        { requiredKeys: ['server'] },
      ),
      fc.oneof(fc.constant({}), either('certificate-authority', 'ca.pem')),
    )
    .map(([one, other]) => ({ ...one, ...other }))
  const user = fc.oneof(
    fc.constant({}),
    fc.record({ token: text }),
    fc.record({ username: text, password: text }),
    fc
      .tuple(either('client-certificate', 'cert.pem'), either('client-key', 'key.pem'))
      .map(([one, other]) => ({ ...one, ...other })),
  )
  const context = fc.record({ cluster: name, user: name, namespace: text }, { requiredKeys: ['cluster', 'user'] })
  const entries = <T>(noun: string, value: fc.Arbitrary<T>) =>
    fc.uniqueArray(fc.record({ name, [noun]: value }), { selector: (each) => each['name'], minLength: 1, maxLength: 2 })
  const config = fc.record(
    {
      clusters: entries('cluster', cluster),
      users: entries('user', user),
      contexts: entries('context', context),
      'current-context': name,
    },
    { requiredKeys: ['clusters', 'users', 'contexts'] },
  )

  test('whichever context', async () => {
    const folder = aFolder()
    await fc.assert(
      fc.asyncProperty(
        fc.array(config, { minLength: 1, maxLength: 3 }),
        fc.option(name, { nil: undefined }),
        async (configs, wanted) => {
          const official = new KubeConfig()
          const files = configs.map((each, index) => {
            const place = join(folder, String(index))
            mkdirSync(place, { recursive: true })
            for (const file of ['ca.pem', 'cert.pem', 'key.pem'])
              writeFileSync(join(place, file), `${file} of ${index}`)
            const path = join(place, 'config')
            const unheard = (list: 'clusters' | 'users' | 'contexts') =>
              each[list].filter(
                (one) =>
                  !configs.slice(0, index).some((before) => before[list].some((two) => two['name'] === one['name'])),
              )
            writeFileSync(
              path,
              stringify({
                ...each,
                clusters: unheard('clusters'),
                users: unheard('users'),
                contexts: unheard('contexts'),
              }),
            )
            const one = new KubeConfig()
            one.loadFromFile(path)
            official.mergeConfig(one, Boolean(official.currentContext))
            writeFileSync(path, stringify(each))
            return path
          })
          if (wanted !== undefined) official.setCurrentContext(wanted)
          expect(await told(files, wanted)).toEqual(await toldBy(official))
        },
      ),
      { numRuns: 100 },
    )
  })

  async function told(files: readonly string[], wanted: string | undefined): Promise<unknown> {
    let access: Access
    try {
      access = accessByKubeconfig(files, wanted, around)
    } catch {
      return undefined
    }
    const { server, ca, serverName, isUnchecked, namespace } = access
    const trimmed = server.href.replace(/\/$/, '')
    return { server: trimmed, ca, serverName, isUnchecked, namespace, ...(await opened(access)) }
  }

  async function toldBy(official: KubeConfig): Promise<unknown> {
    const [ours, theirs] = [official.getContextObject(official.getCurrentContext() ?? ''), official.getCurrentCluster()]
    if (!ours || !theirs || !official.getCurrentUser()) return undefined
    const options: {
      ca?: Buffer
      cert?: Buffer
      key?: Buffer
      auth?: string
      servername?: string
      rejectUnauthorized?: boolean
      headers?: Record<string, string>
    } = {}
    await official.applyToHTTPSOptions(options)
    return {
      server: theirs.server,
      ca: options.ca?.toString(),
      serverName: options.servername,
      isUnchecked: options.rejectUnauthorized === false ? true : undefined,
      namespace: ours.namespace ?? 'default',
      token: options.headers?.['Authorization']?.replace('Bearer ', ''),
      certificate: options.cert?.toString(),
      key: options.key?.toString(),
      basic: options.auth,
    }
  }
})
