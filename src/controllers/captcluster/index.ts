// The controller of CAPTClusters: what wakes it, what it writes and what it looks at.
import { CAPTCluster } from '../../api/captcluster.ts'
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { Cluster } from '../../api/neighbours.ts'
import { type Key, keyOf } from '../../api/resource.ts'
import { WorkspaceTemplate } from '../../api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Read } from '../../runtime/cache.ts'
import { applies, controller, deletes, gets, itself, mapped, ownerOf } from '../../runtime/controller.ts'
import { accountOfTemplate } from '../account.ts'
import { refTo, sortOut } from '../childapply.ts'
import { namedBy, ofCluster, ownerClusterOf, ownerKeyOf } from '../ownercluster.ts'
import { decide } from './decide.ts'
import { networkApplyName } from './vpc.ts'

export const captClusterController = controller({
  name: 'captcluster',
  kind: CAPTCluster,
  wokenBy: [
    itself(CAPTCluster),
    ownerOf(WorkspaceTemplateApply),
    ofCluster('infrastructureRef'),
    mapped(WorkspaceTemplate, () => []), // it is only looked at
    // Which names the cluster in EKS, and may want its network retained. Another provider may look after control planes.
    mapped<CAPTControlPlane>({ ...CAPTControlPlane, isOptional: true }, networkBeside),
  ],
  writes: [
    { resource: CAPTCluster, verbs: ['patch'] },
    applies(WorkspaceTemplateApply),
    deletes(WorkspaceTemplateApply),
    gets(WorkspaceTemplateApply),
  ],
  observe(read, captCluster: CAPTCluster, live) {
    const cluster = ownerClusterOf(read, captCluster)
    const { vpcTemplateRef } = captCluster.spec
    const found = read.get(WorkspaceTemplateApply, refTo(captCluster, networkApplyName(captCluster)).key)
    return {
      captCluster,
      now: live.now(),
      cluster,
      accountOfTemplate: vpcTemplateRef && accountOfTemplate(read, captCluster, vpcTemplateRef),
      controlPlane:
        typeof cluster === 'object' ? namedBy(read, cluster, 'controlPlaneRef', CAPTControlPlane) : 'missing',
      ...sortOut(found, captCluster, ownerKeyOf(captCluster)?.name ?? ''),
    }
  },
  decide,
})

function networkBeside(controlPlane: CAPTControlPlane, _: unknown, read: Read): readonly Key[] {
  const key = ownerKeyOf(controlPlane)
  const cluster = key && read.get(Cluster, key)
  const network = cluster && namedBy(read, cluster, 'infrastructureRef', CAPTCluster)
  return typeof network === 'object' ? [keyOf(network)] : []
}
