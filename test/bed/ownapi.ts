// An API server with CAPT's kinds and the manager's account, and nobody else: for stories that need it to themselves.
import { resolve } from 'node:path'
import { realParts } from '../../tools/workshop.ts'
import { startApi } from './apiserver.ts'
import { seeEstablished } from './core.ts'
import { type Household, startHousehold } from './household.ts'
import { type Kube, kubeOf } from './kube.ts'
import type { Reach } from './kubeconfig.ts'
import { grantManager } from './manager.ts'

export interface OwnApi extends Reach {
  readonly home: Household
  readonly kubeconfig: string // a file; its user may do anything
  readonly auditLog: string // a file
  readonly kube: Kube
}

const crds = resolve(import.meta.dirname, '../../manifests/crds')

export async function startOwnApi(name: string): Promise<OwnApi> {
  const parts = await realParts(['etcd', 'kube-apiserver', 'kubectl'])
  return startHousehold(name, async (home) => {
    const { server, ca, auditLog, adminKubeconfig: kubeconfig } = await startApi(home, 'management', parts)
    const kube = kubeOf(kubeconfig, parts.kubectl)
    await kube.kubectl(['apply', '--server-side', '--field-manager=bed', '-f', crds])
    await Promise.all([seeEstablished(kube), grantManager(kube)])
    return { server, ca, home, kubeconfig, auditLog, kube }
  })
}
