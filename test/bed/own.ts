// An API server of a story's own, with CAPT's kinds and the manager's role: to be killed, or to have no other manager on it.
// No controllers, no core.
import { resolve } from 'node:path'
import { realParts } from '../../tools/workshop.ts'
import { type Api, startApi } from './apiserver.ts'
import { seeEstablished } from './core.ts'
import { type Household, startHousehold } from './household.ts'
import { type Kube, kubeOf } from './kube.ts'
import { grantManager } from './manager.ts'

export interface OwnApi extends Api {
  readonly home: Household
  readonly kube: Kube
}

export const crds = resolve(import.meta.dirname, '../../manifests/crds')

export async function startOwnApi(story: string): Promise<OwnApi> {
  const parts = await realParts(['etcd', 'kube-apiserver', 'kubectl'])
  return startHousehold(story, async (home) => {
    const api = await startApi(home, story, parts)
    const kube = kubeOf(api.adminKubeconfig, parts.kubectl)
    await kube.kubectl(['apply', '--server-side', '--field-manager=bed', '-f', crds])
    await Promise.all([seeEstablished(kube), grantManager(kube)])
    return { ...api, home, kube }
  })
}
