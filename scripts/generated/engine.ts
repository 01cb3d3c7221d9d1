// The API of a Terraform engine for people without Crossplane: Workspace and ProviderConfig as provider-terraform defines
// them, once cluster-scoped and once namespaced. What a newer engine adds under forProvider is kept.
import { type CRD, crd, type Schema } from './crd.ts'

interface EngineAPI {
  readonly group: string
  readonly isNamespaced: boolean
}

const string = (description: string, more: object = {}): Schema => ({ type: 'string', description, ...more })
const boolean = (description: string, more: object = {}): Schema => ({ type: 'boolean', description, ...more })
const object = (
  description: string,
  properties: Record<string, Schema>,
  required: string[] = [],
  more: object = {},
): Schema => ({
  type: 'object',
  description,
  ...(required.length > 0 && { required }),
  properties,
  ...more,
})
const listOf = (description: string, items: Schema, more: object = {}): Schema => ({
  type: 'array',
  description,
  items,
  ...more,
})
const anything = (description: string): Schema => ({
  type: 'object',
  description,
  'x-kubernetes-preserve-unknown-fields': true,
})

// References name a namespace where Workspaces have none of their own.
const named = (what: string, { isNamespaced }: EngineAPI): [Record<string, Schema>, string[]] => [
  { name: string(`Name of the ${what}.`), ...(!isNamespaced && { namespace: string(`Namespace of the ${what}.`) }) },
  isNamespaced ? ['name'] : ['name', 'namespace'],
]

function keyRef(what: string, api: EngineAPI): Schema {
  const [properties, required] = named(what, api)
  return object(`A key of a ${what}.`, { ...properties, key: string('The key.') }, [...required, 'key'])
}

function forProvider(api: EngineAPI): Schema {
  const args = (command: string) => listOf(`Further arguments of \`${command}\`.`, { type: 'string' })
  return object(
    'The module and how it is run.',
    {
      source: string('Where the module is.', { enum: ['Remote', 'Inline', 'Flux'] }),
      module: string(
        'Inline: the text of main.tf or main.tf.json. Remote: an address. Flux: Kind::namespace/name of a source.',
      ),
      inlineFormat: string('What an inline module is written in.', { enum: ['HCL', 'JSON'] }),
      entrypoint: string('Folder of the module to run in.', { default: '' }),
      env: listOf(
        'Environment of every command.',
        object(
          'An environment variable.',
          {
            name: string('Its name.'),
            value: string('Its value.'),
            configMapKeyRef: keyRef('ConfigMap', api),
            secretKeyRef: keyRef('Secret', api),
          },
          ['name'],
        ),
      ),
      vars: listOf(
        'Variables as text.',
        object('A variable.', { key: string('Its name.'), value: string('Its value.') }, ['key', 'value']),
      ),
      varmap: anything('Variables as JSON values. They win over vars and varFiles.'),
      varFiles: listOf(
        'Files of variables.',
        object(
          'A file.',
          {
            source: string('Where it is.', { enum: ['ConfigMapKey', 'SecretKey'] }),
            format: string('What it is written in.', { enum: ['HCL', 'JSON'], default: 'HCL' }),
            configMapKeyRef: keyRef('ConfigMap', api),
            secretKeyRef: keyRef('Secret', api),
          },
          ['source'],
        ),
      ),
      initArgs: args('init'),
      planArgs: args('plan'),
      applyArgs: args('apply'),
      destroyArgs: args('destroy'),
      enableTerraformCLILogging: boolean("Whether Terraform's output goes to the log of the engine.", {
        default: false,
      }),
      remotePullPolicy: string('How often a remote module is fetched.', {
        enum: ['Always', 'IfNotPresent'],
        default: 'Always',
      }),
    },
    ['module', 'source'],
    { 'x-kubernetes-preserve-unknown-fields': true },
  )
}

function providerConfigRef({ isNamespaced }: EngineAPI): Schema {
  if (isNamespaced) {
    return object(
      'The ProviderConfig to use.',
      { kind: string('Its kind.'), name: string('Its name.') },
      ['kind', 'name'],
      { default: { kind: 'ClusterProviderConfig', name: 'default' } },
    )
  }
  const policy = object('How it is resolved.', {
    resolution: string('Whether it must be there.', { enum: ['Required', 'Optional'], default: 'Required' }),
    resolve: string('When it is looked up.', { enum: ['Always', 'IfNotPresent'] }),
  })
  return object('The ProviderConfig to use.', { name: string('Its name.'), policy }, ['name'], {
    default: { name: 'default' },
  })
}

