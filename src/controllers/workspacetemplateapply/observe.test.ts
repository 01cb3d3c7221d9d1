import { describe, expect, test } from 'vitest'
import { apply, template, varsSecret } from '../../../test/applies.ts'
import {
  aDefinition,
  anApply,
  aWorkspace,
  aWorld,
  look,
  served,
  settings,
  type There,
  team,
} from '../../../test/applyworld.ts'
import { annotations, labels } from '../../api/keys.ts'
import { ConfigMap, CustomResourceDefinition, Namespace, Secret } from '../../api/neighbours.ts'
import { type KubeObject, readKey } from '../../api/resource.ts'
import { crossplane, workspaceAPIs } from '../../api/workspace.ts'
import { WorkspaceTemplate } from '../../api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { ApiError } from '../../kube/errors.ts'
import type { Live } from '../../runtime/controller.ts'
import { observe } from './observe.ts'
import { applyIndexes, namesakeOf } from './relations.ts'

type Apply = WorkspaceTemplateApply

const bytes = (data: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]))
const placeOf = ({ where }: Awaited<ReturnType<typeof look>>) =>
  where.is === 'none' ? where.reason : `${where.api.group}/${where.name} on ${where.externalName}`

describe('where its Workspace is', () => {
  const aLuggage = (of: object): There => [
    [
      Secret,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: 'vpc-state',
          namespace: 'team',
          labels: { [labels.apply]: 'team.vpc' },
          annotations: {
            [annotations.state]: JSON.stringify({ group: 'tf.upbound.io', externalName: 'state', ...of }),
          },
        },
      },
    ],
  ]
  const both = served('tf.upbound.io', 'tf.m.upbound.io')
  const allowing = (states: string): There => {
    const metadata = { name: 'team', annotations: { [annotations.allowedStates]: states } }
    return [[Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata }]]
  }
  const note = (workspace: string, externalName?: string) => ({
    annotations: {
      [annotations.workspace]: workspace,
      ...(externalName !== undefined && { [annotations.externalName]: externalName }),
    },
  })
  test.each<[string, Apply, There, string]>([
    ['the only API that is served', anApply(), served('tf.upbound.io'), 'tf.upbound.io/team.vpc on team.vpc'],
    ['a namespaced one has names of its own', anApply(), served('tf.m.upbound.io'), 'tf.m.upbound.io/vpc on team.vpc'],
    [
      'nowhere, while it is defined and not served yet',
      anApply(),
      [[CustomResourceDefinition, aDefinition('tf.upbound.io', 'False')]],
      'NoEngine',
    ],
    ['nowhere, when that is not clear', anApply(), both, 'AmbiguousEngine'],
    [
      'where others of ours are',
      anApply(),
      [...both, ...aWorkspace('tf.upbound.io', 'other', { labels: { [labels.apply]: 'x' } })],
      'tf.upbound.io/team.vpc on team.vpc',
    ],
    ['where it was made', anApply(note('tf.m.upbound.io/vpc')), both, 'tf.m.upbound.io/vpc on team.vpc'],
    [
      'where the status says, whatever an annotation does',
      anApply(note('tf.m.upbound.io/other'), {}, { workspaceName: 'team.vpc', workspaceAPI: 'tf.upbound.io' }),
      both,
      'tf.upbound.io/team.vpc on team.vpc',
    ],
    [
      'where the predecessor made it',
      anApply({}, {}, { workspaceName: 'old' }),
      [...both, ...aWorkspace('tf.upbound.io', 'old')],
      'tf.upbound.io/old on old',
    ],
    [
      'with the external name it has',
      anApply({}, {}, { workspaceName: 'old' }),
      [...both, ...aWorkspace('tf.upbound.io', 'old', { annotations: { [crossplane.externalName]: 'state' } })],
      'tf.upbound.io/old on state',
    ],
    [
      'with the external name it had before it was deleted',
      anApply(note('tf.m.upbound.io/vpc', 'team.before')),
      both,
      'tf.m.upbound.io/vpc on team.before',
    ],
    ["not on a state that may be another's", anApply(note('tf.m.upbound.io/vpc', 'rich.vpc')), both, 'StateMissing'],
    ["not under a name that may be another's", anApply(note('tf.upbound.io/rich.vpc')), both, 'StateMissing'],
    [
      "not under a name that may be another's, even on a state of its own",
      anApply(note('tf.upbound.io/rich.vpc', 'team.vpc')),
      both,
      'StateMissing',
    ],
    [
      'on the state of its own that came along in a move',
      anApply(note('tf.upbound.io/old', 'state')),
      [...both, ...aLuggage({ backend: 'kubernetes', lineage: 'l' })],
      'tf.upbound.io/old on state',
    ],
    [
      "not on a state that may be another's, though a Secret says that it is elsewhere",
      anApply(note('tf.upbound.io/old', 'state')),
      [...both, ...aLuggage({ backend: 'other' })],
      'StateMissing',
    ],
    [
      'on a state elsewhere, when its Namespace says that it may be',
      anApply(note('tf.upbound.io/old', 'state')),
      [...both, ...aLuggage({ backend: 'other' }), ...allowing('other, state')],
      'tf.upbound.io/old on state',
    ],
    [
      'not on another one than its Namespace says',
      anApply(note('tf.upbound.io/old', 'state')),
      [...both, ...aLuggage({ backend: 'other' }), ...allowing('other')],
      'StateMissing',
    ],
    [
      "not on a state elsewhere that may be another's, though a word on the apply says that it is its own",
      anApply({ annotations: { ...note('tf.upbound.io/old', 'state').annotations, [annotations.adopt]: 'approved' } }),
      [...both, ...aLuggage({ backend: 'other' })],
      'StateMissing',
    ],
    [
      "not on a state that may be another's, though a Secret has none in it",
      anApply(note('tf.upbound.io/old', 'state')),
      [...both, ...aLuggage({ backend: 'kubernetes' })],
      'StateMissing',
    ],
    [
      'not on another state than that which came along',
      anApply(note('tf.upbound.io/old', 'rich.state')),
      [...both, ...aLuggage({ backend: 'kubernetes', lineage: 'l' })],
      'StateMissing',
    ],
    ["not under a name whose state may be another's", anApply(note('tf.m.upbound.io/rich.vpc')), both, 'StateMissing'],
  ])('%s', async (_, subject, there, place) => {
    expect(placeOf(await look(subject, there))).toBe(place)
  })

  test('the template has a say before the manager', async () => {
    const own: WorkspaceTemplate = { ...template, spec: { ...template.spec, workspaceAPI: 'tf.m.upbound.io' } }
    const there: There = [...both, [WorkspaceTemplate, own]]
    expect(placeOf(await look(anApply(), there, { workspaceAPI: 'tf.upbound.io' }))).toMatch(/^tf.m.upbound.io/)
    expect(placeOf(await look(anApply(), both, { workspaceAPI: 'tf.upbound.io' }))).toMatch(/^tf.upbound.io/)
  })

  test('Crossplane is known by what it owns', async () => {
    const [[resource, definition] = [CustomResourceDefinition, apply]] = served('tf.m.upbound.io')
    const owner = { apiVersion: 'pkg.crossplane.io/v1', kind: 'ProviderRevision', name: 'x', uid: 'y' }
    const owned = { ...definition, metadata: { ...definition.metadata, ownerReferences: [owner] } }
    expect((await look(anApply(), [[resource, owned]])).where).toMatchObject({ isCrossplane: true })
    expect((await look(anApply(), [[resource, definition]])).where).toMatchObject({ isCrossplane: false })
  })

  test('where Crossplane keeps its state is asked when it is to be moved, and where it arrived, and never else', async () => {
    const [[, definition] = [CustomResourceDefinition, apply]] = served('tf.m.upbound.io')
    const owner = { apiVersion: 'pkg.crossplane.io/v1', kind: 'ProviderRevision', name: 'x', uid: 'y' }
    const owned = { ...definition, metadata: { ...definition.metadata, ownerReferences: [owner] } }
    const crossplanes: There[number] = [CustomResourceDefinition, owned]
    const ours: There[number] = [CustomResourceDefinition, definition]
    const config: There[number] = [
      workspaceAPIs['tf.m.upbound.io'].clusterProviderConfig ?? Secret,
      {
        apiVersion: 'tf.m.upbound.io/v1beta1',
        kind: 'ClusterProviderConfig',
        metadata: { name: 'default' },
        spec: { configuration: 'terraform {\n  backend "s3" {\n  }\n}\n' },
      } as KubeObject,
    ]
    const paused = anApply({ annotations: { ...apply.metadata.annotations, 'cluster.x-k8s.io/paused': '' } })
    const free = anApply({ annotations: { 'cluster.x-k8s.io/paused': '' } })
    const luggage: There[number] = [
      Secret,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          ...team('vpc-state'),
          annotations: { [annotations.apply]: 'team/vpc', [annotations.state]: '{"backend":"other"}' },
        },
      },
    ]
    const workspace = aWorkspace('tf.m.upbound.io', 'vpc')
    const s3 = { is: 'elsewhere', place: 's3' }
    const none = { is: 'bound', why: 'is not known, for there is no ClusterProviderConfig default' }
    const cases: readonly [Apply, There, object | undefined][] = [
      [paused, [crossplanes, config, ...workspace], s3],
      [paused, [crossplanes, ...workspace], none],
      [paused, [ours, config, ...workspace], undefined],
      [paused, [crossplanes, config], undefined],
      [free, [crossplanes, config, ...workspace], undefined],
      [anApply(), [crossplanes, config, luggage], s3],
      [anApply(), [crossplanes, luggage], none],
      [anApply(), [crossplanes, config], undefined],
      [anApply(), [crossplanes, config, luggage, ...workspace], undefined],
    ]
    for (const [subject, there, home] of cases) {
      const seen = await look(subject, there)
      expect(seen.home).toEqual(home)
      expect(seen.asked.some((each) => each.includes('providerconfigs'))).toBe(home !== undefined)
    }
  })

  test('an engine is silent two minutes after it was last heard of on any Workspace', async () => {
    const silentAt = async (created: string, others: There = []) => {
      const there = [
        ...served('tf.m.upbound.io'),
        ...aWorkspace('tf.m.upbound.io', 'vpc', { creationTimestamp: created }),
      ]
      const { where } = await look(anApply(), [...there, ...others])
      return where.is === 'known' && where.silentAt !== undefined
        ? new Date(where.silentAt).toISOString().slice(11, 19)
        : undefined
    }
    expect(await silentAt('2026-11-16T11:59:30Z')).toBe('12:01:30')
    expect(await silentAt('2026-11-16T11:00:00Z')).toBe('11:02:00')
    const heard = { annotations: { [crossplane.createPending]: '2026-11-16T11:59:00Z' } }
    // To the moment.
    expect(await silentAt('2026-11-16T11:00:00Z', aWorkspace('tf.m.upbound.io', 'other', heard))).toBe('12:01:10')
    const longAgo = { annotations: { [crossplane.createPending]: '2026-11-16T11:40:00Z' } }
    expect(await silentAt('2026-11-16T11:00:00Z', aWorkspace('tf.m.upbound.io', 'other', longAgo))).toBe('11:02:00')
    const own = await look(anApply(), [...served('tf.m.upbound.io'), ...aWorkspace('tf.m.upbound.io', 'vpc', heard)])
    expect(own.where).toMatchObject({ silentAt: undefined })
  })
})

