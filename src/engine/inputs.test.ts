import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { aFolder } from '../../test/folder.ts'
import type { Key, Resource } from '../api/resource.ts'
import {
  type ForProvider,
  type ProviderConfig,
  type Workspace,
  type WorkspaceGroup,
  workspaceAPIs,
} from '../api/workspace.ts'
import { ApiError } from '../kube/errors.ts'
import { type Asked, gather, InputsError } from './inputs.ts'

// What a cluster holds, by kind and key; Secrets in plain text.
type Cluster = Readonly<Record<string, unknown>>

const cluster: Cluster = {
  'Secret team/creds': {
    data: { vars: base64('token = "hush-token-1"\n'), word: base64('hush-word'), key: base64('') },
  },
  'Secret other/creds': { data: { vars: base64('token = "foreign-secret"\n'), word: base64('foreign-secret') } },
  'ConfigMap team/settings': { data: { vars: 'size = 3\n', word: 'plain' } },
  'ConfigMap other/settings': { data: { vars: 'foreign = 1\n', word: 'foreign' } },
  'GitRepository team/modules': { status: { artifact: { url: 'http://flux/a.tar.gz', digest: 'sha256:abc' } } },
  'GitRepository other/modules': { status: { artifact: { url: 'http://flux/b.tar.gz', digest: 'sha256:def' } } },
  'OCIRepository team/modules': { status: { artifact: { url: 'http://flux/c.tar.gz', digest: 'sha256:012' } } },
  'GitRepository team/new': {},
  'GitRepository team/unchecked': { status: { artifact: { url: 'http://flux/d.tar.gz' } } },
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function liveOf(held: Cluster = cluster) {
  const reads: string[] = []
  return {
    reads,
    async get<T>({ kind, plural }: Resource, { name, namespace }: Key): Promise<T> {
      const ref = `${kind} ${namespace}/${name}`
      reads.push(ref)
      const object = held[ref]
      if (object !== undefined) return object as T
      const message = `${plural} "${name}" not found`
      throw new ApiError({ doing: `read ${ref}`, code: 404, reason: 'NotFound', about: name, message })
    },
  }
}

interface Given {
  readonly group?: WorkspaceGroup
  readonly forProvider?: Partial<ForProvider>
  readonly annotations?: Record<string, string>
  readonly config?: ProviderConfig['spec']
  readonly configIn?: string // its namespace; none: it is for the whole cluster
  readonly configAnnotations?: Record<string, string>
}

function asked(given: Given = {}): Asked {
  const { group = 'tf.m.upbound.io', forProvider, annotations, config = {}, configIn, configAnnotations } = given
  const api = workspaceAPIs[group]
  const workspace: Workspace = {
    apiVersion: `${group}/v1beta1`,
    kind: 'Workspace',
    metadata: { name: 'net', ...(api.isNamespaced && { namespace: 'team' }), ...(annotations && { annotations }) },
    spec: { forProvider: { source: 'Inline', module: '# module', ...forProvider } },
  }
  const kind = api.isNamespaced && configIn === undefined ? 'ClusterProviderConfig' : 'ProviderConfig'
  return {
    api,
    workspace,
    providerConfig: {
      apiVersion: `${group}/v1beta1`,
      kind,
      metadata: {
        name: 'default',
        ...(configIn !== undefined && { namespace: configIn }),
        ...(configAnnotations && { annotations: configAnnotations }),
      },
      spec: config,
    },
  }
}

const ours = { FROM_ENGINE: 'of the engine' }
const gathered = async (given: Given = {}, live = liveOf()) => gather(asked(given), live, ours)

async function refusal(given: Given, live = liveOf()): Promise<InputsError> {
  const error = await gathered(given, live).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof InputsError) return error
  throw new Error(`it was not refused: ${String(error)}`)
}

test('a Workspace of a module alone needs nothing else', async () => {
  const live = liveOf()
  expect(await gathered({}, live)).toEqual({
    files: { 'main.tf': '# module' },
    env: {},
    varArgs: [],
    hasBackendFile: false,
    usesPluginCache: true,
    isLogged: false,
    secrets: [],
    entrypoint: '',
    usesIdentity: true,
  })
  expect(live.reads).toEqual([])
})

test('JSON and HCL modules have their names', async () => {
  const { files } = await gathered({ forProvider: { inlineFormat: 'JSON', module: '{}' } })
  expect(files).toEqual({ 'main.tf.json': '{}' })
})

