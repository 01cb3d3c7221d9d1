// Releases a lock that no command line can: the `kubernetes` backend takes one while it begins a state that is not there yet, and
// its force-unlock begins with just that. Left by a kill in that moment, it keeps every command from that state for ever.
import { Lease } from '../api/neighbours.ts'
import { keyOf } from '../api/resource.ts'
import type { Client } from '../kube/client.ts'
import { isConflict } from '../kube/errors.ts'

const lockInfo = 'app.terraform.io/lock-info'

// False: there is no such lock in that namespace, or it has changed meanwhile.
export async function freeLease(client: Pick<Client, 'list' | 'patch'>, namespace: string, lock: string) {
  const { items } = await client.list(Lease, { namespace, labels: 'tfstate=true' })
  const lease = items.find(({ spec }) => spec?.holderIdentity === lock)
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
