// A workload cluster: a further API server, as Cluster API core and add-ons meet it. No controllers, no nodes. `startWorkload` starts one,
// `onWorkload` takes one up that runs already.
import { join } from 'node:path'
import { realParts } from '../../tools/workshop.ts'
import { type EksCluster, startEksAuthenticator } from '../eks-authenticator.ts'
import { startApi } from './apiserver.ts'
import { anAuthority } from './certificates.ts'
import { type Household, startHousehold } from './household.ts'
import { type Kube, kubeOf } from './kube.ts'
import { kubeconfig } from './kubeconfig.ts'
import { privateFile } from './private-file.ts'

// Plain data: it can be handed to another process.
export interface WorkloadAddress {
  readonly folder: string
  readonly host: string
  readonly port: number
  readonly ca: string // PEM
  readonly token: string // of an administrator
  readonly kubeconfig: string // its text, with a bearer token: what a `<cluster>-kubeconfig` Secret holds
  readonly auditLog: string // a file
  readonly kubectl: string // the program
}

export interface Workload extends WorkloadAddress {
  readonly kube: Kube
}

export interface StartedWorkload extends Workload {
  readonly address: WorkloadAddress
  stop(): Promise<void>
}

export interface WorkloadOptions {
  readonly eks?: EksCluster // it also takes the tokens of EKS, for this cluster and of this identity
}

export async function startWorkload({ eks }: WorkloadOptions = {}): Promise<StartedWorkload> {
  const parts = await realParts(['etcd', 'kube-apiserver', 'kubectl'])
  return startHousehold('workload', async (home) => {
    const door = eks && (await startDoor(home, eks))
    const api = await startApi(home, 'workload', parts, door?.flags).catch(async (error: unknown) => {
      await door?.stop()
      throw error
    })
    const { hostname: host, port } = new URL(api.server)
    const text = kubeconfig(api, { token: api.adminToken })
    privateFile(tokenFile(home), text)
    const { ca, adminToken: token, auditLog } = api
    const reach = { host, port: Number(port), ca, token, kubeconfig: text }
    const address = { folder: home.folder, ...reach, auditLog, kubectl: parts.kubectl }
    const stop = async () => {
      await home.end()
      await door?.stop()
    }
    return { ...onWorkload(address), address, stop }
  })
}

// Takes one up that runs already.
export function onWorkload(address: WorkloadAddress): Workload {
  return { ...address, kube: kubeOf(tokenFile(address), address.kubectl) }
}

function tokenFile({ folder }: { readonly folder: string }): string {
  return join(folder, 'token.kubeconfig')
}

async function startDoor(home: Household, eks: EksCluster) {
  const authority = anAuthority('eks-authenticator')
  const serving = authority.issueServer('eks-authenticator', ['127.0.0.1'])
  const { url, stop } = await startEksAuthenticator({ ...eks, ...serving })
  const itself = kubeconfig({ server: url, ca: authority.cert }, { token: 'unread' })
  const flags = [
    `--authentication-token-webhook-config-file=${privateFile(join(home.folder, 'eks-authenticator.kubeconfig'), itself)}`,
    '--authentication-token-webhook-version=v1',
    '--authentication-token-webhook-cache-ttl=0s', // not two minutes; the ten seconds for which every token is remembered stay
  ]
  return { flags, stop }
}