test('variables stand in an order in which varmap beats varFiles and varFiles beat vars', async () => {
  const { varArgs, files } = await gathered({
    forProvider: {
      vars: [
        { key: 'a', value: '1' },
        { key: 'b', value: 'x = y' },
      ],
      varFiles: [
        { source: 'ConfigMapKey', configMapKeyRef: { name: 'settings', key: 'vars' } },
        { source: 'SecretKey', format: 'JSON', secretKeyRef: { name: 'creds', key: 'vars' } },
      ],
      varmap: { list: [1, 'two'], nested: { deep: true } },
    },
  })
  const name = 'crossplane-provider-terraform-'
  expect(varArgs).toEqual([
    '-var=a=1',
    '-var=b=x = y',
    `-var-file=${name}0.tfvars`,
    `-var-file=${name}1.tfvars.json`,
    `-var-file=${name}2.tfvars.json`,
  ])
  expect(files).toEqual({
    'main.tf': '# module',
    [`${name}0.tfvars`]: 'size = 3\n',
    [`${name}1.tfvars.json`]: 'token = "hush-token-1"\n',
    [`${name}2.tfvars.json`]: '{"list":[1,"two"],"nested":{"deep":true}}',
  })
})

test('env is of values, ConfigMaps and Secrets', async () => {
  const { env } = await gathered({
    forProvider: {
      env: [
        { name: 'PLAIN', value: 'v' },
        { name: 'EMPTY' },
        { name: 'MAPPED', configMapKeyRef: { name: 'settings', key: 'word' } },
        { name: 'HIDDEN', secretKeyRef: { name: 'creds', key: 'word' } },
        { name: 'BOTH', value: 'v', secretKeyRef: { name: 'creds', key: 'word' } },
      ],
    },
  })
  expect(env).toEqual({ PLAIN: 'v', EMPTY: '', MAPPED: 'plain', HIDDEN: 'hush-word', BOTH: 'v' })
})

test('what came from a Secret is never in an argument, and is known as a secret', async () => {
  const { varArgs, secrets } = await gathered({
    forProvider: {
      varFiles: [{ source: 'SecretKey', secretKeyRef: { name: 'creds', key: 'vars' } }],
      env: [
        { name: 'A', secretKeyRef: { name: 'creds', key: 'word' } },
        { name: 'B', configMapKeyRef: { name: 'settings', key: 'vars' } },
      ],
    },
    config: {
      credentials: [
        { filename: 'e', source: 'Environment', env: { name: 'FROM_ENGINE' } },
        { filename: 's', source: 'Secret', secretRef: { name: 'creds', namespace: 'other', key: 'word' } },
      ],
    },
  })
  expect(varArgs.join(' ')).not.toContain('hush')
  expect(secrets).toEqual(expect.arrayContaining(['hush-token-1', 'hush-word', 'foreign-secret', 'of the engine']))
  expect(secrets).not.toContain('size = 3')
})

