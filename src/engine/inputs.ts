// Everything a run needs that is not in the Workspace itself, read from where it is. What may not be read is not read.
import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { ConfigMap, Secret } from '../api/neighbours.ts'
import { tellKey } from '../api/resource.ts'
import type { KeyRef, ProviderConfig, Workspace, WorkspaceAPI } from '../api/workspace.ts'
import type { Client } from '../kube/client.ts'
import { isNotFound } from '../kube/errors.ts'
import { valuesIn } from '../terraform/secretvalues.ts'
import { isStateFile } from '../terraform/state.ts'
import { artifactOf, readFluxRef } from './flux.ts'
import { InputsError } from './inputserror.ts'
import { checkProviderConfig, credentialNamespace, namespaceFor } from './tenancy.ts'

export { InputsError } from './inputserror.ts'

// As files and environment: plain enough to be kept for a destroy after everything else is gone.
export interface Inputs {
  readonly files: Readonly<Record<string, string>> // by their path in the folder
  readonly env: Readonly<Record<string, string>> // of `env[]` alone
  readonly varArgs: readonly string[] // -var and -var-file, in their order
  readonly hasBackendFile: boolean
  readonly usesPluginCache: boolean
  readonly isLogged: boolean // enableTerraformCLILogging
  readonly secrets: readonly string[] // values that must not be seen: to scrub what commands print
  readonly remote?: Remote // where the module is; none: it is among the files
  readonly entrypoint?: string // a folder of the module, without a way out
  readonly usesIdentity?: boolean // the role of the engine's pod is meant: no other credentials are given
}

export type Remote =
  | { readonly from: 'address'; readonly address: string; readonly isPulledAlways: boolean }
  | { readonly from: 'artifact'; readonly url: string; readonly digest: string }

export interface Asked {
  readonly api: WorkspaceAPI
  readonly workspace: Workspace
  readonly providerConfig: ProviderConfig
}

export type Environment = Readonly<Record<string, string | undefined>>

// Names that Crossplane's provider uses, too.
export const ownFiles = {
  main: 'main.tf',
  mainJson: 'main.tf.json',
  configuration: 'crossplane-provider-config.tf',
  backend: 'crossplane.remote.tfbackend',
  gitCredentials: '.git-credentials',
  cliConfig: '.terraformrc',
} as const
const varFile = 'crossplane-provider-terraform-'

export function isVarFile(path: string): boolean {
  return basename(path).startsWith(varFile)
}

interface Read {
  (ref: KeyRef, namespace: string, field: string): Promise<string>
}

interface Reads {
  readonly secret: Read
  readonly configMap: Read
}

// `ours` is the environment of the engine, which a ProviderConfig for the whole cluster may name variables of.
export async function gather(
  asked: Asked,
  live: Pick<Client, 'get'>,
  ours: Environment = process.env,
): Promise<Inputs> {
  checkProviderConfig(asked)
  const { forProvider } = asked.workspace.spec
  const seen: string[] = []
  const hide = (text: string) => seen.push(...valuesIn(text))
  const reads = readsOf(live, hide)

  const credentials = await credentialsOf(asked.providerConfig, reads, ours)
  for (const text of Object.values(credentials.files)) hide(text)
  const variables = await variablesOf(asked, reads)
  const env = await envOf(asked, reads)
  const remote = await remoteOf(asked, live)
  const { configuration, backendFile, pluginCache = true } = asked.providerConfig.spec
  return {
    files: {
      ...credentials.files,
      ...(forProvider.source === 'Inline' && {
        [forProvider.inlineFormat === 'JSON' ? ownFiles.mainJson : ownFiles.main]: forProvider.module,
      }),
      ...(configuration !== undefined && { [ownFiles.configuration]: configuration }),
      ...(backendFile !== undefined && { [ownFiles.backend]: backendFile }),
      ...variables.files,
    },
    env,
    varArgs: variables.args,
    hasBackendFile: backendFile !== undefined,
    usesPluginCache: pluginCache,
    isLogged: forProvider.enableTerraformCLILogging ?? false,
    secrets: [...new Set(seen)],
    ...(remote && { remote }),
    entrypoint: entrypointOf(forProvider.entrypoint ?? ''),
    usesIdentity: credentials.usesIdentity,
  }
}

