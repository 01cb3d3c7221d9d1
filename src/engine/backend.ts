// Which backend a folder was initialised with, and the state it keeps there, where that is the `kubernetes`
// backend of the cluster we serve. Of any other backend only its name is known. Nothing is written here.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Secret } from '../api/neighbours.ts'
import { isRecord, type JsonRecord, readJson } from '../api/record.ts'
import { type Key, tellRef } from '../api/resource.ts'
import type { Client } from '../kube/client.ts'
import { getIfThere } from '../kube/ifthere.ts'
import { readStateHead, type StateFound } from '../terraform/state.ts'

export type Backend =
  | { readonly is: 'here'; readonly namespace: string; readonly suffix: string }
  | { readonly is: 'elsewhere'; readonly type: string } // another backend, or another cluster

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
  if (type !== 'kubernetes' || suffix === undefined || !isOwnCluster(config, env, own)) return { is: 'elsewhere', type }
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

// Names as every command line of either family writes them.
export function stateKey({ namespace, suffix }: Backend & { is: 'here' }, workspace: string): Key {
  return { namespace, name: `tfstate-${workspace}-${suffix}` }
}

const largest = 256 * 2 ** 20 // unpacked

export interface State extends StateFound {
  readonly bytes: Buffer // its JSON, gzipped; empty when it is absent
  readonly text: string // its JSON; empty when it is absent or damaged
}

// A state that is too large for a Secret goes on in `…-1`, `…-2` (Terraform does that since 1.6, OpenTofu refuses).
export async function fetchState(client: Pick<Client, 'get'>, key: Key): Promise<State> {
  const where = tellRef(Secret, key)
  let bytes = Buffer.alloc(0)
  for (let part = 0; ; part++) {
    const secret = await getIfThere(client, Secret, part === 0 ? key : { ...key, name: `${key.name}-${part}` })
    const more = secret?.data?.['tfstate']
    if (more === undefined) return { where, head: part === 0 ? 'absent' : 'damaged', bytes, text: '' }
    bytes = Buffer.concat([bytes, Buffer.from(more, 'base64')])
    const text = await textOf(bytes)
    if (text === 'cut') continue
    const head = readStateHead(text)
    return head ? { where, head, bytes, text } : { where, head: 'damaged', bytes, text: '' }
  }
}

// What is no state unpacks to nothing.
async function textOf(bytes: Buffer): Promise<string> {
  try {
    return (await promisify(gunzip)(bytes, { maxOutputLength: largest })).toString()
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR' ? 'cut' : ''
  }
}

function absent(error: unknown): undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
}

function textIn(config: JsonRecord, field: string): string | undefined {
  const value = config[field]
  return typeof value === 'string' ? value : undefined
}