describe('a ProviderConfig', () => {
  test('brings its configuration, its backend and its wish for a cache', async () => {
    const config = { configuration: 'provider "aws" {}', backendFile: 'path = "x"', pluginCache: false }
    expect(await gathered({ config })).toMatchObject({
      files: { 'crossplane-provider-config.tf': 'provider "aws" {}', 'crossplane.remote.tfbackend': 'path = "x"' },
      hasBackendFile: true,
      usesPluginCache: false,
    })
  })

  test('for the whole cluster takes credentials from anywhere', async () => {
    const folder = aFolder({ creds: 'from a file' })
    const { files, usesIdentity } = await gathered({
      config: {
        credentials: [
          { filename: 'none', source: 'None' },
          { filename: 'injected', source: 'InjectedIdentity' },
          { filename: 'secret.json', source: 'Secret', secretRef: { name: 'creds', namespace: 'other', key: 'word' } },
          { filename: 'env', source: 'Environment', env: { name: 'FROM_ENGINE' } },
          { filename: 'file', source: 'Filesystem', fs: { path: join(folder, 'creds') } },
          { filename: '.terraformrc', source: 'Environment', env: { name: 'FROM_ENGINE' } },
        ],
      },
    })
    expect(files).toEqual({
      'main.tf': '# module',
      'secret.json': 'foreign-secret',
      env: 'of the engine',
      file: 'from a file',
      '.terraformrc': 'of the engine',
    })
    expect(usesIdentity).toBe(false)
  })

  test.each<[string, ProviderConfig['spec']['credentials'], boolean]>([
    ['no credentials', undefined, true],
    ['an injected identity', [{ filename: 'x', source: 'InjectedIdentity' }], true],
    [
      'credentials for modules only',
      [{ filename: '.git-credentials', source: 'Environment', env: { name: 'FROM_ENGINE' } }],
      true,
    ],
    ['credentials for a cloud', [{ filename: 'aws', source: 'Environment', env: { name: 'FROM_ENGINE' } }], false],
  ])('with %s: whether the role of the pod is meant', async (_, credentials, isMeant) => {
    expect(await gathered({ config: { ...(credentials && { credentials }) } })).toHaveProperty('usesIdentity', isMeant)
  })

  test('of a namespace takes credentials from there', async () => {
    const credentials = [{ filename: 'a', source: 'Secret', secretRef: { name: 'creds', key: 'word' } }] as const
    expect(await gathered({ configIn: 'team', config: { credentials } })).toMatchObject({ files: { a: 'hush-word' } })
  })

  test.each(['main.tf', 'main.tf.json', 'crossplane-provider-config.tf', 'crossplane.remote.tfbackend', '..', '.', ''])(
    'cannot put a credential into a file called %j',
    async (filename) => {
      const credentials = [{ filename, source: 'Environment', env: { name: 'FROM_ENGINE' } }] as const
      expect((await refusal({ config: { credentials } })).message).toMatch(/^credentials\[0\]\.filename cannot be/)
    },
  )

  test.each([
    '.terraform',
    '.terraform.lock.hcl',
    'terraform.tfstate',
    'errored.tfstate',
    'crossplane-provider-terraform-0.tfvars',
  ])('cannot put a credential where %s is', async (filename) => {
    const credentials = [{ filename, source: 'Environment', env: { name: 'FROM_ENGINE' } }] as const
    expect((await refusal({ config: { credentials } })).message).toContain('use another name')
  })

  test('cannot climb with the name of a credential', async () => {
    const credentials = [{ filename: '../../etc/aws', source: 'Environment', env: { name: 'FROM_ENGINE' } }] as const
    expect(Object.keys((await gathered({ config: { credentials } })).files)).toEqual(['aws', 'main.tf'])
  })
})

describe('a remote module', () => {
  test.each([
    [undefined, true],
    ['Always', true],
    ['IfNotPresent', false],
  ] as const)('with pull policy %s', async (remotePullPolicy, isPulledAlways) => {
    const forProvider = {
      source: 'Remote',
      module: 'git::https://x//y',
      ...(remotePullPolicy && { remotePullPolicy }),
    } as const
    const { files, remote } = await gathered({ forProvider })
    expect(files).toEqual({})
    expect(remote).toEqual({ from: 'address', address: 'git::https://x//y', isPulledAlways })
  })

  test.each([
    ['GitRepository::team/modules', { from: 'artifact', url: 'http://flux/a.tar.gz', digest: 'sha256:abc' }],
    ['ocirepository::team/modules', { from: 'artifact', url: 'http://flux/c.tar.gz', digest: 'sha256:012' }],
  ])('of Flux: %s', async (module, remote) => {
    expect(await gathered({ forProvider: { source: 'Flux', module } })).toMatchObject({ remote })
  })

  test.each([
    ['HelmRepository::team/modules', 'module names no Flux source: write GitRepository::namespace/name'],
    ['constructor::team/modules', 'module names no Flux source'],
    ['modules', 'module names no Flux source'],
    ['GitRepository::team/a/b', 'module names no Flux source'],
    ['GitRepository::other/modules', 'module leads to GitRepository other/modules: only one in team may be used'],
    ['GitRepository::team/new', 'GitRepository team/new has no artifact yet: see its conditions'],
    ['GitRepository::team/unchecked', 'the artifact of GitRepository team/unchecked has no sha256 digest'],
    ['GitRepository::team/gone', 'cannot read GitRepository team/gone: 404'],
  ])('of Flux: %s is refused', async (module, says) => {
    expect((await refusal({ forProvider: { source: 'Flux', module } })).message).toContain(says)
  })
})

test.each([
  ['', ''],
  ['a/b', 'a/b'],
  ['../../a', 'a'],
  ['a/../../b', 'a/b'],
  ['./a//b/', 'a/b'],
  ['..', ''],
  ['a..b', 'a..b'],
])('entrypoint %j leads to %j', async (entrypoint, leadsTo) => {
  expect(await gathered({ forProvider: { entrypoint } })).toHaveProperty('entrypoint', leadsTo)
})

test('an absolute entrypoint is refused', async () => {
  expect((await refusal({ forProvider: { entrypoint: '/etc' } })).message).toContain('entrypoint /etc is absolute')
})