function readsOf(live: Pick<Client, 'get'>, toldSecret: (text: string) => void): Reads {
  return {
    async secret(ref, namespace, field) {
      const { data = {} } = await found(async () => live.get(Secret, { name: ref.name, namespace }), ref.name, field)
      const text = decoded(valueAt(data, ref, `Secret ${namespace}/${ref.name}`, field), field)
      toldSecret(text)
      return text
    },
    async configMap(ref, namespace, field) {
      const { data = {} } = await found(async () => live.get(ConfigMap, { name: ref.name, namespace }), ref.name, field)
      return valueAt(data, ref, `ConfigMap ${namespace}/${ref.name}`, field)
    },
  }
}

async function found<T>(get: () => Promise<T>, name: string, field: string): Promise<T> {
  try {
    return await get()
  } catch (error) {
    if (!isNotFound(error, name) || !(error instanceof Error)) throw error
    throw new InputsError(`${error.message}: create it, or correct ${field}`, { cause: error })
  }
}

function valueAt(data: Readonly<Record<string, string>>, { key }: KeyRef, whose: string, field: string): string {
  const value = Object.hasOwn(data, key) ? data[key] : undefined
  if (value !== undefined) return value
  throw new InputsError(`${whose} has no key ${key}: add it, or correct ${field}`)
}

function decoded(base64: string, field: string): string {
  const bytes = Buffer.from(base64, 'base64')
  if (isUtf8(bytes)) return bytes.toString()
  throw new InputsError(`${field} leads to bytes that are no text (UTF-8): store them as base64 once more`)
}

async function credentialsOf(providerConfig: ProviderConfig, reads: Reads, ours: Environment) {
  const files: Record<string, string> = {}
  let usesIdentity = true
  for (const [index, credential] of (providerConfig.spec.credentials ?? []).entries()) {
    const field = `credentials[${index}]`
    const text = await credentialOf(providerConfig, credential, field, reads, ours)
    if (text === undefined) continue
    // The provider takes the last part of a path, too.
    const name = basename(credential.filename)
    if (isTaken(name))
      throw new InputsError(`${field}.filename cannot be ${name}, which has a meaning: use another name`)
    files[name] = text
    if (name !== ownFiles.gitCredentials && name !== ownFiles.cliConfig) usesIdentity = false
  }
  return { files, usesIdentity }
}

type Credential = NonNullable<ProviderConfig['spec']['credentials']>[number]

async function credentialOf(
  providerConfig: ProviderConfig,
  { source, secretRef, env, fs }: Credential,
  field: string,
  reads: Reads,
  ours: Environment,
): Promise<string | undefined> {
  switch (source) {
    case 'None':
    case 'InjectedIdentity':
      return undefined
    case 'Secret': {
      if (!secretRef) throw new InputsError(`${field} is from a Secret but has no secretRef: add it`)
      const at = `${field}.secretRef`
      return reads.secret(secretRef, credentialNamespace(providerConfig, secretRef.namespace, at), at)
    }
    case 'Environment':
    case 'Filesystem': {
      if (providerConfig.metadata.namespace !== undefined) {
        throw new InputsError(
          `${field} is from the engine's ${source === 'Environment' ? 'environment' : 'files'}, which a ProviderConfig of a namespace may not read: use a Secret, or a ClusterProviderConfig`,
        )
      }
      return source === 'Environment' ? variableOf(env?.name ?? '', field, ours) : fileOf(fs?.path ?? '', field)
    }
  }
}

function variableOf(name: string, field: string, ours: Environment): string {
  const value = ours[name]
  if (value !== undefined) return value
  throw new InputsError(`${field}: the engine has no environment variable ${name}: set it, or correct env.name`)
}

async function fileOf(path: string, field: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new InputsError(`${field}: the engine cannot read ${path}: mount it, or correct fs.path`, { cause: error })
  }
}

