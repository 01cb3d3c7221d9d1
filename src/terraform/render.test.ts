import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isRecord } from '../api/record.ts'
import { seal } from '../api/sealed.ts'
import { type WorkspaceGroup, workspaceAPIs } from '../api/workspace.ts'
import type { WorkspaceTemplate } from '../api/workspacetemplate.ts'
import type { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import { workspaceNameOf } from './identity.ts'
import { type Asked, type Found, type Rendered, render } from './render.ts'

type TemplateSpec = WorkspaceTemplate['spec']
type Inner = TemplateSpec['template']['spec']
type ForProvider = Inner['forProvider']
type ApplySpec = WorkspaceTemplateApply['spec']
type Declared = NonNullable<TemplateSpec['variables']>[number]

interface Situation {
  readonly module?: string
  readonly forProvider?: Partial<Omit<ForProvider, 'varmap'>> & {
    readonly varmap?: object
    readonly [newer: string]: unknown
  }
  readonly inner?: Partial<Inner>
  readonly declared?: readonly Declared[]
  readonly outer?: Partial<TemplateSpec>
  readonly variables?: Readonly<Record<string, unknown>>
  readonly apply?: Partial<ApplySpec>
  readonly found?: Readonly<Record<string, Found>>
  readonly group?: WorkspaceGroup
  readonly mayCross?: boolean
  readonly salt?: string
  readonly namespace?: string
}

function asked(situation: Situation): Asked {
  const { module = 'variable "name" {}\n', declared, outer, variables, group = 'tf.upbound.io' } = situation
  const key = { namespace: situation.namespace ?? 'team-a', name: 'demo' }
  const { varmap, ...fields } = situation.forProvider ?? {}
  const forProvider: ForProvider = { source: 'Inline', module, ...fields, ...(varmap && { varmap: { ...varmap } }) }
  const found = new Map(Object.entries(situation.found ?? {}))
  return {
    apply: {
      metadata: key,
      spec: {
        templateRef: { name: 'vpc' },
        deletionProtection: false,
        retainOnDelete: false,
        variablesFrom: [...found.keys()].map((name) => ({ name, optional: false })),
        ...(variables && { variables: { ...variables } }),
        ...situation.apply,
      },
    },
    template: {
      metadata: { namespace: 'team-a', name: 'vpc' },
      spec: {
        template: { spec: { forProvider, ...situation.inner } },
        ...(declared && { variables: [...declared] }),
        ...outer,
      },
    },
    api: workspaceAPIs[group],
    workspace: workspaceNameOf(workspaceAPIs[group], key),
    found,
    isCrossNamespaceAllowed: situation.mayCross ?? false,
    salt: seal(situation.salt ?? 'pepper'),
  }
}

function rendered(situation: Situation): Rendered {
  const result = render(asked(situation))
  if (result.is === 'refused') throw new Error(`refused: ${result.reason}: ${result.message}`)
  return result
}

function forProviderOf(situation: Situation): Readonly<Record<string, unknown>> {
  return { ...rendered(situation).spec.forProvider }
}

function secretsOf({ secretVars }: Rendered): unknown {
  return secretVars && JSON.parse(secretVars.open())
}

function aVariable(name: string, fields: Partial<Declared> = {}): Declared {
  return { name, type: 'any', required: false, sensitive: false, ...fields }
}

const secret = (value: unknown): Found => ({ is: 'known', value, isSensitive: true })
const known = (value: unknown): Found => ({ is: 'known', value, isSensitive: false })
const missing: Found = { is: 'missing', why: 'apply net has no output vpc_id yet' }

test.each<[string, string, readonly Declared[] | undefined, unknown]>([
  ['by the module', 'variable "auth" {\n  type = string\n}', undefined, '{"a":1}'],
  ['by the template', 'variable "auth" {}', [aVariable('auth', { type: 'string' })], '{"a":1}'],
  ['by nobody', 'variable "auth" {}', undefined, { a: 1 }],
])('a sensitive output that may be text or JSON is text where that is asked for: %s', (_, module, declared, value) => {
  const found = { auth: { is: 'known', value: { a: 1 }, text: '{"a":1}', isSensitive: true } } as const
  expect(secretsOf(rendered({ module, found, ...(declared && { declared }) }))).toEqual({ auth: value })
})

test('an apply of a template makes a whole Workspace, for the whole cluster', () => {
  const situation: Situation = {
    module: 'variable "name" {}\nvariable "key" {\n  sensitive = true\n}\n',
    forProvider: {
      inlineFormat: 'HCL',
      varmap: { zones: ['a'], name: 'old', key: 'old' },
      vars: [{ key: 'key', value: 'old' }],
      varFiles: [{ source: 'ConfigMapKey', configMapKeyRef: { name: 'files', key: 'x.tfvars' } }],
      env: [
        { name: 'AWS_REGION', value: '${region}' },
        { name: 'TOKEN', secretKeyRef: { name: 'token', namespace: 'team-a', key: 'value' } },
      ],
      newerField: { a: '${WORKSPACE_NAME}' },
    },
    inner: {
      deletionPolicy: 'Orphan',
      providerConfigRef: { name: 'account', policy: { resolve: 'Always' } },
      publishConnectionDetailsTo: {},
    },
    variables: { name: 'demo', region: 'eu-central-1', key: 's3cret' },
  }
  const { spec, revision, secretVars } = rendered(situation)
  expect(spec).toEqual({
    forProvider: {
      source: 'Inline',
      module: situation.module,
      inlineFormat: 'HCL',
      varmap: { zones: ['a'], name: 'demo' },
      varFiles: [
        { source: 'ConfigMapKey', configMapKeyRef: { name: 'files', namespace: 'team-a', key: 'x.tfvars' } },
        {
          source: 'SecretKey',
          format: 'JSON',
          secretKeyRef: { name: 'demo-vars', namespace: 'team-a', key: `${revision}.json` },
        },
      ],
      env: [
        { name: 'AWS_REGION', value: 'eu-central-1' },
        { name: 'TOKEN', secretKeyRef: { name: 'token', namespace: 'team-a', key: 'value' } },
      ],
      newerField: { a: 'team-a.demo' },
    },
    deletionPolicy: 'Orphan',
    providerConfigRef: { name: 'account' },
    writeConnectionSecretToRef: { name: 'demo-connection', namespace: 'team-a' },
  })
  expect(secretVars?.open()).toBe('{"key":"s3cret"}')
})

test('and where Workspaces are namespaced, without namespaces', () => {
  const { spec, revision } = rendered({
    group: 'tf.m.upbound.io',
    forProvider: { env: [{ name: 'TOKEN', secretKeyRef: { name: 'token', namespace: 'team-a', key: 'value' } }] },
    inner: { deletionPolicy: 'Orphan', providerConfigRef: { name: 'account' } },
    found: { name: secret('x') },
  })
  expect(spec).toEqual({
    forProvider: {
      source: 'Inline',
      module: 'variable "name" {}\n',
      varFiles: [{ source: 'SecretKey', format: 'JSON', secretKeyRef: { name: 'demo-vars', key: `${revision}.json` } }],
      env: [{ name: 'TOKEN', secretKeyRef: { name: 'token', key: 'value' } }],
    },
    managementPolicies: ['Observe', 'Create', 'Update', 'LateInitialize'],
    providerConfigRef: { kind: 'ClusterProviderConfig', name: 'account' },
    writeConnectionSecretToRef: { name: 'demo-connection' },
  })
})

describe('fields are as each API has them:', () => {
  const forProvider = {
    source: 'Remote',
    module: 'git::x',
    enableTerraformCLILogging: true,
    remotePullPolicy: 'Always',
  } as const

  test('provider-terraform', () => {
    expect(forProviderOf({ forProvider, group: 'tf.m.upbound.io' })).toEqual(forProvider)
  })

  test('provider-opentofu', () => {
    const inTofu = { source: 'Remote', module: 'git::x', enableTofuCLILogging: true }
    expect(forProviderOf({ forProvider, group: 'opentofu.upbound.io' })).toEqual(inTofu)
    expect(forProviderOf({ forProvider, group: 'opentofu.m.upbound.io' })).toEqual(inTofu)
  })

  test.each<[string, Situation, unknown]>([
    [
      'the ProviderConfig of the apply comes before that of the template',
      {
        apply: { providerConfigRef: { kind: 'ProviderConfig', name: 'mine' } },
        inner: { providerConfigRef: { name: 'theirs' } },
        group: 'tf.m.upbound.io',
      },
      { providerConfigRef: { kind: 'ProviderConfig', name: 'mine' } },
    ],
    [
      'a ProviderConfig for the whole cluster has no kind',
      { apply: { providerConfigRef: { kind: 'ProviderConfig', name: 'mine' } } },
      { providerConfigRef: { name: 'mine' } },
    ],
    [
      'policies are as the template says',
      { inner: { managementPolicies: ['Observe', 'Create'] } },
      { managementPolicies: ['Observe', 'Create'] },
    ],
    ['no policies are a pause', { inner: { managementPolicies: [] } }, { managementPolicies: [] }],
    [
      'policies of an orphan are without Delete',
      {
        group: 'tf.m.upbound.io',
        inner: { deletionPolicy: 'Orphan', managementPolicies: ['Observe', 'Create', 'Delete'] },
      },
      { managementPolicies: ['Observe', 'Create'] },
    ],
    [
      'outputs go where the apply says',
      {
        apply: { writeConnectionSecretToRef: { name: 'a' } },
        inner: { writeConnectionSecretToRef: { name: 'b' } },
        outer: { writeConnectionSecretToRef: { name: 'c' } },
      },
      { writeConnectionSecretToRef: { name: 'a', namespace: 'team-a' } },
    ],
    [
      'else where the spec in the template says',
      { inner: { writeConnectionSecretToRef: { name: 'b' } }, outer: { writeConnectionSecretToRef: { name: 'c' } } },
      { writeConnectionSecretToRef: { name: 'b', namespace: 'team-a' } },
    ],
    [
      'else where the template says',
      { outer: { writeConnectionSecretToRef: { name: 'c' } } },
      { writeConnectionSecretToRef: { name: 'c', namespace: 'team-a' } },
    ],
    [
      'in another namespace where that is allowed',
      { mayCross: true, apply: { writeConnectionSecretToRef: { name: 'a', namespace: 'team-b' } } },
      { writeConnectionSecretToRef: { name: 'a', namespace: 'team-b' } },
    ],
  ])('%s', (_, situation, expected) => {
    expect(rendered({ variables: { name: 'x' }, ...situation }).spec).toMatchObject({
      ...(isRecord(expected) && expected),
    })
  })

  test('nothing is said that nobody said', () => {
    expect(forProviderOf({ module: 'locals {}', forProvider: { entrypoint: undefined } })).not.toHaveProperty(
      'entrypoint',
    )
    expect(Object.keys(rendered({ module: 'locals {}' }).spec).toSorted()).toEqual([
      'forProvider',
      'writeConnectionSecretToRef',
    ])
    expect(forProviderOf({ module: 'locals {}' })).toEqual({ source: 'Inline', module: 'locals {}' })
  })
})

describe('a placeholder', () => {
  const inEnv = (value: string, variables: Readonly<Record<string, unknown>>) => {
    const { env } = rendered({ forProvider: { env: [{ name: 'X', value }] }, variables: { name: 'x', ...variables } })
      .spec.forProvider
    return env?.[0]?.value
  }
  test.each<[string, string, unknown, string]>([
    ['is filled in', 'a-${k}-b-${k}', 'v', 'a-v-b-v'],
    ['takes any text, outside of modules', '${k}', '"\\\n$', '"\\\n$'],
    ['takes a number', '${k}', 1.5, '1.5'],
    ['takes a boolean', '${k}', false, 'false'],
    ['is not looked for in a value', '${k}', '${k}${name}$${k}', '${k}${name}$${k}'],
    ['stands for nothing behind $', '$${k} ${k}', 'v', '${k} v'],
    ['may follow a $', '$$${k}', 'v', '$${k}'],
    ['has an end', '${k', 'v', '${k'],
  ])('%s', (_, text, value, expected) => {
    expect(inEnv(text, { k: value })).toBe(expected)
  })

  test('is filled in in every text but a key', () => {
    const forProvider = {
      entrypoint: 'x/${k}',
      vars: [{ key: 'a', value: '${k}' }],
      planArgs: ['-target=${k}'],
      varFiles: [{ source: 'SecretKey' as const, secretKeyRef: { name: 'n', key: '${k}' } }],
      newer: { '${k}': ['${k}', { deep: '${k}' }] },
    }
    expect(forProviderOf({ forProvider, variables: { k: 'v', name: 'x' } })).toMatchObject({
      entrypoint: 'x/v',
      vars: [{ key: 'a', value: 'v' }],
      planArgs: ['-target=v'],
      varFiles: [{ secretKeyRef: { key: 'v' } }],
      newer: { '${k}': ['v', { deep: 'v' }] },
    })
  })

  test('is filled in in the names of a ProviderConfig and of Secrets, as templates of the predecessor have it', () => {
    const secretKeyRef = { name: '${cluster_name}-vpc-vpc-connection', namespace: 'team-a', key: 'vpc_config' }
    const { spec } = rendered({
      module: 'locals {}',
      forProvider: { varFiles: [{ source: 'SecretKey', secretKeyRef }] },
      inner: {
        providerConfigRef: { name: 'aws-${account}' },
        writeConnectionSecretToRef: { name: '${WORKSPACE_NAME}-vpc-connection' },
      },
      declared: [aVariable('cluster_name'), aVariable('account')],
      variables: { cluster_name: 'demo', account: 'dev' },
    })
    expect(spec).toMatchObject({
      forProvider: { varFiles: [{ secretKeyRef: { name: 'demo-vpc-vpc-connection' } }] },
      providerConfigRef: { name: 'aws-dev' },
      writeConnectionSecretToRef: { name: 'team-a.demo-vpc-connection', namespace: 'team-a' },
    })
  })

  test('gives its value as it is where values have types', () => {
    const varmap = { all: '${list}', part: 'x${n}', deep: [{ a: '${n}' }], plain: 1, not: '$${n}' }
    expect(forProviderOf({ forProvider: { varmap }, variables: { list: [1, '${n}'], n: 2, name: 'x' } })).toMatchObject(
      {
        varmap: { all: [1, '${n}'], part: 'x2', deep: [{ a: 2 }], plain: 1, not: '${n}' },
      },
    )
  })

  describe('in the text of a module', () => {
    const filled = (
      module: string,
      variables: Readonly<Record<string, unknown>>,
      inlineFormat: 'HCL' | 'JSON' = 'HCL',
    ) => forProviderOf({ module, forProvider: { inlineFormat }, variables })['module']

    test.each<[string, string, Readonly<Record<string, unknown>>, string]>([
      ['is filled in', 'locals { a = "${k}" }', { k: 'v_1' }, 'locals { a = "v_1" }'],
      ['may be the name of the Workspace', 'locals { a = "${WORKSPACE_NAME}" }', {}, 'locals { a = "team-a.demo" }'],
      ['is left when it is escaped', 'locals { a = "$${k}" }', { k: 'v' }, 'locals { a = "$${k}" }'],
      [
        'is left when nobody knows it',
        'locals { a = "${local.b}${k}" }',
        { a: 'v' },
        'locals { a = "${local.b}${k}" }',
      ],
      [
        'is left when it is not exactly a name',
        'locals { a = "${ k }${upper(k)}" }',
        { k: 'v' },
        'locals { a = "${ k }${upper(k)}" }',
      ],
      [
        'is left when the module declares it',
        'variable "k" {}\nlocals { a = [for k in [1] : "${k}"] }',
        { k: 'v' },
        'variable "k" {}\nlocals { a = [for k in [1] : "${k}"] }',
      ],
      ['is found within templates', 'locals { a = "${upper("${k}")}" }', { k: 'v' }, 'locals { a = "${upper("v")}" }'],
      ['takes a number', 'locals { a = ${k} }', { k: 3 }, 'locals { a = 3 }'],
    ])('%s', (_, module, variables, expected) => {
      expect(filled(module, variables)).toBe(expected)
    })

    test('is the same in JSON', () => {
      expect(filled('{"locals":{"a":"${k}$${k}"}}', { k: 'v' }, 'JSON')).toBe('{"locals":{"a":"v$${k}"}}')
    })

    test('takes only what cannot change what the module means', () => {
      const safe = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._:/@+=,-'.split('')
      const letters = fc.array(fc.constantFrom(...safe)).map((each) => each.join(''))
      const values = fc.oneof(
        letters,
        fc.tuple(letters, fc.string({ unit: 'binary', maxLength: 1 })).map((each) => each.join('')),
      )
      fc.assert(
        fc.property(values, fc.constantFrom('HCL' as const, 'JSON' as const), (value, inlineFormat) => {
          const result = render(
            asked({ module: '{"a":"${k}"}', forProvider: { inlineFormat }, variables: { k: value } }),
          )
          const told = result.is === 'refused' ? `${result.reason}: ${result.message}` : ''
          const isSafe = value.split('').every((each) => safe.includes(each))
          expect(told).toMatch(isSafe ? /^$/ : /^UnsafeValue: .*declare variable k in the module instead/)
        }),
      )
    })

    test('is of use in the address of a module, too', () => {
      const forProvider = { source: 'Remote', module: 'git::https://example.com/$${x}?ref=${version}' } as const
      expect(forProviderOf({ forProvider, declared: [], variables: { version: 'v1.2' } })['module']).toBe(
        'git::https://example.com/${x}?ref=v1.2',
      )
    })
  })

  test('is filled in once: whatever values hold, they stand side by side', () => {
    const value = fc
      .array(fc.constantFrom('${a}', '${b}', '$', '{', '}', 'a', '$${b}', '$&', '$1'))
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(inEnv('${a}|${b}|${a}', { a, b })).toBe(`${a}|${b}|${a}`)
        expect(
          forProviderOf({ forProvider: { varmap: { x: '${a}|${b}' } }, variables: { a, b, name: 'x' } }),
        ).toMatchObject({ varmap: { x: `${a}|${b}` } })
      }),
    )
  })
})

