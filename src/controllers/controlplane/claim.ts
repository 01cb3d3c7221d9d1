// Names in EKS: one account has a name once in a region, whatever the objects here are called.
import { CAPTCluster } from '../../api/captcluster.ts'
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { beside, type Key, keyOf, tellKey } from '../../api/resource.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Read } from '../../runtime/cache.ts'
import { accountOfTemplate, usualAccount } from '../account.ts'
import { namedBy, ownerClusterOf } from '../ownercluster.ts'
import { eksApplyName, eksNameOf, regionOf } from './eks.ts'

export const byEksName = 'eksname' // index of control planes

// Another control plane that has the name already. Of two that want it, the older has it.
export function claimedBy(read: Read, controlPlane: CAPTControlPlane): Key | undefined {
  const claim = claimOf(read, controlPlane)
  const other = read
    .byIndex(CAPTControlPlane, byEksName, eksNameOf(controlPlane))
    .filter((each) => tellKey(keyOf(each)) !== tellKey(keyOf(controlPlane)))
    .find((each) => claimOf(read, each) === claim && isBefore(each, controlPlane))
  return other && keyOf(other)
}

// Where the name would be: whose account that is, only the name of a ProviderConfig tells.
function claimOf(read: Read, controlPlane: CAPTControlPlane): string {
  const { namespace = '' } = controlPlane.metadata
  const cluster = ownerClusterOf(read, controlPlane)
  const network = typeof cluster === 'object' ? namedBy(read, cluster, 'infrastructureRef', CAPTCluster) : 'missing'
  const eks = read.get(WorkspaceTemplateApply, beside(controlPlane, eksApplyName(controlPlane)))
  const { providerConfigRef, workspaceTemplateRef } = controlPlane.spec
  const { kind, name } =
    providerConfigRef ?? accountOfTemplate(read, controlPlane, workspaceTemplateRef) ?? usualAccount
  const whose = kind === 'ProviderConfig' ? namespace : ''
  return [regionOf({ controlPlane, network, cluster, eks }) ?? '', whose, name].join('/')
}

// Who has written its name down holds it.
function isBefore(one: CAPTControlPlane, other: CAPTControlPlane): boolean {
  const [held, wanted] = [one.spec.eksClusterName !== undefined, other.spec.eksClusterName !== undefined]
  const rank = ({ metadata: { creationTimestamp = '', uid = '' } }: CAPTControlPlane) => `${creationTimestamp} ${uid}`
  return held === wanted ? rank(one) < rank(other) : held
}