// What we write beside credentials, and what Terraform keeps there.
function isTaken(name: string): boolean {
  const taken: readonly string[] = [ownFiles.main, ownFiles.mainJson, ownFiles.configuration, ownFiles.backend]
  return (
    ['', '.', '..', ...taken].includes(name) ||
    isVarFile(name) ||
    (name.startsWith('.terraform') && name !== ownFiles.cliConfig) ||
    isStateFile(name)
  )
}

// On one command line the last one wins: varmap before varFiles before vars.
async function variablesOf(asked: Asked, reads: Reads) {
  const { vars = [], varFiles = [], varmap } = asked.workspace.spec.forProvider
  const files: Record<string, string> = {}
  const args = vars.map(({ key, value }) => `-var=${key}=${value}`)
  const add = (text: string, format: 'HCL' | 'JSON') => {
    const name = `${varFile}${Object.keys(files).length}.tfvars${format === 'JSON' ? '.json' : ''}`
    files[name] = text
    args.push(`-var-file=${name}`)
  }
  for (const [index, { source, format = 'HCL', configMapKeyRef, secretKeyRef }] of varFiles.entries()) {
    const [read, name, ref] =
      source === 'SecretKey'
        ? [reads.secret, 'secretKeyRef', secretKeyRef]
        : [reads.configMap, 'configMapKeyRef', configMapKeyRef]
    const field = `varFiles[${index}].${name}`
    if (!ref) throw new InputsError(`${field} is missing, where source is ${source}: add it`)
    add(await read(ref, namespaceFor(asked, ref.namespace, field), field), format)
  }
  if (varmap) add(JSON.stringify(varmap), 'JSON')
  return { files, args }
}

// Which state a run works on, and where it keeps what init found, is ours to say.
const ownVariables = new Set(['TF_WORKSPACE', 'TF_DATA_DIR'])

async function envOf(asked: Asked, reads: Reads): Promise<Readonly<Record<string, string>>> {
  const env: Record<string, string> = {}
  for (const [index, each] of (asked.workspace.spec.forProvider.env ?? []).entries()) {
    const { name, value, configMapKeyRef, secretKeyRef } = each
    if (!/^[^=\0]+$/.test(name)) throw new InputsError(`env[${index}].name is no name of a variable: correct it`)
    if (ownVariables.has(name)) throw new InputsError(`env[${index}] sets ${name}, which the engine sets: remove it`)
    const field = `env[${index}].${configMapKeyRef ? 'configMapKeyRef' : 'secretKeyRef'}`
    const read = configMapKeyRef ? reads.configMap : reads.secret
    const ref = configMapKeyRef ?? secretKeyRef
    env[name] = value || (ref ? await read(ref, namespaceFor(asked, ref.namespace, field), field) : '')
    // Node would tell the value when it refuses it.
    if (env[name].includes('\0')) throw new InputsError(`env[${index}] (${name}) holds a NUL, which no variable can`)
  }
  return env
}

async function remoteOf(asked: Asked, live: Pick<Client, 'get'>): Promise<Remote | undefined> {
  const { source, module, remotePullPolicy = 'Always' } = asked.workspace.spec.forProvider
  switch (source) {
    case 'Inline':
      return undefined
    case 'Remote':
      return { from: 'address', address: module, isPulledAlways: remotePullPolicy === 'Always' }
    case 'Flux': {
      const { resource, key } = readFluxRef(module)
      // A namespaced Workspace must say its own: what is beside it is not what was asked for.
      const own = namespaceFor(asked, key.namespace, 'module')
      if (own !== key.namespace) {
        throw new InputsError(`module leads to ${resource.kind} ${tellKey(key)}: only one in ${own} may be used`)
      }
      const get = async () => live.get(resource, key)
      return { from: 'artifact', ...artifactOf(await found(get, key.name, 'module'), resource, key) }
    }
  }
}

// As the provider does, `..` is passed over: it leads nowhere.
function entrypointOf(asked: string): string {
  if (asked.startsWith('/')) throw new InputsError(`entrypoint ${asked} is absolute: name a folder of the module`)
  return asked
    .split('/')
    .filter((part) => !['', '.', '..'].includes(part))
    .join('/')
}