describe('variables reach Terraform', () => {
  const remote = { source: 'Remote', module: 'git::x' } as const
  test.each<[string, Situation, unknown]>([
    ['that the module declares', { variables: { name: ['x', { y: null }] } }, { name: ['x', { y: null }] }],
    ['but not those that it does not', { variables: { name: 'x', other: 1 } }, { name: 'x' }],
    [
      'all of them when the module is elsewhere',
      { forProvider: remote, variables: { name: 'x', other: 1 } },
      { name: 'x', other: 1 },
    ],
    [
      'all of them when nobody can tell what the module declares',
      { module: 'variable "${WORKSPACE_NAME', variables: { x: 1 } },
      { x: 1 },
    ],
    [
      'that a name which was filled in declares',
      { module: 'variable "${k}" {}', variables: { k: 'size', size: 1 } },
      { size: 1 },
    ],
    ['but not what can be no name of one', { forProvider: remote, variables: { 'tags_a/b': 'x', b: 1 } }, { b: 1 }],
    [
      'but not those for placeholders only',
      {
        forProvider: { ...remote, entrypoint: '${k}' },
        declared: [aVariable('name')],
        variables: { k: 'x', name: 'y' },
      },
      { name: 'y' },
    ],
    ['from elsewhere', { found: { name: known({ a: 1 }) } }, { name: { a: 1 } }],
    ['by default', { declared: [aVariable('name', { default: [1] })] }, { name: [1] }],
    ['by a default that is null', { declared: [aVariable('name', { default: null })] }, { name: null }],
    [
      'rather as the apply says than by default',
      { declared: [aVariable('name', { default: [1] })], variables: { name: 2 } },
      { name: 2 },
    ],
    [
      'by default when an optional one is missing',
      {
        declared: [aVariable('name', { default: 1 })],
        apply: { variablesFrom: [{ name: 'name', optional: true }] },
        found: { name: missing },
      },
      { name: 1 },
    ],
    [
      "rather as the template's own varmap says than by default",
      { declared: [aVariable('name', { default: 1 })], forProvider: { varmap: { name: 2 } } },
      { name: 2 },
    ],
    [
      "rather as the apply says than as the template's own varmap does",
      { forProvider: { ...remote, varmap: { zone: 1, size: 2 } }, declared: [], variables: { zone: 3 } },
      { size: 2, zone: 3 },
    ],
    [
      "that are required, by the template's own varmap",
      { forProvider: { ...remote, varmap: { zone: 1 } }, declared: [aVariable('zone', { required: true })] },
      { zone: 1 },
    ],
    [
      'as text where text is a number',
      { module: 'variable "n" {\n  type = number\n}', variables: { n: '3' } },
      { n: '3' },
    ],
  ])('%s', (_, situation, varmap) => {
    expect(forProviderOf(situation)['varmap']).toEqual(varmap)
  })

  test('even one that is called __proto__', () => {
    const variables: unknown = JSON.parse('{"__proto__":1}')
    const { varmap } = rendered({ module: 'variable "__proto__" {}', ...(isRecord(variables) && { variables }) }).spec
      .forProvider
    expect(JSON.stringify(varmap)).toBe('{"__proto__":1}')
  })
})

