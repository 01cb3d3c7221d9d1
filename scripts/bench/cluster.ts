// An API server with our kinds and our role, and as many objects as are wanted.
import type { Resource } from '../../src/api/resource.ts'
import { createClient } from '../../src/kube/client.ts'
import { findAccess } from '../../src/kube/find.ts'
import { isWrite, readAudit } from '../../test/bed/audit.ts'
import type { Household } from '../../test/bed/household.ts'
import { managerKubeconfig, managerUser } from '../../test/bed/manager.ts'
import { startOwnApi } from '../../test/bed/own.ts'
import { until } from '../../test/until.ts'
import { putAll } from './etcd.ts'
import { measuredKinds, namespaces, ownersBy, storedAt } from './objects.ts'

export interface Cluster {
  readonly home: Pick<Household, 'start'>
  readonly kubeconfig: string // the manager's, a file
  // Lets there be so many objects.
  fill(count: number): Promise<void>
  // Reads them all and keeps nothing: what any manager must wait for.
  readAll(): Promise<void>
  writes(since: Date): Promise<number> // of the manager, but for its Leases
  stop(): Promise<void>
}

export async function startCluster(): Promise<Cluster> {
  const api = await startOwnApi('bench')
  await api.kube.apply(...namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })))
  const client = createClient(findAccess({ kubeconfig: api.adminKubeconfig, env: {} }))
  const owners = await ownersBy(client)
  let filled = 0

  // The API server reads what is in etcd behind its back, in its own time.
  async function seeCaughtUp(): Promise<void> {
    for (const kind of measuredKinds) {
      const { resourceVersion } = await client.list(kind, { limit: 1 })
      const look = async () => client.list(kind, { limit: 1, resourceVersion })
      await until(`the API server knows all ${kind.plural}`, look, { withinSeconds: 600, everyMs: 1000 })
    }
  }

  async function readWhole(kind: Resource): Promise<void> {
    for await (const event of client.watch(kind, { initialEvents: true }, new AbortController().signal)) {
      if (event.type === 'BOOKMARK' && event.isInitialEnd) return
    }
  }

  return {
    home: api.home,
    kubeconfig: await managerKubeconfig(api, api),
    async fill(count) {
      await putAll(
        api.etcdSocket,
        Array.from({ length: count - filled }, (_, at) => storedAt(filled + at, owners)),
      )
      filled = count
      await seeCaughtUp()
    },
    async readAll() {
      await Promise.all(measuredKinds.map(readWhole))
    },
    async writes(since) {
      const asked = await readAudit(api.auditLog, { user: managerUser, since })
      return asked.filter((each) => isWrite(each) && each.resource !== 'leases').length
    },
    async stop() {
      client.close()
      await api.home.end()
    },
  }
}
