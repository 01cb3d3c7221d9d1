// What is looked at to judge a network, as plain data.
import type { CAPTCluster } from '../../api/captcluster.ts'
import type { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import type { Workspace } from '../../api/workspace.ts'
import type { Account } from '../account.ts'
import type { Found } from '../childapply.ts'
import type { Named, OwnerCluster } from '../ownercluster.ts'

export interface Seen extends Found {
  readonly left: Workspace | undefined // by an apply that is gone
  readonly captCluster: CAPTCluster
  readonly now: Date
  readonly cluster: OwnerCluster
  readonly controlPlane: Named<CAPTControlPlane> // of the same Cluster; undefined: another provider looks after it
  readonly accountOfTemplate: Account | undefined // what its template says; undefined: that is not there
}
