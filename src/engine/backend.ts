// Which backend a folder was initialised with, and the state it keeps there, where that is the `kubernetes`
// backend of the cluster we serve. Of any other backend only its name is known. Nothing is written here.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { hashOf } from '../api/canonical.ts'
import { Secret } from '../api/neighbours.ts'
import { isRecord, type JsonRecord, readJson } from '../api/record.ts'
import type { Key } from '../api/resource.ts'
import type { Client } from '../kube/client.ts'
import { getIfThere } from '../kube/ifthere.ts'
import { readState, type State } from '../terraform/statesecret.ts'

export type Backend =
  | { readonly is: 'here'; readonly namespace: string; readonly suffix: string }
  | { readonly is: 'elsewhere'; readonly type: string; readonly home: string } // another backend, or another cluster

type Env = Readonly<Record<string, string>>

// What `init` left in the folder. What came by -backend-config is in there, what came by environment is not. `own` is the
// environment by which the engine itself lets commands reach the cluster: who says anything else may mean another one.
export async function backendOf(folder: string, env: Env, own: Env): Promise<Backend> {
  const file = resolve(folder, env['TF_DATA_DIR'] ?? '.terraform', 'terraform.tfstate')
  return readBackend(await readFile(file, 'utf8').catch(absent), env, own)
}

export function readBackend(text: string | undefined, env: Env, own: Env): Backend {
  const file = text === undefined ? undefined : readJson(text)
  const backend = isRecord(file) && isRecord(file['backend']) ? file['backend'] : {}
  const type = typeof backend['type'] === 'string' ? backend['type'] : 'local'
  const config = isRecord(backend['config']) ? backend['config'] : {}
  const suffix = textIn(config, 'secret_suffix')
  if (type !== 'kubernetes' || suffix === undefined || !isOwnCluster(config, env, own)) {
    return { is: 'elsewhere', type, home: homeIn(type, config) }
  }
  return { is: 'here', suffix, namespace: textIn(config, 'namespace') ?? env['KUBE_NAMESPACE'] ?? 'default' }
}

// The settings of the backend that say which cluster, and as whom, with their variables.
const reaching: Readonly<Record<string, string>> = {
  host: 'KUBE_HOST',
  token: 'KUBE_TOKEN',
  username: 'KUBE_USER',
  password: 'KUBE_PASSWORD',
  client_certificate: 'KUBE_CLIENT_CERT_DATA',
  cluster_ca_certificate: 'KUBE_CLUSTER_CA_CERT_DATA',
  client_key: 'KUBE_CLIENT_KEY_DATA',
  config_path: 'KUBE_CONFIG_PATH',
  config_paths: 'KUBE_CONFIG_PATHS',
  config_context: 'KUBE_CTX',
  config_context_auth_info: 'KUBE_CTX_AUTH_INFO',
  config_context_cluster: 'KUBE_CTX_CLUSTER',
  in_cluster_config: 'KUBE_IN_CLUSTER_CONFIG',
}

function isOwnCluster(config: JsonRecord, env: Env, own: Env): boolean {
  const hasExec = Array.isArray(config['exec']) && config['exec'].length > 0
  return (
    !hasExec &&
    Object.entries(reaching).every(([setting, variable]) => {
      const value = config[setting] ?? env[variable]
      return value === undefined || (value === true ? 'true' : value) === own[variable]
    })
  )
}

// The settings of backends that say where in them a state is: none that says as whom, or is secret.
const placing = [
  'address',
  'bucket',
  'container_name',
  'endpoint',
  'host',
  'hostname',
  'key',
  'namespace',
  'organization',
  'path',
  'prefix',
  'region',
  'schema_name',
  'secret_suffix',
  'storage_account_name',
  'workspace_dir',
  'workspace_key_prefix',
  'workspaces',
]

// "s3 0123456789ab": by it a state is known again, and nothing is told.
function homeIn(type: string, config: JsonRecord): string {
  const told = placing.filter((each) => config[each] !== null).map((each) => [each, config[each]] as const)
  return `${type} ${hashOf(Object.fromEntries(told)).slice(0, 12)}`
}

export async function fetchState(client: Pick<Client, 'get'>, key: Key): Promise<State> {
  return readState(async (part) => getIfThere(client, Secret, part), key)
}

function absent(error: unknown): undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
}

function textIn(config: JsonRecord, field: string): string | undefined {
  const value = config[field]
  return typeof value === 'string' ? value : undefined
}
