// The authenticator of an EKS cluster, as its API server calls it (TokenReview), with aws-iam-authenticator's rules. It asks no
// STS: it knows one AWS identity and makes its signature itself, with the signer of AWS's SDK.
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Certified } from './bed/certificates.ts'
import { type PlainCredentials, presignedBySmithy } from './signatures.ts'

export interface EksCluster {
  readonly clusterName: string
  readonly credentials: PlainCredentials // the one identity that is let in, as system:masters
  readonly now?: () => number
}

export interface EksAuthenticator {
  readonly url: string
  stop(): Promise<void>
}

export const eksUser = 'arn:aws:sts::111122223333:assumed-role/capt/capt'

export async function startEksAuthenticator(cluster: EksCluster & Certified): Promise<EksAuthenticator> {
  const server = createServer({ cert: cluster.cert, key: cluster.key }, (request, response) => {
    void text(request).then(async (body) => {
      const { spec } = JSON.parse(body) as { spec: { token: string } }
      const error = await whyRefused(spec.token, cluster)
      const status =
        error === undefined
          ? { authenticated: true, user: { username: eksUser, groups: ['system:masters'] } }
          : { authenticated: false, error }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', status }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/authenticate`,
    async stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const prefix = 'k8s-aws-v1.'
const allowed = new Set([
  'action',
  'version',
  'x-amz-algorithm',
  'x-amz-credential',
  'x-amz-date',
  'x-amz-expires',
  'x-amz-security-token',
  'x-amz-signature',
  'x-amz-signedheaders',
])
const lastsMs = 15 * 60_000
const aheadMs = 5 * 60_000 // STS: "Signature not yet current"

// Undefined: the token is good.
export async function whyRefused(token: string, cluster: EksCluster): Promise<string | undefined> {
  const { clusterName, credentials, now = Date.now } = cluster
  if (token.length > 4096) return 'it is too large'
  if (!token.startsWith(prefix)) return 'it has not the prefix'
  const encoded = token.slice(prefix.length)
  if (!/^[A-Za-z0-9_-]+$/.test(encoded)) return 'it is not base64 for URLs without padding'
  const url = URL.parse(Buffer.from(encoded, 'base64url').toString())
  if (!url || url.protocol !== 'https:') return 'it is not an https URL'
  const [, region = 'us-east-1'] = /^sts\.([a-z0-9-]+)\.amazonaws\.com$/.exec(url.host) ?? []
  if (![`sts.${region}.amazonaws.com`, 'sts.amazonaws.com'].includes(url.host)) return `the host ${url.host} is not STS`
  if (url.pathname !== '/') return 'it has a path'

  const names = [...url.searchParams.keys()].map((name) => name.toLowerCase())
  if (names.some((name) => !allowed.has(name))) return 'it has a parameter that is not allowed'
  if (new Set(names).size !== names.length) return 'it has a parameter twice'
  const said = Object.fromEntries([...url.searchParams].map(([name, value]) => [name.toLowerCase(), value]))
  if (said['action'] !== 'GetCallerIdentity') return 'it asks something else'
  if (!said['x-amz-signedheaders']?.split(';').includes('x-k8s-aws-id')) return 'the cluster is not signed'
  const expires = Number(said['x-amz-expires'] ?? Number.NaN)
  if (!(expires >= 0 && expires <= 60)) return 'X-Amz-Expires is not between 0 and 60' // as the oldest ones ask
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(said['x-amz-date'] ?? '') ?? []
  if (parts.length === 0) return 'it has no date'
  const [year = 0, month = 1, day = 1, hour, minute, second] = parts.map(Number)
  const signedAt = new Date(Date.UTC(year, month - 1, day, hour, minute, second))
  if (now() > signedAt.getTime() + lastsMs) return 'it is older than 15 minutes'
  if (now() < signedAt.getTime() - aheadMs) return 'it is of the future'

  // STS signs again what it was asked, with the cluster's name as the authenticator tells it.
  const asked = `https://${url.host}/?Action=GetCallerIdentity&Version=${said['version']}&X-Amz-Expires=${expires}`
  const headers = { 'x-k8s-aws-id': clusterName }
  const mine = await presignedBySmithy({ url: asked, headers, region, credentials, now: signedAt })
  for (const [name, value] of mine.searchParams)
    if (said[name.toLowerCase()] !== value) return `${name} is not what this identity signs for this cluster`
  return names.length === [...mine.searchParams].length ? undefined : 'it says more than was signed'
}