const varFile = (namespace?: string): Partial<ForProvider> => ({
  varFiles: [{ source: 'SecretKey', secretKeyRef: { name: 'creds', key: 'vars', ...(namespace && { namespace }) } }],
})
const mapFile = (namespace?: string): Partial<ForProvider> => ({
  varFiles: [
    { source: 'ConfigMapKey', configMapKeyRef: { name: 'settings', key: 'vars', ...(namespace && { namespace }) } },
  ],
})
const envSecret = (namespace?: string): Partial<ForProvider> => ({
  env: [{ name: 'A', secretKeyRef: { name: 'creds', key: 'word', ...(namespace && { namespace }) } }],
})
const envMap = (namespace?: string): Partial<ForProvider> => ({
  env: [{ name: 'A', configMapKeyRef: { name: 'settings', key: 'word', ...(namespace && { namespace }) } }],
})
const references = [
  ['a var file from a Secret', varFile],
  ['a var file from a ConfigMap', mapFile],
  ['a variable from a Secret', envSecret],
  ['a variable from a ConfigMap', envMap],
] as const

describe.each(references)('tenancy of %s', (_, refer) => {
  test('a namespaced Workspace reads beside itself, whatever it says', async () => {
    const live = liveOf()
    const inputs = await gathered({ forProvider: refer('other') }, live)
    expect(live.reads).toEqual([expect.stringContaining(' team/')])
    expect(JSON.stringify(inputs)).not.toContain('foreign')
  })

  test('an operator’s Workspace for the whole cluster reads where it says', async () => {
    const inputs = await gathered({ group: 'tf.upbound.io', forProvider: refer('other') })
    expect(JSON.stringify(inputs)).toContain('foreign')
  })

  test('but it must say where', async () => {
    const { message } = await refusal({ group: 'tf.upbound.io', forProvider: refer() })
    expect(message).toContain('names no namespace')
  })

  test('one made for an apply reads only in the namespace of the apply', async () => {
    const given = { group: 'opentofu.upbound.io', annotations: { 'capt.appthrust.io/apply': 'team/net' } } as const
    const live = liveOf()
    expect((await refusal({ ...given, forProvider: refer('other') }, live)).message).toContain(
      'leads to namespace other, but the Workspace is for team: refer to what is in team',
    )
    expect(live.reads).toEqual([])
    await expect(gathered({ ...given, forProvider: refer('team') })).resolves.toBeDefined()
  })

  test.each(['nonsense', ''])('one whose apply is %j reads nowhere', async (apply) => {
    const annotations = { 'capt.appthrust.io/apply': apply }
    const { message } = await refusal({ group: 'tf.upbound.io', annotations, forProvider: refer('team') })
    expect(message).toContain('leads to namespace team')
  })
})

describe('which ProviderConfig may be used', () => {
  const key = 'capt.appthrust.io/allowed-namespaces'
  const ofApply = { group: 'tf.upbound.io', annotations: { 'capt.appthrust.io/apply': 'team/net' } } as const
  const ofOperator = { group: 'tf.upbound.io' } as const
  test.each<[string, Given, boolean]>([
    ['one that says nothing', {}, true],
    ['one that lists us', { configAnnotations: { [key]: 'a, team' } }, true],
    ['one that is for all', { configAnnotations: { [key]: '*' } }, true],
    ['one that lists others', { configAnnotations: { [key]: 'a,teams' } }, false],
    ['one that lists nobody', { configAnnotations: { [key]: '' } }, false],
    ['one that lists the namespace of our apply', { ...ofApply, configAnnotations: { [key]: 'team' } }, true],
    ['one that lists others than our apply', { ...ofApply, configAnnotations: { [key]: 'a' } }, false],
    ['one with a list, by a Workspace of no namespace', { ...ofOperator, configAnnotations: { [key]: 'a' } }, false],
    ['one for all, by a Workspace of no namespace', { ...ofOperator, configAnnotations: { [key]: '*' } }, true],
    ['one in our namespace', { configIn: 'team' }, true],
    ['one in our namespace, whose list means nothing', { configIn: 'team', configAnnotations: { [key]: 'a' } }, true],
    ['one in another namespace', { configIn: 'other' }, false],
  ])('%s', async (_, given, isAllowed) => {
    const judged = await gathered(given).then(
      () => 'allowed',
      (error: Error) => error.message,
    )
    expect(judged).toMatch(isAllowed ? /^allowed$/ : /ProviderConfig/)
  })

  test.each<[string, NonNullable<ProviderConfig['spec']['credentials']>[number], string]>([
    [
      'a Secret of another namespace',
      { filename: 'x', source: 'Secret', secretRef: { name: 'creds', namespace: 'other', key: 'word' } },
      'credentials[0].secretRef of ProviderConfig team/default leads to namespace other: move the Secret to team',
    ],
    [
      'the engine’s environment',
      { filename: 'x', source: 'Environment', env: { name: 'FROM_ENGINE' } },
      "credentials[0] is from the engine's environment, which a ProviderConfig of a namespace may not read",
    ],
    [
      'the engine’s files',
      { filename: 'x', source: 'Filesystem', fs: { path: '/var/run/secrets/kubernetes.io/serviceaccount/token' } },
      "credentials[0] is from the engine's files, which a ProviderConfig of a namespace may not read",
    ],
  ])('one of a namespace does not reach %s', async (_, credential, says) => {
    const live = liveOf()
    const { message } = await refusal({ configIn: 'team', config: { credentials: [credential] } }, live)
    expect(message).toContain(says)
    expect(live.reads).toEqual([])
  })
})

