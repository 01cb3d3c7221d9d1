// A kubeconfig that core can use: what the template wrote is read and judged, and what core gets is always written here. Pure.
import { stringify } from 'yaml'
import { type Kubeconfig, type KubeconfigCluster, type KubeconfigUser, parseKubeconfig } from '../api/kubeconfig.ts'
import { type Sealed, seal } from '../api/sealed.ts'
import { readCertificates } from './certificate.ts'
import { readEndpoint, tellEndpoint } from './endpoint.ts'
import { endOf } from './token.ts'

// How an API server is reached, and as whom.
export interface Way {
  readonly server: string // a URL
  readonly ca: string // PEM
  readonly serverName?: string // what its certificate names, when that is not the host
  readonly token?: Sealed
  readonly certificate?: string // PEM
  readonly key?: Sealed // PEM
}

export interface Usable {
  readonly is: 'usable'
  readonly way: Way
  readonly expires: Date | undefined // its token; undefined: it does not say
}

export interface Unusable {
  readonly is: 'unusable'
  readonly why: string // names the field
}

export function judgeKubeconfig(text: Sealed, now: Date): Usable | Unusable {
  const config = parsed(text)
  if (typeof config === 'string') return unusable(config)
  const name = config['current-context'] ?? (config.contexts.length === 1 ? config.contexts[0]?.name : undefined)
  if (name === undefined) return unusable('it has no current-context, and not just one context')
  const context = config.contexts.find((each) => each.name === name)?.context
  if (!context) return unusable(`it has no context ${name}, which is its current-context`)
  const cluster = config.clusters.find((each) => each.name === context.cluster)?.cluster
  if (!cluster) return unusable(`context ${name} names a cluster that it does not have`)
  const user = config.users.find((each) => each.name === context.user)?.user
  if (!user) return unusable(`context ${name} names a user that it does not have`)

  const { server, 'certificate-authority-data': authority, 'tls-server-name': serverName } = cluster
  if (server === undefined || !/^https:/i.test(server) || !readEndpoint(server))
    return unusable('server is not an address such as https://host:443')
  const strange = foreign(cluster, notOfClusters) ?? foreign(user, notOfUsers)
  if (strange !== undefined) return unusable(strange)
  if (authority === undefined) return unusable('it has no certificate-authority-data')
  const ca = readCertificates(authority)
  if (ca === undefined) return unusable('certificate-authority-data is no certificate')

  const { token, 'client-certificate-data': certificate, 'client-key-data': key } = user
  if (token === undefined && (certificate === undefined || key === undefined))
    return unusable('its user has neither a token nor client-certificate-data with client-key-data')
  const expires = token === undefined ? undefined : endOf(token)
  if (expires && expires <= now) return unusable('its token has expired')
  const shown = certificate === undefined ? undefined : readCertificates(certificate)
  if (token === undefined && shown === undefined) return unusable('client-certificate-data is no certificate')
  const identity =
    token === undefined ? { certificate: shown ?? '', key: seal(decoded(key ?? '')) } : { token: seal(token) }
  return { is: 'usable', expires, way: { server, ca, ...(serverName && { serverName }), ...identity } }
}

// What would lead Cluster API another way than the one that is judged here, or show another credential there. It is refused where it
// would be left out as well: whoever wrote it meant something by it.
const notOfClusters = {
  'insecure-skip-tls-verify': 'is set: give the CA instead',
  'certificate-authority': aFile('certificate-authority-data'),
  'proxy-url': 'names a proxy, and only those of HTTPS_PROXY are gone through: leave it out',
} satisfies Refused<KubeconfigCluster>
const toGive = 'give a token instead'
const acting = 'acts as somebody else: give a token of that one instead'
const notOfUsers = {
  tokenFile: aFile('token'), // which client-go prefers to a token, so that core would show a file of its own
  'client-certificate': aFile('client-certificate-data'),
  'client-key': aFile('client-key-data'),
  username: `is for passwords, which Kubernetes does not take: ${toGive}`,
  password: `is nothing that Kubernetes takes: ${toGive}`,
  exec: `is a plugin, which Cluster API does not run: ${toGive}`,
  'auth-provider': `is nothing that Cluster API knows: ${toGive}`,
  as: acting,
  'as-uid': acting,
  'as-groups': acting,
  'as-user-extra': acting,
} satisfies Refused<KubeconfigUser>

function aFile(instead: string): string {
  return `names a file: write ${instead} instead`
}

type Refused<Part> = Partial<Record<keyof Part, string>>

function foreign(part: Readonly<Record<string, unknown>>, refused: Readonly<Record<string, string>>) {
  const [field, why] = Object.entries(refused).find(([each]) => part[each]) ?? []
  return field && `${field} ${why}`
}

function parsed(text: Sealed): Kubeconfig | string {
  try {
    return parseKubeconfig(text.open(), 'it')
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function unusable(why: string): Unusable {
  return { is: 'unusable', why }
}

// Whether two addresses are one.
export function isSameServer(one: string, other: string): boolean {
  const [a, b] = [readEndpoint(one), readEndpoint(other)]
  return a !== undefined && b !== undefined && tellEndpoint(a) === tellEndpoint(b)
}

// For Cluster API and all that speak for it.
export function writeKubeconfig(cluster: string, way: Way): Sealed {
  const { token, certificate, key } = way
  const identity = token
    ? { token: token.open() }
    : { 'client-certificate-data': encoded(certificate ?? ''), 'client-key-data': encoded(key?.open() ?? '') }
  return seal(written(cluster, way, identity))
}

// For people: the token comes from their own AWS identity, so there is nothing secret in it.
export function writeUserKubeconfig(
  cluster: string,
  way: Pick<Way, 'server' | 'ca' | 'serverName'>,
  eks: { readonly name: string; readonly region: string | undefined }, // undefined: it is their own
): string {
  const { name, region } = eks
  const args = ['eks', 'get-token', '--cluster-name', name, ...(region === undefined ? [] : ['--region', region])]
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1beta1',
    command: 'aws',
    args,
    interactiveMode: 'IfAvailable',
  }
  return written(cluster, way, { exec })
}

function written(cluster: string, { server, ca, serverName }: Pick<Way, 'server' | 'ca' | 'serverName'>, user: object) {
  const context = { cluster, user: `${cluster}-admin` }
  const reach = {
    server,
    'certificate-authority-data': encoded(ca),
    ...(serverName !== undefined && { 'tls-server-name': serverName }),
  }
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: cluster, cluster: reach }],
      users: [{ name: context.user, user }],
      contexts: [{ name: cluster, context }],
      'current-context': cluster,
    },
    { lineWidth: 0 },
  )
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64')
}

function decoded(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8')
}
