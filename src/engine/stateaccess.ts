// How runs of Terraform reach the states in this cluster: as an account of its own that may do nothing else, by a kubeconfig
// whose token is in a file beside it, renewed long before it ends. What a module does with its environment is thereby not done
// with our rights.
import { chmod, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Namespace } from '../api/neighbours.ts'
import { type KubeObject, type Resource, slim } from '../api/resource.ts'
import type { Access } from '../kube/access.ts'
import type { Client } from '../kube/client.ts'
import { ApiError, isAlreadyThere } from '../kube/errors.ts'
import type { Clock } from '../runtime/clock.ts'
import { type Log, tellError } from '../runtime/log.ts'
import { stateNamespace } from '../terraform/statesecret.ts'

export const stateAccount = 'capt-terraform-state'

export interface StateAccess {
  readonly file: string // the kubeconfig
  // Why there is no access, as a sentence; undefined: there is.
  trouble(): string | undefined
  // Resolves when it was tried once.
  start(): Promise<void>
  stop(): void
}

export interface StateAccessOptions {
  readonly client: Pick<Client, 'requestToken' | 'create'>
  readonly access: Access
  readonly folder: string
  readonly clock: Clock
  readonly date?: () => Date
  readonly log: Log
}

// An API server may give less. A run that goes on for longer reads the file again: client-go does once a minute.
const askedSeconds = 24 * 3600
const againMs = 10_000
const nearMs = 600_000 // its end: nothing is begun any more

export function createStateAccess(options: StateAccessOptions): StateAccess {
  const { client, access, folder, clock, date = () => new Date(), log } = options
  const file = join(folder, 'state.kubeconfig')
  const key = { namespace: stateNamespace, name: stateAccount }
  const tokenFile = join(folder, 'state.token')
  let why: string | undefined = 'it was not asked for yet'
  let goodUntil = Number.NEGATIVE_INFINITY
  let isStopped = false
  let callOff = () => {}

  async function ask() {
    const request = async () => client.requestToken(key, { seconds: askedSeconds })
    try {
      return await request()
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 404) throw error
      for (const [resource, object] of stateObjects()) await createIfAbsent(client, resource, object)
      return request()
    }
  }

  async function renew(): Promise<void> {
    let nextMs = againMs
    try {
      const { token, expiresAt } = await ask()
      await writePrivately(tokenFile, token.open())
      await writePrivately(file, kubeconfigFor(access, tokenFile))
      const lifeMs = Date.parse(expiresAt) - date().getTime()
      goodUntil = date().getTime() + lifeMs - Math.min(nearMs, lifeMs / 4)
      nextMs = Math.max(againMs, lifeMs / 2)
      why = undefined
    } catch (error) {
      const isFirst = why === undefined
      why = tellError(error)
      if (isFirst) log.warn('the access to Terraform states cannot be renewed', { why })
    }
    if (!isStopped) callOff = clock.wakeAt(clock.now() + nextMs, () => void renew())
  }

  return {
    file,
    trouble() {
      if (why === undefined || date().getTime() < goodUntil) return undefined
      return `no access to the Terraform states in namespace ${stateNamespace}: ${why}`
    },
    start: renew,
    stop() {
      isStopped = true
      callOff()
    },
  }
}

// Never half written: a run may read it at any moment.
async function writePrivately(file: string, text: string): Promise<void> {
  const fresh = `${file}.new`
  await writeFile(fresh, text, { mode: 0o600 })
  await chmod(fresh, 0o600)
  await rename(fresh, file)
}

// JSON, which is YAML too.
function kubeconfigFor({ server, ca, serverName, isUnchecked, proxy }: Access, tokenFile: string): string {
  const name = 'capt'
  const cluster = {
    server: server.href,
    ...(ca !== undefined && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(serverName !== undefined && { 'tls-server-name': serverName }),
    ...(isUnchecked && { 'insecure-skip-tls-verify': true }),
    ...(proxy && { 'proxy-url': proxy.href }),
  }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster }],
    users: [{ name, user: { tokenFile } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: stateNamespace } }],
    'current-context': name,
  })
}

export async function createIfAbsent(client: Pick<Client, 'create'>, resource: Resource, object: KubeObject) {
  try {
    await client.create(resource, object, { fieldManager: 'capt-engine' })
    return true
  } catch (error) {
    if (isAlreadyThere(error)) return false
    throw error
  }
}

const kind = (group: string, name: string, plural: string): Resource => ({
  group,
  version: 'v1',
  kind: name,
  plural,
  keep: slim,
})
const rbac = 'rbac.authorization.k8s.io'

// What the manifests bring; whoever runs the engine without them, on a laptop, may make it.
export function stateObjects(): readonly (readonly [Resource, KubeObject])[] {
  const metadata = { namespace: stateNamespace, name: stateAccount }
  const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update']
  const role = {
    apiVersion: `${rbac}/v1`,
    kind: 'Role',
    metadata,
    rules: [
      { apiGroups: [''], resources: ['secrets'], verbs },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs },
    ],
  }
  const binding = {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: rbac, kind: 'Role', name: stateAccount },
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
  }
  return [
    [Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: stateNamespace } }],
    [kind('', 'ServiceAccount', 'serviceaccounts'), { apiVersion: 'v1', kind: 'ServiceAccount', metadata }],
    [kind(rbac, 'Role', 'roles'), role],
    [kind(rbac, 'RoleBinding', 'rolebindings'), binding],
  ]
}
