import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { aFolder } from '../../test/folder.ts'
import { objectsInMemory } from '../../test/objects.ts'
import { Secret } from '../api/neighbours.ts'
import { stateKey } from '../terraform/statesecret.ts'
import { type Backend, backendOf, fetchState, readBackend } from './backend.ts'

// As OpenTofu 1.12.6 and Terraform 1.5.7 leave it: every setting of the backend, most of them null.
const left = (config: object, type = 'kubernetes') =>
  JSON.stringify({
    version: 3,
    backend: {
      type,
      config: {
        config_path: null,
        exec: [],
        host: null,
        in_cluster_config: null,
        namespace: null,
        token: null,
        ...config,
      },
      hash: 2990185035,
    },
  })

const own = { KUBE_CONFIG_PATH: '/engine/kubeconfig' }
const pod = { KUBE_IN_CLUSTER_CONFIG: 'true' }
const here: Backend = { is: 'here', namespace: 'states', suffix: 'capt' }
const elsewhere: Partial<Backend> = { is: 'elsewhere', type: 'kubernetes' }
const usual = { secret_suffix: 'capt', namespace: 'states' }

test.each<
  [string, string | undefined, Readonly<Record<string, string>>, Readonly<Record<string, string>>, Partial<Backend>]
>([
  ['no backend is configured', undefined, own, own, { is: 'elsewhere', type: 'local' }],
  ['another one is', left({ path: 'x.tfstate' }, 'local'), own, own, { is: 'elsewhere', type: 'local' }],
  ['what is there cannot be read', '{', own, own, { is: 'elsewhere', type: 'local' }],
  ['the module says where', left(usual), own, own, here],
  [
    'the namespace comes by environment',
    left({ secret_suffix: 'capt' }),
    { ...own, KUBE_NAMESPACE: 'states' },
    own,
    here,
  ],
  ['no namespace is said', left({ secret_suffix: 'capt' }), own, own, { ...here, namespace: 'default' }],
  ['the module wins over the environment', left(usual), { ...own, KUBE_NAMESPACE: 'other' }, own, here],
  ['the module names our own kubeconfig', left({ ...usual, config_path: '/engine/kubeconfig' }), own, own, here],
  ['the module names another kubeconfig', left({ ...usual, config_path: 'theirs.kubeconfig' }), own, own, elsewhere],
  ['an environment names another kubeconfig', left(usual), { KUBE_CONFIG_PATH: '/theirs' }, own, elsewhere],
  ['the module names another server', left({ ...usual, host: 'https://theirs' }), own, own, elsewhere],
  ['an environment names another server', left(usual), { ...own, KUBE_HOST: 'https://theirs' }, own, elsewhere],
  ['another context is asked for', left({ ...usual, config_context: 'theirs' }), own, own, elsewhere],
  ['another program lets it in', left({ ...usual, exec: [{ command: 'aws' }] }), own, own, elsewhere],
  ['we are in the cluster, as it is', left({ ...usual, in_cluster_config: true }), pod, pod, here],
  ['we are in the cluster, and it is not', left({ ...usual, config_path: 'x' }), pod, pod, elsewhere],
  ['it is in the cluster, and we are not', left({ ...usual, in_cluster_config: true }), own, own, elsewhere],
])('when %s', (_, text, env, ours, backend) => {
  expect(readBackend(text, env, ours)).toMatchObject(backend)
})

test('the file is where init leaves it, or where the environment lets it', async () => {
  const folder = aFolder()
  expect(await backendOf(folder, own, own)).toMatchObject({ is: 'elsewhere', type: 'local' })
  for (const place of ['.terraform', 'data']) mkdirSync(join(folder, place))
  writeFileSync(join(folder, '.terraform/terraform.tfstate'), left(usual))
  writeFileSync(join(folder, 'data/terraform.tfstate'), left({ ...usual, secret_suffix: 'other' }))
  expect(await backendOf(folder, own, own)).toEqual(here)
  expect(await backendOf(folder, { ...own, TF_DATA_DIR: 'data' }, own)).toEqual({ ...here, suffix: 'other' })
  const elsewhereFolder = { ...own, TF_DATA_DIR: join(folder, 'data') }
  expect(await backendOf(aFolder(), elsewhereFolder, own)).toEqual({ ...here, suffix: 'other' })
})

test('a state is called as both families call it', () => {
  expect(stateKey({ namespace: 'states', suffix: 'capt' }, 'default.demo')).toEqual({
    namespace: 'states',
    name: 'tfstate-default.demo-capt',
  })
})

test('what would unpack to more than any state is not unpacked, and is no state', async () => {
  const { client, put } = objectsInMemory()
  const key = { namespace: 'states', name: 'tfstate-default.demo-capt' }
  const bomb = Buffer.concat(Array.from({ length: 257 }, () => gzipSync(Buffer.alloc(2 ** 20))))
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: key,
    data: { tfstate: bomb.toString('base64') },
  }
  put(Secret, secret)
  expect(await fetchState(client, key)).toMatchObject({ head: 'damaged', text: '' })
})

test('where a state is elsewhere is told by what says where, and not by who reads it', () => {
  const homeOf = (config: object, type = 's3') => {
    const backend = readBackend(left(config, type), {}, {})
    return backend.is === 'elsewhere' && backend.home
  }
  const usualHome = homeOf({ bucket: 'states', key: 'net', profile: 'me' })
  expect(usualHome).toMatch(/^s3 [0-9a-f]{12}$/)
  expect(homeOf({ bucket: 'states', key: 'net', access_key: 'secret', prefix: null })).toBe(usualHome)
  expect(homeOf({ bucket: 'others', key: 'net' })).not.toBe(usualHome)
  expect(homeOf({ bucket: 'states', key: 'net' }, 'gcs')).not.toBe(usualHome)
})
