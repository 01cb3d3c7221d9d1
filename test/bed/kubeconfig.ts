// Kubeconfig files, with everything inside: they can be copied, stored in a Secret, pointed elsewhere.
import { parse, stringify } from 'yaml'
import type { Certified } from './certificates.ts'

export type Credentials = Certified | { readonly token: string }

export interface Reach {
  readonly server: string
  readonly ca: string // PEM
}

// A kubeconfig as it is written here, of one cluster and one user.
interface Written {
  readonly clusters: readonly [
    { readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } },
  ]
  readonly users: readonly [
    {
      readonly user: {
        readonly token?: string
        readonly 'client-certificate-data'?: string
        readonly 'client-key-data'?: string
      }
    },
  ]
}

export function kubeconfig({ server, ca }: Reach, who: Credentials): string {
  const user =
    'token' in who
      ? { token: who.token }
      : { 'client-certificate-data': base64(who.cert), 'client-key-data': base64(who.key) }
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bed', cluster: { server, 'certificate-authority-data': base64(ca) } }],
    users: [{ name: 'bed', user }],
    contexts: [{ name: 'bed', context: { cluster: 'bed', user: 'bed' } }],
    'current-context': 'bed',
  })
}

export function readKubeconfig(text: string): { readonly reach: Reach; readonly who: Credentials } {
  const { clusters, users } = parse(text) as Written
  const [{ cluster }, { user }] = [clusters[0], users[0]]
  const who =
    user.token === undefined
      ? { cert: plain(user['client-certificate-data']), key: plain(user['client-key-data']) }
      : { token: user.token }
  return { reach: { server: cluster.server, ca: plain(cluster['certificate-authority-data']) }, who }
}

// The same user, another way to the API server.
export function redirected(text: string, { server, ca }: Reach): string {
  const config = parse(text) as { clusters: { cluster: Record<string, string> }[] }
  for (const { cluster } of config.clusters) {
    Object.assign(cluster, { server, 'certificate-authority-data': base64(ca) })
  }
  return stringify(config)
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function plain(text = ''): string {
  return Buffer.from(text, 'base64').toString()
}
