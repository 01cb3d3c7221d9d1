// Looks at everything a control plane depends on. It decides nothing.
import { CAPTCluster } from '../../api/captcluster.ts'
import type { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Read } from '../../runtime/cache.ts'
import type { Live } from '../../runtime/controller.ts'
import { type Stage, stageOf } from '../../runtime/plan.ts'
import { refTo, sortOut } from '../childapply.ts'
import { namedBy, ownerClusterOf } from '../ownercluster.ts'
import { claimedBy, namesakeOf } from './claim.ts'
import { lookAtSecrets } from './credentials.ts'
import { clusterNameOf, eksApplyName } from './eks.ts'
import { finalizer } from './finalizer.ts'
import { inOnePass, type Outside } from './outside.ts'
import type { Secrets, Seen } from './seen.ts'
import { spotRoleApplyName } from './spotrole.ts'

export async function observe(read: Read, controlPlane: CAPTControlPlane, live: Live, outside: Outside): Promise<Seen> {
  const cluster = ownerClusterOf(read, controlPlane)
  const apply = (name: string) => read.get(WorkspaceTemplateApply, refTo(controlPlane, name).key)
  const { apply: eks, taken } = sortOut(apply(eksApplyName(controlPlane)), controlPlane, clusterNameOf(controlPlane))
  const seen = {
    controlPlane,
    now: live.now(),
    network: typeof cluster === 'object' ? namedBy(read, cluster, 'infrastructureRef', CAPTCluster) : undefined,
    eks,
    taken,
    spotRole: apply(spotRoleApplyName(controlPlane)),
    claimedBy: claimedBy(read, controlPlane),
    namesake: namesakeOf(read, controlPlane),
  }
  const stage = stageOf({ object: controlPlane, cluster, finalizer })
  if (typeof cluster !== 'object' || !needsSecrets(stage)) return { ...seen, cluster, secrets: unseen }
  return { ...seen, cluster, secrets: await lookAtSecrets(read, live, inOnePass(outside), { ...seen, cluster }) }
}

// A pause must not kill a kubeconfig.
function needsSecrets(stage: Stage): boolean {
  return stage === 'new' || stage === 'live' || stage === 'paused'
}

const unseen: Secrets = {
  revision: '',
  copies: new Map(),
  inTheWay: [],
  connection: 'absent',
  credential: { is: 'none' },
  answer: { is: 'unasked' },
}
