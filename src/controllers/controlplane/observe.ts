// Looks at everything a control plane depends on. It decides nothing.
import { CAPTCluster } from '../../api/captcluster.ts'
import type { CAPTControlPlane } from '../../api/captcontrolplane.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Read } from '../../runtime/cache.ts'
import type { Live } from '../../runtime/controller.ts'
import { type Stage, stageOf } from '../../runtime/plan.ts'
import { accountOfTemplate } from '../account.ts'
import { networkApplyName } from '../captcluster/vpc.ts'
import { refTo, sortOut } from '../childapply.ts'
import { leftBy } from '../leftworkspace.ts'
import { asOwned, namedBy, ownerClusterOf, ownerKeyOf } from '../ownercluster.ts'
import { claimedBy, namesakeOf } from './claim.ts'
import { type Care, lookAtSecrets } from './credentials.ts'
import { eksApplyName } from './eks.ts'
import { finalizer } from './finalizer.ts'
import { lookInside, unasked } from './inside.ts'
import { inOnePass, type Outside } from './outside.ts'
import type { Secrets, Seen } from './seen.ts'
import { spotRoleApplyName } from './spotrole.ts'
import { madeOf } from './template.ts'

export async function observe(read: Read, subject: CAPTControlPlane, live: Live, outside: Outside): Promise<Seen> {
  const cluster = ownerClusterOf(read, subject)
  const controlPlane = asOwned(subject, cluster)
  const apply = (name: string) => read.get(WorkspaceTemplateApply, refTo(controlPlane, name).key)
  const { apply: eks, taken } = sortOut(apply(eksApplyName(controlPlane)), controlPlane, ownerKeyOf(controlPlane)?.name)
  const ofTemplate = accountOfTemplate(read, controlPlane, controlPlane.spec.workspaceTemplateRef)
  const account = controlPlane.spec.providerConfigRef ?? ofTemplate
  const network = typeof cluster === 'object' ? namedBy(read, cluster, 'infrastructureRef', CAPTCluster) : 'missing'
  const seen = {
    controlPlane,
    now: live.now(),
    network,
    eks,
    taken,
    left: eks ? undefined : await leftBy(controlPlane, live),
    vpc:
      typeof network === 'object'
        ? sortOut(apply(networkApplyName(network)), network, ownerKeyOf(network)?.name).apply
        : undefined,
    accountOfTemplate: ofTemplate,
    spotRole: account && apply(spotRoleApplyName(account)),
    claimedBy: claimedBy(read, controlPlane),
    namesake: namesakeOf(read, controlPlane),
    template: typeof cluster === 'object' ? madeOf(read, controlPlane, cluster) : undefined,
  }
  const stage = stageOf({ object: controlPlane, cluster, finalizer })
  const care = careFor(stage)
  const once = inOnePass(outside)
  const mayAct = stage === 'leaving' || ((stage === 'new' || stage === 'live') && typeof cluster === 'object')
  const inside = mayAct ? await lookInside(read, live, once, { ...seen, cluster }) : unasked
  if (typeof cluster !== 'object' || !care) return { ...seen, cluster, secrets: unseen, inside }
  return { ...seen, cluster, inside, secrets: await lookAtSecrets(read, live, once, { ...seen, cluster }, care) }
}

// A pause must not kill a kubeconfig, nor a farewell that takes long: somebody may have to clean up in the cluster.
function careFor(stage: Stage): Care | undefined {
  if (stage === 'new' || stage === 'live') return 'all'
  return stage === 'paused' || stage === 'leaving' ? 'tokens' : undefined
}

const unseen: Secrets = {
  revision: '',
  copies: new Map(),
  inTheWay: [],
  connection: 'absent',
  credential: { is: 'none' },
  answer: { is: 'unasked' },
}
