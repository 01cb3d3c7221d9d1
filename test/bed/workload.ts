// A workload cluster: a further API server, as Cluster API core and add-ons meet it. No controllers, no nodes.
import { join } from 'node:path'
import { realParts } from '../../tools/workshop.ts'
import { startApi } from './apiserver.ts'
import { startHousehold } from './household.ts'
import { type Kube, kubeOf } from './kube.ts'
import { kubeconfig } from './kubeconfig.ts'
import { privateFile } from './private-file.ts'

export interface Workload {
  readonly host: string
  readonly port: number
  readonly ca: string // PEM
  readonly token: string // of an administrator
  readonly kubeconfig: string // its text, with a bearer token: what a `<cluster>-kubeconfig` Secret holds
  readonly kube: Kube
  stop(): Promise<void>
}

export async function startWorkload(): Promise<Workload> {
  const parts = await realParts(['etcd', 'kube-apiserver', 'kubectl'])
  return startHousehold('workload', async (home) => {
    const api = await startApi(home, 'workload', parts)
    const { hostname: host, port } = new URL(api.server)
    const text = kubeconfig(api, { token: api.adminToken })
    const file = privateFile(join(home.folder, 'token.kubeconfig'), text)
    const { ca, adminToken: token } = api
    return { host, port: Number(port), ca, token, kubeconfig: text, kube: kubeOf(file, parts.kubectl), stop: home.end }
  })
}
