// Tenants beside each other: what is one's cannot be had by another through any reference, and what is secret cannot be seen on the
// machine either. Code in a module can do more; nothing here says otherwise.
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { annotations } from '../../src/api/keys.ts'
import type { KubeObject, ObjectRef } from '../bed/kube.ts'
import { theBed } from '../bed/story.ts'
import { aWorkspace, aWorkspaceTemplateApply } from '../given.ts'
import { askAgain, conditionOf, patience, seeConverged, seenByAnybody, seeSaying, workspaceOf } from '../lives.ts'
import { until } from '../until.ts'

const bed = theBed()
const { kube } = bed
const work = join(bed.folder, 'engine-work')

const module = 'variable "value" {\n  default = ""\n}\noutput "value" {\n  value = var.value\n}\n'
const aSecret = (namespace: string, name: string, text: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace, name },
  stringData: { value: text },
})

// Two tenants, the second of which has something worth having.
async function twoTenants() {
  const [mine, theirs] = [await bed.namespace('mine'), await bed.namespace('theirs')]
  const treasure = `treasure-${randomBytes(6).toString('hex')}`
  await kube.apply(aSecret(theirs, 'treasure', `value = "${treasure}"`))
  return { mine, theirs, treasure, ref: { namespace: theirs, name: 'treasure', key: 'value' } }
}
const secretsIn = async (namespace: string) =>
  (await kube.list('v1', 'Secret', namespace)).map(({ metadata }) => metadata.name)
const removed = async (...objects: readonly ObjectRef[]) => {
  for (const each of objects) await kube.remove(each)
}

describe.each(['tf.m.upbound.io', 'tf.upbound.io'] as const)('in %s', (group) => {
  test('an apply that refers to another namespace is refused, and no Workspace is made of it', async () => {
    const { mine, theirs, treasure, ref } = await twoTenants()
    const file = { source: 'SecretKey', secretKeyRef: ref }
    const rows: readonly (readonly [string, object, object])[] = [
      ['var-files', { forProvider: { source: 'Inline', module, varFiles: [file] } }, {}],
      ['env', { forProvider: { source: 'Inline', module, env: [{ name: 'IT', secretKeyRef: ref }] } }, {}],
      [
        'connection',
        { forProvider: { source: 'Inline', module }, writeConnectionSecretToRef: { name: 'loot', namespace: theirs } },
        {},
      ],
      [
        'own-connection',
        { forProvider: { source: 'Inline', module } },
        { writeConnectionSecretToRef: { name: 'loot', namespace: theirs } },
      ],
    ]
    for (const [name, spec, more] of rows) {
      const template = {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
        kind: 'WorkspaceTemplate',
        metadata: { namespace: mine, name },
        spec: { workspaceAPI: group, template: { spec } },
      }
      await kube.apply(template, aWorkspaceTemplateApply({ namespace: mine, name, ...more }))
    }
    for (const [name] of rows) {
      const apply = aWorkspaceTemplateApply({ namespace: mine, name })
      const refused = await seeSaying(kube, apply, 'VariablesResolved', 'CrossNamespaceReference')
      expect(conditionOf(refused, 'Ready')?.message).toContain(`is in namespace ${theirs}`)
      expect(await kube.read(workspaceOf(group, apply))).toBeUndefined()
    }
    expect(await secretsIn(theirs)).toEqual(['treasure'])
    expect(await seenByAnybody(bed, mine)).not.toContain(treasure)
  }, 300_000)
})

