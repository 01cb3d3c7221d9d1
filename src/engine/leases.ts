// The Leases by which the `kubernetes` backend locks states: who holds one, and how it is freed where no command line can.
import { Lease } from '../api/neighbours.ts'
import { isRecord, readJson } from '../api/record.ts'
import { type Key, keyOf } from '../api/resource.ts'
import type { Client } from '../kube/client.ts'
import { isConflict } from '../kube/errors.ts'
import type { Lock } from './locks.ts'

const lockInfo = 'app.terraform.io/lock-info'

type Leases = Pick<Client, 'list' | 'patch'>

async function locksIn(client: Leases, namespace: string): Promise<readonly Lease[]> {
  return (await client.list(Lease, { namespace, labels: 'tfstate=true' })).items
}

// On the state that is kept there.
export async function lockOn(client: Leases, { name, namespace = '' }: Key): Promise<Lock | undefined> {
  const leases = await locksIn(client, namespace)
  const { metadata, spec } = leases.find((each) => each.metadata.name === `lock-${name}`) ?? {}
  const info = readJson(metadata?.annotations?.[lockInfo] ?? '')
  if (!spec?.holderIdentity || !isRecord(info)) return undefined
  const text = (field: string) => (typeof info[field] === 'string' ? info[field] : '')
  return { id: spec.holderIdentity, who: text('Who'), operation: text('Operation'), created: text('Created') }
}

// The backend takes a lock while it begins a state that is not there yet, and its force-unlock begins with just that. Left by a
// kill in that moment, it keeps every command from that state. False: there is none such, or it has changed meanwhile.
export async function freeLease(client: Leases, namespace: string, lock: string): Promise<boolean> {
  const lease = (await locksIn(client, namespace)).find(({ spec }) => spec?.holderIdentity === lock)
  if (!lease) return false
  const { uid, resourceVersion } = lease.metadata
  const metadata = { uid, resourceVersion, annotations: { [lockInfo]: null } }
  const change = { metadata, spec: { holderIdentity: null } }
  try {
    await client.patch(Lease, keyOf(lease), change, { fieldManager: 'capt-engine' })
    return true
  } catch (error) {
    if (isConflict(error)) return false
    throw error
  }
}