test('an engine that has left nothing but a usage is not silent', async () => {
  const there = [
    ...served('tf.m.upbound.io'),
    ...aWorkspace('tf.m.upbound.io', 'vpc', { uid: 'u1', creationTimestamp: '2026-11-16T11:00:00Z' }),
  ]
  const usage = { apiVersion: 'tf.m.upbound.io/v1beta1', kind: 'ProviderConfigUsage', metadata: team('u1') }
  const silent = await look(anApply(), there)
  expect(silent.where).toMatchObject({ silentAt: Date.parse('2026-11-16T11:02:00Z') })
  const busy = await look(anApply(), [...there, [workspaceAPIs['tf.m.upbound.io'].usage, usage]])
  expect(busy.where).toMatchObject({ silentAt: undefined })
})

describe('what it waits for and what its variables are', () => {
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'Ready',
    message: '',
    observedGeneration: 1,
    lastTransitionTime: '',
  } as const
  const other = (status: object = { conditions: [ready], outputs: { id: 'net-1', deep: { a: [1, 2] } } }): There => [
    [
      WorkspaceTemplateApply,
      {
        ...anApply({ ...team('net'), annotations: { [annotations.workspace]: 'tf.m.upbound.io/net' } }),
        status,
      } as Apply,
    ],
    ...aWorkspace('tf.m.upbound.io', 'net'),
  ]
  const secret = (name: string, data: Readonly<Record<string, string>>): There => [
    [Secret, { apiVersion: 'v1', kind: 'Secret', metadata: team(name), data: bytes(data) } as Secret],
  ]
  const fromApply = (output: string, optional = false) => ({ name: 'cidr', apply: { name: 'net', output }, optional })
  const fromSecret = (key: string, format = 'Text') => ({
    name: 'cidr',
    secret: { name: 'db', key, format },
    optional: false,
  })
  const configMap: There = [
    [
      ConfigMap,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: team('db'), data: { json: '[1]', text: 'hello' } } as ConfigMap,
    ],
  ]
  const converged = (there: There): There => {
    const [synced, available] = [
      { type: 'Synced', reason: 'ReconcileSuccess' },
      { type: 'Ready', reason: 'Available' },
    ]
    const conditions = [synced, available].map((each) => ({ ...each, status: 'True', observedGeneration: 1 }))
    return there.map(([kind, { metadata, ...object }]) => [
      kind,
      { ...object, metadata: { ...metadata, generation: 1 }, status: { conditions } } as KubeObject,
    ])
  }
  const connection = (data: Readonly<Record<string, string>>): There =>
    secret('db', data).map(([kind, object]) => [kind, { ...object, type: crossplane.connectionSecretType }])
  const all = [...served('tf.m.upbound.io'), ...secret('db', { text: 'hello', json: '{"a":1}', no: '{' })]

  test.each<[string, object, There, unknown]>([
    ['an output', fromApply('id'), other(), { is: 'known', value: 'net-1', isSensitive: false }],
    ['a part of one', fromApply('deep.a.1'), other(), { is: 'known', value: 2, isSensitive: false }],
    [
      'a sensitive one',
      fromApply('token'),
      [...other(), ...secret('connection', { token: 't' })],
      { is: 'known', value: 't', isSensitive: true },
    ],
    [
      'none of that name',
      fromApply('none'),
      [...other(), ...secret('connection', {})],
      { is: 'missing', why: 'apply net has no output none' },
    ],
    [
      'an apply that has not converged',
      fromApply('id'),
      other({}),
      { is: 'missing', why: 'apply net has not converged' },
    ],
    ['a text', fromSecret('text'), all, { is: 'known', value: 'hello', isSensitive: true }],
    ['JSON', fromSecret('json', 'JSON'), all, { is: 'known', value: { a: 1 }, isSensitive: true }],
    ['no JSON', fromSecret('no', 'JSON'), all, { is: 'missing', why: 'key no of Secret db is not JSON' }],
    ['no such key', fromSecret('none'), all, { is: 'missing', why: 'Secret db has no key none' }],
    ['no such Secret', fromSecret('text'), [], { is: 'missing', why: 'Secret db is not there' }],
    [
      'a ConfigMap',
      { name: 'cidr', configMap: { name: 'db', key: 'json', format: 'JSON' } },
      configMap,
      { is: 'known', value: [1], isSensitive: false },
    ],
  ])('%s', async (_, from, there, found) => {
    const seen = await look(anApply({}, { variablesFrom: [from] }), there)
    expect(seen.found.get('cidr')).toEqual(found)
  })

  test('bytes that are no text are no value', async () => {
    const binary: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: team('db'),
      data: { key: Buffer.from([0xff, 0xfe]).toString('base64') },
    }
    const seen = await look(anApply({}, { variablesFrom: [fromSecret('key')] }), [[Secret, binary]])
    expect(seen.found.get('cidr')).toEqual({ is: 'missing', why: 'key key of Secret db is not UTF-8 text' })
  })

  test.each<[string, object, There, string]>([
    ['an apply that is ready', { variablesFrom: [fromApply('id')] }, other(), 'net ready'],
    ['an apply that is not there', { variablesFrom: [fromApply('id')] }, [], 'net waiting'],
    ['an optional one that is not there', { variablesFrom: [fromApply('id', true)] }, [], ''],
    ['an optional one that is not ready', { variablesFrom: [fromApply('id', true)] }, other({}), 'net waiting'],
    ['a Workspace', { waitForWorkspaces: [{ name: 'net' }] }, aWorkspace('tf.m.upbound.io', 'net'), 'net waiting'],
    ['a Secret', { waitForSecrets: [{ name: 'db' }] }, all, 'db ready'],
    ['a Secret that is not there', { waitForSecrets: [{ name: 'db' }] }, [], 'db waiting'],
    ['a Secret that an engine has not filled yet', { waitForSecrets: [{ name: 'db' }] }, connection({}), 'db waiting'],
    ['a Secret that an engine has filled', { waitForSecrets: [{ name: 'db' }] }, connection({ a: 'b' }), 'db ready'],
    [
      'a Workspace that another namespace asked for, which is none of its business',
      { waitForWorkspaces: [{ name: 'rich.vpc' }] },
      converged(aWorkspace('tf.upbound.io', 'rich.vpc', { annotations: { [annotations.apply]: 'rich/vpc' } })),
      'rich.vpc waiting',
    ],
    [
      'a Workspace that nobody asked for',
      { waitForWorkspaces: [{ name: 'shared' }] },
      converged(aWorkspace('tf.upbound.io', 'shared')),
      'shared ready',
    ],
    [
      'a Secret, no longer once there is a Workspace',
      { waitForSecrets: [{ name: 'db' }] },
      [...served('tf.m.upbound.io'), ...aWorkspace('tf.m.upbound.io', 'vpc')],
      '',
    ],
    [
      'a Secret of another namespace, which is not even looked for',
      { waitForSecrets: [{ name: 'db', namespace: 'rich' }] },
      [],
      '',
    ],
  ])('%s', async (_, spec, there, waits) => {
    const { dependencies, asked } = await look(anApply({}, spec), there)
    expect(dependencies.map(({ name, is }) => `${name} ${is}`).join()).toBe(waits)
    expect(asked.filter((each) => each.includes('rich'))).toEqual([])
  })

  test('a Secret that cannot be read is an error, not one that is missing', async () => {
    const { read } = aWorld([])
    const live = {
      get: async () => Promise.reject(new ApiError({ doing: 'read', code: 403, message: 'no' })),
      now: () => new Date(),
    } as unknown as Live
    await expect(observe(read, anApply({}, { waitForSecrets: [{ name: 'db' }] }), live, settings)).rejects.toThrow(
      '403',
    )
  })

  test('each source is read once, and where nothing is secret nothing is read', async () => {
    const twice = [fromSecret('text'), { ...fromSecret('json'), name: 'password' }]
    const { asked, sources } = await look(anApply({}, { variables: {}, variablesFrom: twice }), all)
    expect(asked).toEqual(['secrets team/vpc-state', 'secrets team/db', 'secrets team/vpc-vars'])
    expect(sources.map(({ object }) => object.metadata.name)).toEqual(['db'])
    expect((await look(anApply(), all)).asked).toEqual(['secrets team/vpc-state'])
  })

  test('a Secret that merely has the name is not taken for ours, nor its salt', async () => {
    const seen = async (metadata: object) =>
      look(anApply({}, { variables: {}, variablesFrom: [fromSecret('text')] }), [
        ...all,
        [Secret, { ...varsSecret, metadata: { ...varsSecret.metadata, ...metadata } }],
      ])
    const bare = { labels: {}, annotations: {}, ownerReferences: [] }
    for (const whose of [bare, { annotations: { [annotations.apply]: 'team/other' } }]) {
      const theirs = await seen(whose)
      expect([theirs.isSecretTaken, theirs.secret, theirs.salt.open() === 'a pinch']).toEqual([true, undefined, false])
    }
    const ours = [{ ownerReferences: [] }, { annotations: {} }, { ...bare, managedFields: [{ manager: writer }] }]
    for (const whose of [{}, ...ours]) {
      const own = await seen(whose)
      expect([own.isSecretTaken, own.secret?.metadata.name, own.salt.open()]).toEqual([false, 'vpc-vars', 'a pinch'])
    }
  })
  const writer = 'capt-workspacetemplateapply'

  test('a template of another namespace is looked at only where namespaces trust each other', async () => {
    const elsewhere: There = [
      [WorkspaceTemplate, { ...template, metadata: { ...template.metadata, namespace: 'rich' } }],
    ]
    const subject = anApply({}, { templateRef: { name: 'network', namespace: 'rich' } })
    expect((await look(subject, elsewhere)).template).toBeUndefined()
    expect((await look(subject, elsewhere, { isCrossNamespaceAllowed: true })).template).toBeDefined()
  })
})