test("a Workspace of a tenant cannot reach another's through the engine", async () => {
  const { mine, theirs, treasure, ref } = await twoTenants()
  const tenant = { [annotations.apply]: `${mine}/it` } // as those that the manager makes
  const aConfig = (kind: string, name: string, spec: object, notes: object = {}): KubeObject => ({
    apiVersion: `${kind === 'Wide' ? 'tf.upbound.io' : 'tf.m.upbound.io'}/v1beta1`,
    kind: kind === 'Wide' ? 'ProviderConfig' : kind,
    metadata: { name, ...(kind === 'ProviderConfig' && { namespace: mine }), annotations: { ...notes } },
    spec,
  })
  const credential = { filename: 'loot.auto.tfvars', source: 'Secret', secretRef: ref }
  const forThem = { [annotations.allowedNamespaces]: theirs }
  const configs = [
    aConfig('ProviderConfig', 'reaching', { credentials: [credential] }),
    aConfig('ProviderConfig', 'of-the-engine', {
      credentials: [{ filename: 'loot', source: 'Environment', env: { name: 'HOME' } }],
    }),
    aConfig('ProviderConfig', 'of-its-files', {
      credentials: [{ filename: 'loot', source: 'Filesystem', fs: { path: '/etc/passwd' } }],
    }),
    aConfig('ClusterProviderConfig', `for-${theirs}`, { credentials: [credential] }, forThem),
    aConfig('Wide', `for-${theirs}`, { credentials: [credential] }, forThem),
  ]
  const wide = (name: string, forProvider: object, spec: object = {}): KubeObject => {
    const workspace = aWorkspace({ name: `${mine}.${name}`, module, annotations: tenant, ...forProvider })
    return { ...workspace, spec: { ...(workspace['spec'] as object), ...spec } }
  }
  const near = (name: string, spec: object): KubeObject => {
    const workspace = aWorkspace({ namespace: mine, name, module })
    return { ...workspace, spec: { ...(workspace['spec'] as object), ...spec } }
  }
  const configured = (kind: string, name: string) => ({ providerConfigRef: { kind, name } })
  const leads = `leads to namespace ${theirs}`
  const rows: readonly (readonly [KubeObject, string])[] = [
    [wide('var-files', { varFiles: [{ source: 'SecretKey', secretKeyRef: ref }] }), leads],
    [wide('env', { env: [{ name: 'TF_VAR_value', secretKeyRef: ref }] }), leads],
    [wide('connection', {}, { writeConnectionSecretToRef: { name: 'loot', namespace: theirs } }), leads],
    [wide('config', {}, { providerConfigRef: { name: `for-${theirs}` } }), `is not for namespace ${mine}`],
    [near('reaching', configured('ProviderConfig', 'reaching')), leads],
    [
      near('of-the-engine', configured('ProviderConfig', 'of-the-engine')),
      'which a ProviderConfig of a namespace may not read',
    ],
    [
      near('of-its-files', configured('ProviderConfig', 'of-its-files')),
      'which a ProviderConfig of a namespace may not read',
    ],
    [near('config', configured('ClusterProviderConfig', `for-${theirs}`)), `is not for namespace ${mine}`],
    [
      {
        ...near('beside', {}),
        spec: {
          forProvider: {
            source: 'Inline',
            module,
            env: [{ name: 'A', secretKeyRef: { name: 'treasure', key: 'value' } }],
          },
        },
      },
      'not found',
    ],
  ]
  await kube.apply(...configs, ...rows.map(([workspace]) => workspace))
  for (const [workspace, why] of rows) {
    const refused = await kube.see(
      workspace,
      'is refused',
      (object) => conditionOf(object, 'Synced')?.status === 'False',
      patience,
    )
    expect(conditionOf(refused, 'Synced')?.message, workspace.metadata.name).toContain(why)
    expect(conditionOf(refused, 'Ready')?.status, workspace.metadata.name).not.toBe('True')
  }
  expect(await secretsIn(theirs)).toEqual(['treasure'])
  expect(await seenByAnybody(bed, mine)).not.toContain(treasure)
  await removed(...rows.map(([workspace]) => workspace))
  for (const [workspace] of rows) await kube.seeGone(workspace, patience)
  await removed(...configs)
}, 300_000)

test('of two Workspaces of one name in two namespaces the younger is kept from the state of the older', async () => {
  const { mine, theirs, treasure } = await twoTenants()
  const name = `network-${randomBytes(3).toString('hex')}`
  const older = aWorkspace({ namespace: theirs, name, module, vars: [{ key: 'value', value: treasure }] })
  await kube.apply(older)
  await seeConverged(kube, older)
  const { spec, ...younger } = aWorkspace({ namespace: mine, name, module: '' })
  const looks = { managementPolicies: ['Observe'], writeConnectionSecretToRef: { name: 'loot' } }
  await kube.apply({ ...younger, spec: { ...(spec as object), ...looks } })
  const isRefused = (object: KubeObject) => conditionOf(object, 'Synced')?.status === 'False'
  const refused = await kube.see(younger, 'is refused', isRefused, patience)
  expect(conditionOf(refused, 'Synced')?.message).toBe(
    `connect failed: the state ${name} is already used by Workspace ${theirs}/${name}: set another crossplane.io/external-name`,
  )
  await removed(younger)
  await kube.seeGone(younger, patience)
  expect(await secretsIn(mine)).toEqual([])
  expect(await seenByAnybody(bed, mine)).not.toContain(treasure)
  const { resourceVersion } = (await kube.read(older))?.metadata ?? {}
  const kept = await askAgain(kube, older, resourceVersion ?? '')
  expect(kept['status']).toMatchObject({ atProvider: { outputs: { value: treasure } } })
  await removed(older)
  await kube.seeGone(older, patience)
}, 300_000)

