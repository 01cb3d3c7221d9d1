// The API server of a cluster, asked with a credential of ours: whether it answers, and for a token of an account of ours there.
import { ClusterRoleBinding, ServiceAccount } from '../../api/neighbours.ts'
import { apiVersionOf, type KubeObject } from '../../api/resource.ts'
import type { Access } from '../../kube/access.ts'
import { type Client, createClient } from '../../kube/client.ts'
import { ApiError } from '../../kube/errors.ts'
import { chooseProxy } from '../../kube/proxy.ts'
import type { Way } from '../../secrets/kubeconfig.ts'
import type { Outside, Token } from './outside.ts'
import type { Answer } from './seen.ts'

const answerWithinMs = 5000 // as core gives it
const account = { namespace: 'kube-system', name: 'capt-manager' }

export function createWorkload(env: NodeJS.ProcessEnv): Pick<Outside, 'greet' | 'accountToken'> {
  const ask = async <T>(way: Way, question: (client: Client) => Promise<T>): Promise<T> => {
    const client = createClient(accessOf(way, env), { userAgent: 'capt-manager' })
    try {
      return await question(client)
    } finally {
      client.close()
    }
  }
  return {
    greet: async (way) => ask(way, greet),
    accountToken: async (way, seconds) => ask(way, async (client) => accountToken(client, seconds)),
  }
}

function accessOf({ server, ca, serverName, token, certificate, key }: Way, env: NodeJS.ProcessEnv): Access {
  const url = new URL(server)
  const proxy = chooseProxy(url, env)
  return {
    server: url,
    ca,
    ...(serverName !== undefined && { serverName }),
    ...(proxy && { proxy }),
    namespace: 'default',
    credentials: async () => ({ ...(token && { token }), ...(certificate && { certificate }), ...(key && { key }) }),
    forget() {},
  }
}

async function greet(client: Client): Promise<Answer> {
  try {
    await client.greet(AbortSignal.timeout(answerWithinMs))
    return { is: 'yes' }
  } catch (error) {
    const isRejected = error instanceof ApiError && error.code === 401
    return { is: 'no', why: tell(error), ...(isRejected && { isRejected }) }
  }
}

function tell(error: unknown): string {
  if (!(error instanceof ApiError)) return `no answer within ${answerWithinMs / 1000} seconds`
  if (error.code === 401) return 'it does not take the credential (401)'
  if (error.code === 403) return 'it knows the credential, which may do nothing there (403)'
  const isCertificate = /certificate|altnames|CERT_|self.signed|issuer/i.test(error.message)
  return isCertificate ? `its certificate is not of the CA that the template told (${error.message})` : error.message
}

// What every account of an administrator has, and not more: Cluster API applies whatever users hand to it.
async function accountToken(client: Client, seconds: number): Promise<Token> {
  const how = { fieldManager: 'capt-manager', force: true }
  await client.apply(ServiceAccount, serviceAccount, how)
  await client.apply(ClusterRoleBinding, binding, how)
  const { token, expiresAt } = await client.requestToken(account, { seconds })
  return { token, expires: new Date(expiresAt) }
}

const serviceAccount: KubeObject = {
  apiVersion: apiVersionOf(ServiceAccount),
  kind: ServiceAccount.kind,
  metadata: account,
}
const binding: ClusterRoleBinding = {
  apiVersion: apiVersionOf(ClusterRoleBinding),
  kind: ClusterRoleBinding.kind,
  metadata: { name: 'capt-manager' },
  roleRef: { apiGroup: ClusterRoleBinding.group, kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ kind: ServiceAccount.kind, ...account }],
}