describe('a variable is secret', () => {
  test.each<[string, Situation]>([
    ['when it is found in a Secret', { found: { name: secret('s3cret') } }],
    [
      'when the template says so',
      { declared: [aVariable('name', { sensitive: true })], variables: { name: 's3cret' } },
    ],
    [
      'when the template says so, by default',
      { declared: [aVariable('name', { sensitive: true, default: 's3cret' })] },
    ],
    ['when the module says so', { module: 'variable "name" {\n  sensitive = true\n}', variables: { name: 's3cret' } }],
    [
      'when the module says so in JSON',
      {
        module: '{"variable":{"name":{"sensitive":true}}}',
        forProvider: { inlineFormat: 'JSON' },
        variables: { name: 's3cret' },
      },
    ],
    [
      'and then the template cannot give it',
      {
        found: { name: secret('s3cret') },
        forProvider: { vars: [{ key: 'name', value: 'x' }], varmap: { name: 'y' } },
      },
    ],
    [
      'and then a placeholder for itself is not in the way',
      { found: { name: secret('s3cret') }, forProvider: { vars: [{ key: 'name', value: '${name}' }] } },
    ],
  ])('%s', (_, situation) => {
    const result = rendered(situation)
    expect(secretsOf(result)).toEqual({ name: 's3cret' })
    expect(JSON.stringify(result)).not.toContain('s3cret')
    expect(result.spec.forProvider).not.toHaveProperty('vars')
    expect(result.spec.forProvider).not.toHaveProperty('varmap')
    expect(result.spec.forProvider.varFiles).toHaveLength(1)
  })

  test('without one there is neither Secret nor file', () => {
    const result = rendered({ variables: { name: 'x' } })
    expect(result.secretVars).toBeUndefined()
    expect(result.spec.forProvider).not.toHaveProperty('varFiles')
  })

  test('and is nowhere in the Workspace, nor in what is said, whatever it is', () => {
    const places = fc.constantFrom('x ${a}', '${b}', 'y', 'y', 'y', 'y', 'y', '$${k}')
    const values = fc.nat().map((n) => `hush${n}hush`)
    const situations = fc.record({
      found: fc.dictionary(fc.constantFrom('name', 'k', 'a'), values.map(secret), { noNullPrototype: true }),
      variables: fc.constantFrom<Record<string, unknown>[]>({ a: 'v', b: 1 }, { b: 'v' }, { a: ['w'] }, {}),
      text: places,
      env: places,
      entry: places,
      type: fc.constantFrom(undefined, undefined, 'any', 'number'),
    })
    let shown = 0
    fc.assert(
      fc.property(situations, ({ found, variables, text, env, entry, type }) => {
        const module = `variable "name" {}\nvariable "k" {\n  default = 1\n}\nlocals { x = "${text}" }\n`
        const result = render(
          asked({
            module,
            forProvider: { env: [{ name: 'E', value: env }], varmap: { entry }, vars: [{ key: 'k', value: entry }] },
            ...(type && { declared: [aVariable('name', { type }), ...['k', 'a', 'b'].map((each) => aVariable(each))] }),
            found,
            variables,
          }),
        )
        if (result.is === 'rendered' && result.secretVars) shown++
        expect(JSON.stringify(result)).not.toContain('hush')
      }),
      { numRuns: 500 },
    )
    expect(shown).toBeGreaterThan(10)
  })
})

