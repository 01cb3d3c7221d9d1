// Reads kubeconfig files as kubectl does and makes an Access of one context. Nothing is written, nobody is asked.
import { delimiter, dirname, resolve } from 'node:path'
import { type Kubeconfig, type KubeconfigCluster, type KubeconfigUser, parseKubeconfig } from '../api/kubeconfig.ts'
import { seal } from '../api/sealed.ts'
import type { Access } from './access.ts'
import { createPlugin, type Identity } from './exec.ts'
import { type TrackedFile, trackFile } from './file.ts'
import { chooseProxy } from './proxy.ts'

export interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly now: () => number // milliseconds since 1970
}

// An entry of a kubeconfig and the folder its paths start from.
interface Entry<T> {
  readonly is: string // as it is called in a sentence
  readonly folder: string
  readonly has: T
}

export function accessByKubeconfig(files: readonly string[], wanted: string | undefined, around: Surroundings): Access {
  const configs = files.map((file) => ({ ...readKubeconfig(file), folder: dirname(resolve(file)) }))
  const where = `kubeconfig ${files.join(delimiter)}`

  // Of several files the first that has an entry of that name gives all of it.
  function find<T>(noun: string, name: string, pick: (config: (typeof configs)[number]) => T | undefined): Entry<T> {
    for (const config of configs) {
      const has = pick(config)
      if (has !== undefined) return { is: `${noun} "${name}" of ${where}`, folder: config.folder, has }
    }
    const contexts = configs.flatMap((config) => config.contexts.map((each) => each.name)).join(', ') || 'none'
    throw new Error(`${where} has no ${noun} "${name}": add it, or use another context (there: ${contexts})`)
  }

  const name = wanted ?? configs.map((config) => config['current-context']).find(Boolean)
  if (!name) throw new Error(`${where} has no current context: pass --context, or run kubectl config use-context`)
  const context = find('context', name, ({ contexts }) => contexts.find(named(name))?.context)
  const { cluster: clusterName, user: userName, namespace = 'default' } = context.has
  if (!clusterName) throw new Error(`${context.is} names no cluster: add one with kubectl config set-context`)
  const cluster = find('cluster', clusterName, ({ clusters }) => clusters.find(named(clusterName))?.cluster)
  const reach = reachOf(cluster, around)
  if (!userName) return { ...reach, namespace, credentials: async () => ({}), forget: () => {} }
  const user = find('user', userName, ({ users }) => users.find(named(userName))?.user)
  return { ...reach, namespace, ...identityOf(user, describe(cluster.has, reach.ca), around) }
}

function named(name: string): (each: { readonly name: string }) => boolean {
  return (each) => each.name === name
}

function readKubeconfig(file: string): Kubeconfig {
  const where = `kubeconfig ${file}`
  return parseKubeconfig(trackFile(file, where, () => 0).text(), where)
}

type Reach = Pick<Access, 'server' | 'ca' | 'serverName' | 'isUnchecked' | 'proxy'>

function reachOf(cluster: Entry<KubeconfigCluster>, { env, now }: Surroundings): Reach {
  const { is, has } = cluster
  const server = URL.parse(has.server ?? '')
  if (!server || !['https:', 'http:'].includes(server.protocol))
    throw new Error(`${is} has ${has.server ? 'a server that is not a URL' : 'no server'}: write https://host:port`)
  const ca = held(cluster, 'certificate-authority', now)?.text()
  const proxy = chooseProxy(server, env, has['proxy-url'])
  return {
    server,
    ...(ca && { ca }),
    ...(has['tls-server-name'] && { serverName: has['tls-server-name'] }),
    ...(has['insecure-skip-tls-verify'] && { isUnchecked: true }),
    ...(proxy && { proxy }),
  }
}

function identityOf(user: Entry<KubeconfigUser>, cluster: object, around: Surroundings): Identity {
  const { is, folder, has } = user
  const { now } = around
  const foreign = has.as ? 'impersonation (as)' : has['auth-provider'] ? 'an auth-provider' : undefined
  if (foreign)
    throw new Error(`${is} has ${foreign}, which is not supported: use a token, a client certificate or an exec plugin`)
  const certificate = held(user, 'client-certificate', now)
  const key = held(user, 'client-key', now)
  if (!certificate !== !key)
    throw new Error(`${is} has only one of client-certificate and client-key: add the other, or its -data`)
  const token = has.tokenFile
    ? trackFile(resolve(folder, has.tokenFile), `the tokenFile of ${is}`, now)
    : has.token && fixed(has.token)
  const basic = !token && has.username && seal(`${has.username}:${has.password ?? ''}`)
  const plugin = token || basic ? undefined : pluginOf(user, cluster, around) // as kubectl: what is written comes first
  return {
    credentials: async () => ({
      ...(await plugin?.credentials()),
      ...(certificate && { certificate: certificate.text() }),
      ...(key && { key: seal(key.text()) }),
      ...(token && { token: seal(token.text()) }),
      ...(basic && { basic }),
    }),
    forget() {
      for (const each of [plugin, certificate, key, token]) if (each) each.forget()
    },
  }
}

// What stands in the kubeconfig itself, in base64, comes before a file.
function held<F extends string>(
  { is, folder, has }: Entry<{ readonly [field in F | `${F}-data`]: string | undefined }>,
  field: F,
  now: () => number,
): TrackedFile | undefined {
  const [data, file] = [has[`${field}-data` as const], has[field]]
  if (data) return fixed(Buffer.from(data, 'base64').toString())
  return file ? trackFile(resolve(folder, file), `the ${field} of ${is}`, now) : undefined
}

function fixed(value: string): TrackedFile {
  return { text: () => value, forget: () => {} }
}

function pluginOf({ is, folder, has: { exec } }: Entry<KubeconfigUser>, cluster: object, { env, now }: Surroundings) {
  if (!exec) return undefined
  const { command, provideClusterInfo, interactiveMode, env: added, ...rest } = exec
  if (interactiveMode === 'Always')
    throw new Error(`the exec plugin of ${is} wants a terminal (interactiveMode Always), and gets none: use a token`)
  const plugin = {
    ...rest,
    command: command.includes('/') ? resolve(folder, command) : command, // a bare name is looked for on the PATH
    env: { ...env, ...Object.fromEntries(added.map(({ name, value }) => [name, value])) },
    cluster: provideClusterInfo ? cluster : undefined,
  }
  return createPlugin(plugin, now)
}

// A cluster as an exec plugin is told of it.
function describe({ extensions, ...cluster }: KubeconfigCluster, ca: string | undefined): object {
  return {
    ...cluster,
    'certificate-authority': undefined,
    'certificate-authority-data': ca && Buffer.from(ca).toString('base64'),
    config: extensions.find(named('client.authentication.k8s.io/exec'))?.extension,
  }
}
