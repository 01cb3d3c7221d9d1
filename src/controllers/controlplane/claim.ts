// Names in EKS: one account has a name once in a region, whatever the objects here are called; and a token is for a name, wherever
// that is.
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
  const other = rivalsOf(read, controlPlane).find((each) => claimOf(read, each) === claimOf(read, controlPlane))
  return other && keyOf(other)
}

// A token that EKS takes names a cluster and proves who signed it; in which region, and for whose account, it does not say. So one that
// is signed for us would open the cluster of that name in another namespace as well, if the same identity is let in there.
export function namesakeOf(read: Read, controlPlane: CAPTControlPlane): Key | undefined {
  if (!maySign(controlPlane)) return undefined
  const { namespace } = controlPlane.metadata
  const other = rivalsOf(read, controlPlane).find(
    (each) => each.metadata.namespace !== namespace && signerOf(each) === signerOf(controlPlane),
  )
  return other && keyOf(other)
}

export function tellClaimed(controlPlane: CAPTControlPlane, by: Key): string {
  return `CAPTControlPlane ${tellKey(by)} has a cluster ${eksNameOf(controlPlane)} in that account and region: set spec.eksClusterName to another name`
}

export function tellNamesake(controlPlane: CAPTControlPlane, namesake: Key): string {
  return `a token for ${eksNameOf(controlPlane)} would open the cluster of CAPTControlPlane ${tellKey(namesake)}, too: set spec.eksClusterName to another name, or spec.kubeconfig.aws.roleARN to a role of your own`
}

// Those of that name that come first.
function rivalsOf(read: Read, controlPlane: CAPTControlPlane): readonly CAPTControlPlane[] {
  return read
    .byIndex(CAPTControlPlane, byEksName, eksNameOf(controlPlane))
    .filter((each) => tellKey(keyOf(each)) !== tellKey(keyOf(controlPlane)) && isBefore(each, controlPlane))
}

function maySign({ spec: { kubeconfig } }: CAPTControlPlane): boolean {
  const { source = 'Auto', serviceAccount } = kubeconfig ?? {}
  return source !== 'Template' && !(source === 'ServiceAccount' && serviceAccount?.bootstrap === 'Template')
}

// No two roles of an account have names that differ only in case.
function signerOf({ spec: { kubeconfig } }: CAPTControlPlane): string {
  return kubeconfig?.aws?.roleARN?.toLowerCase() ?? ''
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