describe('it is refused, with what, where and what to do:', () => {
  test.each<[string, Situation, string]>([
    [
      'a variable that is not there yet',
      { found: { name: missing } },
      'MissingVariables: variable name: apply net has no output vpc_id yet',
    ],
    [
      'a variable that nobody looked for',
      { apply: { variablesFrom: [{ name: 'name', optional: false }] } },
      'MissingVariables: variable name: it has not been looked for yet',
    ],
    [
      'a variable that the module needs',
      {},
      'MissingVariables: variable name has no value: give it in spec.variables or spec.variablesFrom',
    ],
    [
      'a variable that the template requires',
      {
        forProvider: { source: 'Remote', module: 'x' },
        declared: [aVariable('b', { required: true }), aVariable('a', { required: true })],
      },
      'MissingVariables: variable a has no value: give it in spec.variables or spec.variablesFrom; variable b has',
    ],
    [
      'an optional variable that is required',
      {
        declared: [aVariable('name', { required: true })],
        apply: { variablesFrom: [{ name: 'name', optional: true }] },
        found: { name: missing },
      },
      'MissingVariables: variable name has no value',
    ],
    [
      'a placeholder for nothing',
      { variables: { name: 'x' }, forProvider: { env: [{ name: 'R', value: 'a${region}' }] } },
      "MissingVariables: ${region} in the template's spec.template.spec.forProvider.env[0].value: no variable of that name is given: give it in spec.variables, or write $${region} if it is not meant for one",
    ],
    [
      'a placeholder that looks like Terraform',
      { variables: { name: 'x' }, forProvider: { planArgs: ['${var.x}'] } },
      "MissingVariables: ${var.x} in the template's spec.template.spec.forProvider.planArgs[0]",
    ],
    [
      'an unknown variable',
      { declared: [aVariable('name'), aVariable('zone')], variables: { nmae: 'x', name: 'y' } },
      'UnknownVariables: spec.variables.nmae: the template has no variable nmae, did you mean name?',
    ],
    [
      'an unknown variable that is like none',
      { declared: [aVariable('name')], found: { region: known('x'), name: known(1) } },
      'UnknownVariables: spec.variablesFrom[region]: the template has no variable region: remove it',
    ],
    [
      'a variable of the wrong type',
      { declared: [aVariable('name', { type: 'list(string)' })], variables: { name: ['a', {}] } },
      'InvalidVariables: spec.variables.name[1] must be string, and is an object',
    ],
    [
      'a variable of a type that the module does not take',
      { module: 'variable "name" {\n  type = number\n}', variables: { name: 'x' } },
      'InvalidVariables: spec.variables.name must be number, and is text',
    ],
    [
      'a variable given twice',
      { variables: { name: 'x' }, found: { name: known('x') } },
      'InvalidVariables: variable name is both in spec.variables and in spec.variablesFrom: remove one',
    ],
    [
      'a Flux module with provider-opentofu',
      { forProvider: { source: 'Flux', module: 'GitRepository::team-a/x' }, group: 'opentofu.upbound.io' },
      "InvalidVariables: the template's spec.template.spec.forProvider.source: opentofu.upbound.io knows no Flux",
    ],
    [
      'a text that is not in NFC',
      { variables: { name: { a: ['e\u0301'] } } },
      "UnsafeValue: spec.variables.name.a[0] is not in Unicode's normal form NFC",
    ],
    ['half a character', { variables: { name: '\ud83d' } }, 'UnsafeValue: spec.variables.name holds half a character'],
    [
      'a number without end',
      { variables: { name: [JSON.parse('1e400') as unknown] } },
      'UnsafeValue: spec.variables.name[0] is larger than any number that can be passed on',
    ],
    [
      'an integer that nobody can hold',
      { variables: { name: [2 ** 53] } },
      'UnsafeValue: spec.variables.name[0] is an integer beyond 2^53',
    ],
    [
      'a value without end',
      { variables: { name: JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`) as unknown } },
      'UnsafeValue: spec.variables.name has more than 200 lists and objects within each other',
    ],
    [
      "a text of the template's own that is not in NFC",
      { variables: { name: 1 }, forProvider: { varmap: { x: 'e\u0301' } } },
      "UnsafeValue: the template's spec.template.spec.forProvider.varmap.x is not",
    ],
    [
      "a text of the template's own variables that is not in NFC",
      { variables: { name: 1 }, forProvider: { vars: [{ key: 'x', value: 'e\u0301' }] } },
      "UnsafeValue: the template's spec.template.spec.forProvider.vars[0].value is not",
    ],
    [
      'a value that makes no name',
      { inner: { writeConnectionSecretToRef: { name: '${name}-outputs' } }, variables: { name: 'My VPC' } },
      "UnsafeValue: the template's spec.template.spec.writeConnectionSecretToRef.name: what is filled in makes no name of an object",
    ],
    [
      'a name with a placeholder for nothing',
      { inner: { providerConfigRef: { name: '${account}' } }, variables: { name: 'x' } },
      "MissingVariables: ${account} in the template's spec.template.spec.providerConfigRef.name",
    ],
    [
      'a value that could change a module',
      { module: 'locals { a = "${k}" }', variables: { k: '"' } },
      "UnsafeValue: ${k} in the template's spec.template.spec.forProvider.module: its value has characters that could change what the module means: declare variable k in the module instead",
    ],
    [
      'a value that could change an address',
      { forProvider: { source: 'Remote', module: 'git::x?ref=${k}' }, variables: { k: 'v1&depth=1' } },
      "UnsafeValue: ${k} in the template's spec.template.spec.forProvider.module",
    ],
    [
      'a list in a text',
      { variables: { name: ['x'] }, forProvider: { entrypoint: '${name}' } },
      "UnsafeValue: ${name} in the template's spec.template.spec.forProvider.entrypoint: its value is neither text nor a number nor a boolean: declare variable name in the module instead",
    ],
    [
      'a secret in a text',
      { found: { name: secret('x') }, forProvider: { entrypoint: '${name}' } },
      "UnsafeValue: ${name} in the template's spec.template.spec.forProvider.entrypoint: its value is secret and must not be in a Workspace: declare variable name in the module instead",
    ],
    ['a secret in a module', { module: 'locals { a = "${k}" }', found: { k: secret('x') } }, 'UnsafeValue: ${k} in'],
    [
      'what the module keeps secret, in a text',
      {
        module: 'variable "name" {\n  sensitive = true\n}',
        variables: { name: 'x' },
        forProvider: { entrypoint: '${name}' },
      },
      'UnsafeValue: ${name} in',
    ],
    [
      'a template of another namespace',
      { variables: { name: 'x' }, apply: { templateRef: { name: 'vpc', namespace: 'team-b' } } },
      'CrossNamespaceReference: spec.templateRef is in namespace team-b, and the manager runs without --allow-cross-namespace-refs: use one of namespace team-a',
    ],
    [
      'a Secret of another namespace',
      {
        variables: { name: 'x' },
        forProvider: { env: [{ name: 'X', secretKeyRef: { name: 'a', namespace: 'team-b', key: 'k' } }] },
      },
      "CrossNamespaceReference: the template's spec.template.spec.forProvider.env[0].secretKeyRef is in namespace team-b",
    ],
    [
      'a file of another namespace',
      {
        variables: { name: 'x' },
        forProvider: {
          varFiles: [{ source: 'ConfigMapKey', configMapKeyRef: { name: 'a', namespace: 'team-b', key: 'k' } }],
        },
      },
      "CrossNamespaceReference: the template's spec.template.spec.forProvider.varFiles[0].configMapKeyRef is in namespace team-b",
    ],
    [
      'outputs to another namespace',
      { variables: { name: 'x' }, outer: { writeConnectionSecretToRef: { name: 'a', namespace: 'team-b' } } },
      "CrossNamespaceReference: the template's spec.writeConnectionSecretToRef is in namespace team-b",
    ],
    [
      'outputs to another namespace, though allowed, where Workspaces cannot',
      {
        variables: { name: 'x' },
        mayCross: true,
        group: 'tf.m.upbound.io',
        apply: { writeConnectionSecretToRef: { name: 'a', namespace: 'team-b' } },
      },
      'CrossNamespaceReference: spec.writeConnectionSecretToRef is in namespace team-b, and a Workspace of tf.m.upbound.io reads its own only',
    ],
    [
      'a repository of another namespace',
      { forProvider: { source: 'Flux', module: 'GitRepository::flux-system/x' } },
      "CrossNamespaceReference: the template's spec.template.spec.forProvider.module is in namespace flux-system",
    ],
  ])('%s', (_, situation, expected) => {
    const result = render(asked(situation))
    expect(result.is === 'refused' ? `${result.reason}: ${result.message}` : result.is).toContain(expected)
    expect(JSON.stringify(result)).not.toContain('"spec"')
  })

  test('all of one kind, in one order', () => {
    const forProvider = { varmap: { x: '${b} ${a}', y: '${b}' } }
    const { message } = { message: '', ...render(asked({ variables: { name: 'x' }, forProvider })) }
    const told = message.split('; ').map((each) => each.slice(0, each.indexOf(':')))
    const place = "the template's spec.template.spec.forProvider.varmap"
    expect(told).toEqual([`\${a} in ${place}.x`, `\${b} in ${place}.x`, `\${b} in ${place}.y`])
  })

  test('what somebody must put right before what may come by waiting', () => {
    const result = render(asked({ declared: [aVariable('name')], found: { name: missing }, variables: { nmae: 1 } }))
    expect(result).toMatchObject({ reason: 'UnknownVariables' })
  })
})

test.each<[string, Situation]>([
  ['a template', { apply: { templateRef: { name: 'vpc', namespace: 'team-b' } }, variables: { name: 'x' } }],
  ['a repository', { forProvider: { source: 'Flux', module: 'GitRepository::flux-system/x' } }],
])('%s of another namespace is used where that is allowed', (_, situation) => {
  expect(rendered({ ...situation, mayCross: true, group: 'tf.m.upbound.io' }).is).toBe('rendered')
})

describe('a revision', () => {
  const situation: Situation = {
    declared: [aVariable('name'), aVariable('key', { sensitive: true, default: 'd' })],
    module: 'variable "name" {}\nvariable "key" {}\n',
    variables: { name: { a: 1, b: 2 } },
    found: { key: secret('s') },
  }
  const given = rendered(situation).revision

  test('stays what it is from one version to the next', () => {
    expect(given).toBe('9a376819b70da92a1e9bddfcadd24a5a')
  })

  test.each<[string, Situation]>([
    ['a value', { variables: { name: { a: 1, b: 3 } } }],
    ['a secret value', { found: { key: secret('t') } }],
    ['the type of a secret value', { found: { key: secret(['s']) } }],
    [
      'whether a value is secret',
      { found: { key: secret('s') }, module: 'variable "name" {\n  sensitive = true\n}\nvariable "key" {}\n' },
    ],
    ['the module', { module: 'variable "name" {}\nvariable "key" {}\n#' }],
    ['the ProviderConfig', { apply: { providerConfigRef: { kind: 'ProviderConfig', name: 'other' } } }],
    ['where outputs go', { apply: { writeConnectionSecretToRef: { name: 'other' } } }],
    ['the engine', { group: 'tf.m.upbound.io' }],
    ['the namespace of the apply', { namespace: 'team-c' }],
    ['the salt, as long as there are secrets', { salt: 'salt' }],
  ])('changes with %s', (_, change) => {
    expect(rendered({ ...situation, ...change }).revision).not.toBe(given)
  })

  test.each<[string, Situation]>([
    [
      'what is said of a variable',
      { declared: [aVariable('name', { description: 'new' }), aVariable('key', { sensitive: true, default: 'd' })] },
    ],
    [
      'a default that is not needed',
      { declared: [aVariable('name'), aVariable('key', { sensitive: true, default: 'e' })] },
    ],
    ['the order of variables', { declared: [aVariable('key', { sensitive: true, default: 'd' }), aVariable('name')] }],
    ['the order in a value', { variables: { name: { b: 2, a: 1 } } }],
    ['being protected', { apply: { deletionProtection: true, variablesFrom: [{ name: 'key', optional: false }] } }],
  ])('does not change with %s', (_, change) => {
    expect(rendered({ ...situation, ...change }).revision).toBe(given)
  })

  test('is the same with any salt when nothing is secret', () => {
    const open: Situation = { variables: { name: 'x' } }
    expect(rendered({ ...open, salt: 'a' }).revision).toBe(rendered({ ...open, salt: 'b' }).revision)
  })
})

test('order never matters', () => {
  const names = ['a', 'b', 'c', 'd', 'e'] as const
  const reversed = (value: Readonly<Record<string, unknown>>) => Object.fromEntries(Object.entries(value).toReversed())
  const situations = fc.record({
    variables: fc.dictionary(fc.constantFrom(...names), fc.jsonValue(), { noNullPrototype: true }),
    found: fc.dictionary(fc.constantFrom('f', 'g', 'h'), fc.jsonValue().map(secret), { noNullPrototype: true }),
    varmap: fc.dictionary(
      fc.constantFrom('x', 'y', 'a'),
      fc.oneof({ arbitrary: fc.jsonValue(), weight: 4 }, fc.constantFrom('${a}', '${missing}', '${absent}')),
      { noNullPrototype: true },
    ),
    declared: fc.constantFrom(
      undefined,
      [...names, 'f', 'g', 'h'].map((name) => aVariable(name, { default: name })),
    ),
  })
  fc.assert(
    fc.property(situations, ({ variables, found, varmap, declared }) => {
      const forProvider = { source: 'Remote', module: 'x', varmap } as const
      const there = render(asked({ forProvider, variables, found, ...(declared && { declared }) }))
      const back = render(
        asked({
          forProvider: { ...forProvider, varmap: reversed(varmap) },
          variables: reversed(variables),
          found: Object.fromEntries(Object.entries(found).toReversed()),
          ...(declared && { declared: declared.toReversed() }),
        }),
      )
      expect(back).toEqual({
        ...there,
        ...(there.is === 'rendered' && back.is === 'rendered' && { secretVars: back.secretVars }),
      })
      if (there.is !== 'rendered' || back.is !== 'rendered') return
      expect(back.secretVars?.open()).toBe(there.secretVars?.open())
      expect(Object.keys(back.spec.forProvider.varmap ?? {})).toEqual(Object.keys(there.spec.forProvider.varmap ?? {}))
    }),
  )
})