test('`..` does not climb: neither an entrypoint nor the name of a credentials file leads out of the folder', async () => {
  const namespace = await bed.namespace('climb')
  const config: KubeObject = {
    apiVersion: 'tf.m.upbound.io/v1beta1',
    kind: 'ProviderConfig',
    metadata: { namespace, name: 'climbing' },
    spec: {
      configuration:
        'terraform {\n  backend "kubernetes" {\n    secret_suffix = "climb"\n    namespace = "capt-terraform-state"\n  }\n}\n',
      credentials: [
        { filename: '../../../escaped', source: 'Secret', secretRef: { namespace, name: 'login', key: 'value' } },
      ],
    },
  }
  const climbing = aWorkspace({
    namespace,
    name: 'climbing',
    module: `output "read" {\n  value = "\${path.cwd} \${file("escaped")}"\n}\n`,
    entrypoint: '../../../..',
  })
  const spec = { ...(climbing['spec'] as object), providerConfigRef: { kind: 'ProviderConfig', name: 'climbing' } }
  await kube.apply(aSecret(namespace, 'login', 'plain'), config, { ...climbing, spec })
  const made = await seeConverged(kube, climbing)
  const folder = join(work, made.metadata.uid ?? '', 'module')
  expect(made['status']).toMatchObject({ atProvider: { outputs: { read: `${folder} plain` } } })
  const found = readdirSync(bed.folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /(?:^|\/)escaped$/.test(path),
  )
  expect(found).toEqual([join('engine-work', made.metadata.uid ?? '', 'module', 'escaped')])
  await removed(climbing)
  await kube.seeGone(climbing, patience)
}, 300_000)

interface Process {
  readonly args: string
  readonly env: Readonly<Record<string, string>>
}

// Every process that is at work in a folder, or under it.
function processesIn(folder: string): readonly Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)) return []
        const [args = '', env = ''] = ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8'))
        const pairs = env.split('\0').filter(Boolean)
        return [
          {
            args: args.replaceAll('\0', ' '),
            env: Object.fromEntries(
              pairs.map((each) => {
                const at = each.indexOf('=')
                return [each.slice(0, at), each.slice(at + 1)] as const
              }),
            ),
          },
        ]
      } catch {
        return [] // it has just ended
      }
    })
}

test.skipIf(!existsSync('/proc/self/environ'))(
  'while it runs, no argument tells a secret, and the environment has what was asked for and nothing else',
  async () => {
    const namespace = await bed.namespace('watched')
    const [inFile, inEnv] = ['file', 'env'].map((name) => `${name}-${randomBytes(6).toString('hex')}`)
    const [begun, go] = ['begun', 'go'].map((name) => join(bed.folder, `${namespace}.${name}`))
    const watched = aWorkspace({
      namespace,
      name: 'watched',
      module: `
variable "password" {
  sensitive = true
}
variable "plain" {}
resource "terraform_data" "it" {
  input = sha256(var.password)
  provisioner "local-exec" {
    command = "touch ${begun}; until test -e ${go}; do sleep 0.2; done"
  }
}
`,
      vars: [{ key: 'plain', value: 'visible' }],
      varFiles: [{ source: 'SecretKey', secretKeyRef: { name: 'login', key: 'value' } }],
      env: [{ name: 'ASKED_FOR', secretKeyRef: { name: 'token', key: 'value' } }],
    })
    await kube.apply(
      aSecret(namespace, 'login', `password = "${inFile}"`),
      aSecret(namespace, 'token', inEnv ?? ''),
      watched,
    )
    await until('its apply runs', async () => (existsSync(begun ?? '') ? true : undefined), patience)
    const { uid = '' } = (await kube.read(watched))?.metadata ?? {}
    const all = processesIn(join(work, uid))
    writeFileSync(go ?? '', '')
    expect(all.map(({ args }) => args).join('\n')).toMatch(/tofu apply /)
    for (const { args, env } of all) {
      expect(args).not.toContain(inFile)
      expect(args).not.toContain(inEnv)
      const { ASKED_FOR, ...others } = env
      expect(ASKED_FOR).toBe(inEnv)
      expect(JSON.stringify(others)).not.toContain(inEnv)
      expect(JSON.stringify(others)).not.toContain(inFile)
      const usual =
        /^(?:PATH|HOME|TMPDIR|PWD|OLDPWD|SHLVL|_|CHECKPOINT_DISABLE|GIT_TERMINAL_PROMPT|KUBE_CONFIG_PATH|TF_[A-Z_]+|(?:NO|HTTPS?)_PROXY|(?:no|https?)_proxy|SSL_CERT_(?:FILE|DIR))$/
      expect(Object.keys(others).filter((name) => !usual.test(name))).toEqual([])
    }
    await seeConverged(kube, watched)
    await removed(watched)
    await kube.seeGone(watched, patience)
  },
  300_000,
)