const conditions = listOf(
  'What is so and what is not.',
  object(
    'A condition.',
    {
      type: string('What it is about.'),
      status: string('Whether it is so.'),
      reason: string('Why.'),
      message: string('Why, for people.'),
      lastTransitionTime: string('When it last changed.', { format: 'date-time' }),
      observedGeneration: { type: 'integer', format: 'int64', description: 'Which generation it was said of.' },
    },
    ['lastTransitionTime', 'reason', 'status', 'type'],
  ),
  { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
)

function workspace(api: EngineAPI): Schema {
  const [secret, required] = named('Secret', api)
  return root('A Terraform module that is kept applied.', {
    spec: object(
      'What to apply.',
      {
        forProvider: forProvider(api),
        providerConfigRef: providerConfigRef(api),
        writeConnectionSecretToRef: object('Secret that the outputs are written to.', secret, required),
        managementPolicies: listOf(
          'What the engine may do.',
          { type: 'string', enum: ['Observe', 'Create', 'Update', 'Delete', 'LateInitialize', '*'] },
          { default: ['*'] },
        ),
        ...(!api.isNamespaced && {
          deletionPolicy: string('Orphan leaves everything when the Workspace is deleted.', {
            enum: ['Orphan', 'Delete'],
            default: 'Delete',
          }),
        }),
      },
      ['forProvider'],
    ),
    status: object('How far it is.', {
      atProvider: object(
        'What the engine saw.',
        {
          checksum: string('Of the work folder: while it stays the same, init is not run again.'),
          outputs: anything('Outputs that are not sensitive.'),
          remoteSource: string('Address that the module was fetched from.'),
        },
        [],
        { 'x-kubernetes-preserve-unknown-fields': true },
      ),
      conditions,
      observedGeneration: { type: 'integer', format: 'int64', description: 'Which generation it was written for.' },
      lastHandledReconcileAt: string('Answer to the annotation that asks for a reconcile.'),
    }),
  })
}

function providerConfig(api: EngineAPI): Schema {
  const [secret, required] = named('Secret', { ...api, isNamespaced: false })
  return root('Credentials and settings of Terraform runs.', {
    spec: object('The settings.', {
      configuration: string('HCL that is put beside every module: providers, backend.'),
      backendFile: string('HCL of the backend, as a file of its own.'),
      pluginCache: boolean('Whether plugins are cached.', { default: true }),
      credentials: listOf(
        'Files of credentials, put beside every module.',
        object(
          'A file.',
          {
            filename: string('Its name.'),
            source: string('Where it comes from.', {
              enum: ['None', 'Secret', 'InjectedIdentity', 'Environment', 'Filesystem'],
            }),
            secretRef: object('A key of a Secret.', { ...secret, key: string('The key.') }, [...required, 'key']),
            env: object('An environment variable.', { name: string('Its name.') }, ['name']),
            fs: object('A file of the engine.', { path: string('Its path.') }, ['path']),
          },
          ['filename', 'source'],
        ),
      ),
    }),
    status: object('Who uses it.', {
      conditions,
      users: { type: 'integer', format: 'int64', description: 'How many Workspaces use it.' },
    }),
  })
}

function usage(api: EngineAPI): Schema {
  const config = object(
    'The ProviderConfig that is used.',
    { ...(api.isNamespaced && { kind: string('Its kind.') }), name: string('Its name.') },
    ['name'],
  )
  const resource = object(
    'The Workspace that uses it.',
    { apiVersion: string('Its API.'), kind: string('Its kind.'), name: string('Its name.'), uid: string('Its uid.') },
    ['apiVersion', 'kind', 'name'],
  )
  return root('Says that a Workspace uses a ProviderConfig.', { providerConfigRef: config, resourceRef: resource }, [
    'providerConfigRef',
    'resourceRef',
  ])
}

function root(
  description: string,
  properties: Record<string, Schema>,
  required: string[] = properties['spec'] ? ['spec'] : [],
): Schema {
  const meta = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' } }
  return object(description, { ...meta, ...properties }, required)
}

const conditionColumn = (type: string) => ({
  name: type.toUpperCase(),
  type: 'string',
  jsonPath: `.status.conditions[?(@.type=='${type}')].status`,
})
const age = { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' }

export function engineCRDs(api: EngineAPI): readonly CRD[] {
  const scope = api.isNamespaced ? 'Namespaced' : 'Cluster'
  const part = { group: api.group, version: 'v1beta1', labels: {} }
  const status = { subresources: { status: {} } }
  const config = {
    ...part,
    ...status,
    schema: providerConfig(api),
    columns: [age],
    categories: ['crossplane', 'providerconfig', 'terraform'],
  }
  return [
    crd({
      ...part,
      ...status,
      kind: 'Workspace',
      plural: 'workspaces',
      scope,
      schema: workspace(api),
      columns: [conditionColumn('Ready'), conditionColumn('Synced'), age],
      categories: ['crossplane', 'managed', 'terraform'],
    }),
    crd({ ...config, kind: 'ProviderConfig', plural: 'providerconfigs', scope }),
    ...(api.isNamespaced
      ? [crd({ ...config, kind: 'ClusterProviderConfig', plural: 'clusterproviderconfigs', scope: 'Cluster' })]
      : []),
    crd({
      ...part,
      kind: 'ProviderConfigUsage',
      plural: 'providerconfigusages',
      scope,
      schema: usage(api),
      columns: [age],
      categories: ['crossplane', 'provider', 'terraform'],
    }),
  ]
}

// Served by capt-engine.
export const ourEngine: readonly EngineAPI[] = [
  { group: 'tf.upbound.io', isNamespaced: false },
  { group: 'tf.m.upbound.io', isNamespaced: true },
]
// Served by others only; for tests of what we do with them.
export const otherEngine: readonly EngineAPI[] = [
  { group: 'opentofu.upbound.io', isNamespaced: false },
  { group: 'opentofu.m.upbound.io', isNamespaced: true },
]
