// The Leases by which the `kubernetes` backend locks states: who holds one, and how it is freed where no command line can.
import { Lease } from '../api/neighbours.ts'
import { type Key, keyOf } from '../api/resource.ts'
import type { Client } from '../kube/client.ts'
import { isConflict } from '../kube/errors.ts'
import { type Lock, lockInfo, lockKey, lockOf } from '../terraform/statesecret.ts'

async function locksIn(client: Pick<Client, 'list'>, namespace: string): Promise<readonly Lease[]> {
  return (await client.list(Lease, { namespace, labels: 'tfstate=true' })).items
}

// On the state that is kept there.
export async function lockOn(client: Pick<Client, 'list'>, key: Key): Promise<Lock | undefined> {
  const { name, namespace = '' } = lockKey(key)
  const lease = (await locksIn(client, namespace)).find(({ metadata }) => metadata.name === name)
  return lease && lockOf(lease)
}

// The backend takes a lock while it begins a state that is not there yet, and its force-unlock begins with just that. Left by a
// kill in that moment, it keeps every command from that state. False: there is none such, or it has changed meanwhile.
export async function freeLease(
  client: Pick<Client, 'list' | 'patch'>,
  namespace: string,
  lock: string,
): Promise<boolean> {
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