describe('what is not there is named, with what to do', () => {
  const gone = { name: 'gone', key: 'x' }
  const keyless = { name: 'creds', key: 'constructor' }
  test.each<[string, Given, string]>([
    [
      'a Secret',
      { forProvider: { varFiles: [{ source: 'SecretKey', secretKeyRef: gone }] } },
      'cannot read Secret team/gone: 404 secrets "gone" not found: create it, or correct varFiles[0].secretKeyRef',
    ],
    [
      'a key',
      { forProvider: { env: [{ name: 'A', secretKeyRef: keyless }] } },
      'Secret team/creds has no key constructor: add it, or correct env[0].secretKeyRef',
    ],
    [
      'a ConfigMap',
      { forProvider: { env: [{ name: 'A', configMapKeyRef: gone }] } },
      'cannot read ConfigMap team/gone: 404 configmaps "gone" not found: create it, or correct env[0].configMapKeyRef',
    ],
    [
      'a reference',
      { forProvider: { varFiles: [{ source: 'SecretKey', configMapKeyRef: { name: 'settings', key: 'vars' } }] } },
      'varFiles[0].secretKeyRef is missing, where source is SecretKey: add it',
    ],
    [
      'a reference to credentials',
      { config: { credentials: [{ filename: 'x', source: 'Secret' }] } },
      'credentials[0] is from a Secret but has no secretRef: add it',
    ],
    [
      'a variable of the engine',
      { config: { credentials: [{ filename: 'x', source: 'Environment', env: { name: 'NOPE' } }] } },
      'credentials[0]: the engine has no environment variable NOPE: set it, or correct env.name',
    ],
    [
      'a file of the engine',
      { config: { credentials: [{ filename: 'x', source: 'Filesystem', fs: { path: '/nowhere' } }] } },
      'credentials[0]: the engine cannot read /nowhere: mount it, or correct fs.path',
    ],
  ])('%s', async (_, given, says) => {
    expect(await refusal(given)).toMatchObject({ message: says })
  })
})

describe('an environment that cannot be', () => {
  const secret = (text: string | Buffer) =>
    liveOf({ 'Secret team/creds': { data: { word: Buffer.from(text).toString('base64') } } })
  test.each([
    ['TF_WORKSPACE', 'env[0] sets TF_WORKSPACE, which the engine sets: remove it'],
    ['TF_DATA_DIR', 'env[0] sets TF_DATA_DIR, which the engine sets: remove it'],
    ['A=B', 'env[0].name is no name of a variable'],
    ['', 'env[0].name is no name of a variable'],
  ])('%j', async (name, says) => {
    expect((await refusal({ forProvider: { env: [{ name, value: 'x' }] } })).message).toContain(says)
  })

  test.each([
    ['a NUL', 'hush\0hush', 'env[0] (A) holds a NUL'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe]), 'leads to bytes that are no text (UTF-8)'],
  ])('with %s, told without its value', async (_, text, says) => {
    const { message } = await refusal({ forProvider: envSecret() }, secret(text))
    expect(message).toContain(says)
    expect(message).not.toContain('hush')
  })
})

test('an API server in trouble is not taken for something missing', async () => {
  const trouble = new ApiError({ doing: 'read Secret team/creds', code: 500, message: 'etcd is away' })
  const live = { get: async () => Promise.reject(trouble) }
  await expect(gather(asked({ forProvider: varFile() }), live, ours)).rejects.toBe(trouble)
})
