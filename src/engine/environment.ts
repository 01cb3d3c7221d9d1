// The environment of Terraform's commands: what they need of ours, what we set, what the Workspace asks for, and nothing else.
// Pure.
import { type Environment, type Inputs, ownFiles } from './inputs.ts'

export interface Surroundings {
  readonly inputs: Pick<Inputs, 'files' | 'env' | 'usesPluginCache' | 'usesIdentity'>
  readonly home: string
  readonly temporary: string
  readonly pluginCache: string // a folder
  readonly given: Readonly<Record<string, string>> // by the engine to every command: KUBE_CONFIG_PATH
  readonly ours: Environment
}

// The way out of the machine, and to the API server (the kubernetes backend with in_cluster_config).
const passed = [
  'PATH',
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]),
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'KUBERNETES_SERVICE_HOST',
  'KUBERNETES_SERVICE_PORT',
]

// Who the pod is for AWS: IAM roles for service accounts, and EKS Pod Identity.
const identity = [
  'AWS_ROLE_ARN',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_STS_REGIONAL_ENDPOINTS',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
  'AWS_REGION',
  'AWS_DEFAULT_REGION',
]

export function environmentOf(surroundings: Surroundings): Readonly<Record<string, string>> {
  const { inputs, home, temporary, pluginCache, given, ours } = surroundings
  return {
    ...pick(ours, [...passed, ...(inputs.usesIdentity ? identity : [])]),
    HOME: home,
    TMPDIR: temporary,
    TF_IN_AUTOMATION: '1',
    TF_INPUT: '0',
    CHECKPOINT_DISABLE: '1',
    GIT_TERMINAL_PROMPT: '0',
    ...(ownFiles.gitCredentials in inputs.files && {
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'credential.helper',
      GIT_CONFIG_VALUE_0: `store --file='${home}/${ownFiles.gitCredentials}'`,
    }),
    ...(ownFiles.cliConfig in inputs.files && { TF_CLI_CONFIG_FILE: `${home}/${ownFiles.cliConfig}` }),
    ...(inputs.usesPluginCache && {
      TF_PLUGIN_CACHE_DIR: pluginCache,
      // No lock file came with the module, or one without sums for this machine: what is in the cache is good.
      TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE: '1',
    }),
    ...given,
    ...inputs.env,
  }
}

function pick(from: Environment, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = from[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