test('of an apply that is paused nothing is read', async () => {
  const spec = {
    waitForSecrets: [{ name: 'db' }],
    variablesFrom: [{ name: 'a', secret: { name: 'db', key: 'b', format: 'Text' } }],
  }
  expect((await look(anApply({ annotations: { 'cluster.x-k8s.io/paused': '' } }, spec), [])).asked).toEqual([])
})

describe('when something leaves', () => {
  test('those that use it are named as long as they have a Workspace', async () => {
    const going = anApply({ deletionTimestamp: '2026-11-16T11:00:00Z' })
    const user = (name: string): There => [
      [
        WorkspaceTemplateApply,
        anApply(
          { ...team(name), annotations: { [annotations.workspace]: `tf.m.upbound.io/${name}` } },
          { waitForWorkspaces: [{ name: 'vpc' }] },
        ),
      ],
    ]
    const there = [
      ...user('b'),
      ...user('a'),
      ...user('c'),
      ...aWorkspace('tf.m.upbound.io', 'b'),
      ...aWorkspace('tf.m.upbound.io', 'a'),
    ]
    expect((await look(going, there)).dependents).toEqual(['a', 'b'])
  })

  test('whether the namespace goes is asked only of a Workspace that goes alone', async () => {
    const namespace = (metadata: object): There => [
      [Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team', ...metadata } }],
    ]
    const deletionTimestamp = '2026-11-16T11:00:00Z'
    const going = [...served('tf.m.upbound.io'), ...aWorkspace('tf.m.upbound.io', 'vpc', { deletionTimestamp })]
    expect((await look(anApply(), [...going, ...namespace({})])).isNamespaceLeaving).toBe(false)
    expect((await look(anApply(), [...going, ...namespace({ deletionTimestamp })])).isNamespaceLeaving).toBe(true)
    expect((await look(anApply({ deletionTimestamp }), going)).asked).not.toContain('namespaces team')
  })

  test('the Secret for its state is ours, barred or lost', async () => {
    const key = { namespace: 'team', name: 'vpc-state' }
    const secret = (whose: string): There => [
      [Secret, { apiVersion: 'v1', kind: 'Secret', metadata: { ...key, annotations: { [annotations.apply]: whose } } }],
    ]
    const gone: There = [
      [Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team', deletionTimestamp: 'now' } }],
    ]
    const made = [...served('tf.m.upbound.io'), ...aWorkspace('tf.m.upbound.io', 'vpc')]
    const moved = anApply({ annotations: { [annotations.workspace]: 'tf.m.upbound.io/vpc' } })
    const told = async (...args: Parameters<typeof look>) => {
      const { luggage, isLuggageBarred, isLuggageLost } = await look(...args)
      return [luggage !== undefined && 'ours', isLuggageBarred && 'barred', isLuggageLost && 'lost'].filter(Boolean)
    }
    expect(await told(anApply(), served('tf.m.upbound.io'))).toEqual([])
    expect(await told(anApply(), secret('team/vpc'))).toEqual(['ours'])
    expect(await told(anApply(), secret('team/other'))).toEqual(['barred'])
    expect(await told(moved, made)).toEqual([])
    expect(await told(moved, [...made, ...gone])).toEqual(['barred'])
    expect(await told(moved, served('tf.m.upbound.io'))).toEqual(['lost'])
    expect(await told(moved, secret('team/vpc'))).toEqual(['ours'])
    expect(await told(moved, secret('team/other'))).toEqual(['barred', 'lost'])
  })

  test('the Secret for its state that was stripped of whose it is, is ours where it belongs, and lost where it arrives', async () => {
    const uid = 'uid-of-vpc'
    const ownerReferences = [{ apiVersion: apply.apiVersion, kind: apply.kind, name: 'vpc', uid }]
    const metadata = { namespace: 'team', name: 'vpc-state', ownerReferences }
    const stripped: There = [[Secret, { apiVersion: 'v1', kind: 'Secret', metadata }]]
    const moved = anApply({ uid, annotations: { [annotations.workspace]: 'tf.m.upbound.io/vpc' } })
    const made = [...served('tf.m.upbound.io'), ...aWorkspace('tf.m.upbound.io', 'vpc')]
    expect(await look(moved, [...made, ...stripped])).toMatchObject({ luggage: { metadata }, isLuggageBarred: false })
    const arrived = await look(moved, [...served('tf.m.upbound.io'), ...stripped])
    expect(arrived).toMatchObject({ luggage: undefined, isLuggageLost: true })
  })
})

describe('an apply is found by every Workspace that could matter to it', () => {
  const found = (subject: Apply) => applyIndexes['workspace']?.(subject).toSorted()

  test('by its own, because they are its namesakes', () => {
    expect(namesakeOf({ name: 'team.vpc' })).toEqual(team('vpc'))
    expect(namesakeOf(team('vpc'))).toEqual(team('vpc'))
    expect(namesakeOf({ name: 'team.v.p.c' })).toEqual(team('v.p.c'))
    expect(found(anApply({}, {}, { workspaceName: 'vpc', workspaceAPI: 'tf.m.upbound.io' }))).toEqual([])
  })

  test('by those that are called otherwise', () => {
    const waits = { waitForWorkspaces: [{ name: 'net' }] }
    expect(found(anApply({}, waits, { workspaceName: 'old' }))).toEqual(['net', 'old', 'team/net', 'team/old'])
    expect(found(anApply({}, {}, { workspaceName: 'old', workspaceAPI: 'tf.upbound.io' }))).toEqual(['old'])
    const [long, ...others] = found(anApply({ name: 'x'.repeat(70) })) ?? []
    expect(others).toHaveLength(1)
    expect(long).toHaveLength(63)
    expect(readKey('team/vpc')).toEqual(team('vpc'))
  })
})
