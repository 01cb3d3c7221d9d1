// The controller of CAPTClusters: what wakes it, what it writes and what it looks at.
import { CAPTCluster } from '../../api/captcluster.ts'
import { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { type Key, keyOf, tellKey } from '../../api/resource.ts'
import { WorkspaceTemplate } from '../../api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Read } from '../../runtime/cache.ts'
import { applies, controller, deletes, gets, mapped, ownerOf } from '../../runtime/controller.ts'
import { accountOfTemplate } from '../account.ts'
import { refTo, sortOut } from '../childapply.ts'
import { leftBy, toLookForIt } from '../leftworkspace.ts'
import { byCluster, namedBy, ofCluster, ofOneCluster, ownerClusterOf, ownerKeyOf } from '../ownercluster.ts'
import { decide } from './decide.ts'
import { networkApplyName } from './vpc.ts'

export const captClusterController = controller({
  name: 'captcluster',
  kind: CAPTCluster,
  wokenBy: [
    mapped(CAPTCluster, (captCluster) => [keyOf(captCluster)], { indexes: ofOneCluster }),
    ownerOf(WorkspaceTemplateApply),
    ofCluster('infrastructureRef'),
    mapped(WorkspaceTemplate, () => []), // it is only looked at
    // Which names the cluster in EKS, may want its network retained, and goes first. Another provider may look after control planes.
    mapped<CAPTControlPlane>({ ...CAPTControlPlane, isOptional: true }, networkBeside, { indexes: ofOneCluster }),
  ],
  writes: [
    { resource: CAPTCluster, verbs: ['patch'] },
    applies(WorkspaceTemplateApply),
    deletes(WorkspaceTemplateApply),
    gets(WorkspaceTemplateApply),
    ...toLookForIt,
  ],
  async observe(read, captCluster: CAPTCluster, live) {
    const cluster = ownerClusterOf(read, captCluster)
    const { vpcTemplateRef } = captCluster.spec
    const named = read.get(WorkspaceTemplateApply, refTo(captCluster, networkApplyName(captCluster)).key)
    const found = sortOut(named, captCluster, ownerKeyOf(captCluster)?.name)
    return {
      captCluster,
      now: live.now(),
      cluster,
      accountOfTemplate: vpcTemplateRef && accountOfTemplate(read, captCluster, vpcTemplateRef),
      controlPlane:
        typeof cluster === 'object'
          ? namedBy(read, cluster, 'controlPlaneRef', CAPTControlPlane)
          : (bereft(read, captCluster) ?? 'missing'),
      ...found,
      left: found.apply ? undefined : await leftBy(captCluster, live),
    }
  },
  decide,
})

// That of the same Cluster, when that is gone.
function bereft(read: Read, captCluster: CAPTCluster): CAPTControlPlane | undefined {
  const key = ownerKeyOf(captCluster)
  return key && read.byIndex(CAPTControlPlane, byCluster, tellKey(key))[0]
}

function networkBeside(controlPlane: CAPTControlPlane, _: unknown, read: Read): readonly Key[] {
  const key = ownerKeyOf(controlPlane)
  return key ? read.keysAt(CAPTCluster, byCluster, tellKey(key)) : []
}
