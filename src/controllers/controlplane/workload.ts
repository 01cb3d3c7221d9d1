// The API server of a cluster, asked with a credential of ours: whether it answers, for a token of an account of ours there, and to
// have what reaches out of the cluster removed.
import { ClusterRoleBinding, Service, ServiceAccount } from '../../api/neighbours.ts'
import { apiVersionOf, type KubeObject, keyOf, tellKey } from '../../api/resource.ts'
import type { Access } from '../../kube/access.ts'
import { type Client, createClient } from '../../kube/client.ts'
import { ApiError, isConflict, isNotFound } from '../../kube/errors.ts'
import { chooseProxy } from '../../kube/proxy.ts'
import type { Way } from '../../secrets/kubeconfig.ts'
import type { Outside, Token } from './outside.ts'
import type { Answer, No } from './seen.ts'
import { silent, unanswered } from './unanswered.ts'

const account = { namespace: 'kube-system', name: 'capt-manager' }

// Workers wait as long: an answer is to be had soon, or not at all. Core gives it five seconds, too.
export function createWorkload(env: NodeJS.ProcessEnv, withinMs = 5000): Omit<Outside, 'awsToken'> {
  const ask = async <T>(way: Way, question: (client: Client) => Promise<T>): Promise<T | No> => {
    const signal = AbortSignal.timeout(withinMs)
    const client = createClient(accessOf(way, env), { userAgent: 'capt-manager', signal })
    try {
      return await question(client)
    } catch (error) {
      if (signal.aborted) return silent(way, withinMs / 1000)
      if (error instanceof ApiError) return unanswered(error, way)
      throw error
    } finally {
      client.close()
    }
  }
  return {
    greet: async (way) => ask(way, greet),
    accountToken: async (way, seconds) => ask(way, async (client) => accountToken(client, seconds)),
    removeLoadBalancers: async (way) => ask(way, removeLoadBalancers),
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
  await client.greet()
  return { is: 'yes' }
}

// What every account of an administrator has, and not more: Cluster API applies whatever users hand to it.
async function accountToken(client: Client, seconds: number): Promise<Token> {
  const how = { fieldManager: 'capt-manager', force: true }
  await client.apply(ServiceAccount, serviceAccount, how)
  await client.apply(ClusterRoleBinding, binding, how)
  const { token, expiresAt } = await client.requestToken(account, { seconds })
  return { token, expires: new Date(expiresAt) }
}

// Each by itself: as many as can be in the time that there is.
async function removeLoadBalancers(client: Client): Promise<readonly string[]> {
  const found = await loadBalancers(client)
  if (found.length === 0) return []
  const there = found.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  await Promise.all(there.map(async (service) => removeService(client, service)))
  return (await loadBalancers(client)).map((service) => tellKey(keyOf(service)))
}

async function removeService(client: Client, service: Service): Promise<void> {
  const { uid = '' } = service.metadata
  try {
    await client.remove(Service, keyOf(service), { uid })
  } catch (error) {
    if (!isNotFound(error, service.metadata.name) && !isConflict(error)) throw error
  }
}

async function loadBalancers(client: Client): Promise<readonly Service[]> {
  const found: Service[] = []
  let from: string | undefined
  do {
    const page = await client.list(Service, { limit: 500, ...(from !== undefined && { from }) })
    found.push(...page.items.filter(({ spec }) => spec?.type === 'LoadBalancer'))
    from = page.next
  } while (from !== undefined)
  return found
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
