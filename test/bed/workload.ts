// A workload cluster: a further API server, as Cluster API core and add-ons meet it. No controllers, no nodes.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { realParts } from '../../tools/workshop.ts'
import { startApi } from './apiserver.ts'
import { foundHousehold } from './household.ts'
import { type Kube, kubeOf } from './kube.ts'
import { kubeconfig } from './kubeconfig.ts'

export interface Workload {
  readonly host: string
  readonly port: number
  readonly ca: string // PEM
  readonly kubeconfig: string // its text, with a bearer token: what a `<cluster>-kubeconfig` Secret holds
  readonly kube: Kube
  stop(): Promise<void>
}

export async function startWorkload(): Promise<Workload> {
  const parts = await realParts(['etcd', 'kube-apiserver', 'kubectl'])
  const home = foundHousehold('workload')
  try {
    const api = await startApi(home, 'workload', parts)
    const { hostname, port } = new URL(api.server)
    const text = kubeconfig(api, { token: api.adminToken })
    const file = join(home.folder, 'token.kubeconfig')
    writeFileSync(file, text, { mode: 0o600 })
    return {
      host: hostname,
      port: Number(port),
      ca: api.ca,
      kubeconfig: text,
      kube: kubeOf(file, parts.kubectl),
      stop: async () => home.end(),
    }
  } catch (error) {
    const logs = await home.keepLogs()
    await home.end()
    throw new Error(`the workload cluster did not start: ${(error as Error).message}\nlogs: ${logs}`, { cause: error })
  }
}
