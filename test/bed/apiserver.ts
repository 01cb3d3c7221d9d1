// One bare Kubernetes API: etcd behind a kube-apiserver. The management cluster and every workload cluster stand on it.

import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import type { Located } from '../../tools/build.ts'
import { until } from '../until.ts'
import { auditPolicy } from './audit.ts'
import { type Authority, anAuthority, aTokenKey, type Certified } from './certificates.ts'
import type { Household, Member } from './household.ts'
import { kubeconfig, type Reach } from './kubeconfig.ts'
import { freePort } from './ports.ts'
import { privateFile } from './private-file.ts'
import { secretMark } from './secretmark.ts'

export interface Api extends Reach {
  readonly folder: string
  readonly authority: Authority
  readonly adminKubeconfig: string // a file
  readonly adminToken: string
  readonly auditLog: string // a file
  readonly tokenKeyFile: string
  readonly frontProxy: Certified // whoever shows this may say on whose behalf it speaks
  readonly etcd: Mortal
  readonly etcdSocket: string // a file
  readonly apiServer: Mortal
}

export interface Mortal {
  kill(): Promise<void> // at once, without a last word
  start(): Promise<void> // again, where it was and with what it had; resolves when it answers
}

export async function startApi(
  home: Household,
  name: string,
  parts: Located<'etcd' | 'kube-apiserver'>,
  flags: readonly string[] = [], // of the API server, besides the usual ones
): Promise<Api> {
  const folder = join(home.folder, name)
  mkdirSync(folder)
  const write = (file: string, text: string) => privateFile(join(folder, file), text)

  const { etcd, url: etcdUrl, socketPath: etcdSocket } = mortalEtcd(home, name, parts.etcd)
  const [port] = await Promise.all([freePort(), etcd.start()])
  const [authority, frontProxyAuthority] = [anAuthority('bed'), anAuthority('bed-front-proxy')]
  const hosts = ['127.0.0.1', '10.96.0.1', 'localhost', 'kubernetes.default.svc']
  const serving = authority.issueServer('kube-apiserver', hosts)
  const admin = authority.issueClient('bed-admin', ['system:masters'])
  const frontProxy = frontProxyAuthority.issueClient('fault-proxy')
  const tokenKey = aTokenKey()
  const tokenKeyFile = write('tokens.key', tokenKey.privateKey)
  const adminToken = `${secretMark}${randomBytes(24).toString('hex')}`
  const reach: Reach = { server: `https://127.0.0.1:${port}`, ca: authority.cert }
  const auditLog = join(home.logs, `${name}-audit.log`)

  const args = [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    '--endpoint-reconciler-type=none',
    '--service-cluster-ip-range=10.96.0.0/24',
    `--tls-cert-file=${write('serving.crt', serving.cert)}`,
    `--tls-private-key-file=${write('serving.key', serving.key)}`,
    `--client-ca-file=${write('ca.crt', authority.cert)}`,
    `--token-auth-file=${write('tokens.csv', `${adminToken},bed-admin,bed-admin,"system:masters"\n`)}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${write('tokens.pub', tokenKey.publicKey)}`,
    `--service-account-signing-key-file=${tokenKeyFile}`,
    `--requestheader-client-ca-file=${write('front-proxy-ca.crt', frontProxyAuthority.cert)}`,
    '--requestheader-allowed-names=fault-proxy',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    `--audit-policy-file=${write('audit-policy.yaml', auditPolicy)}`,
    `--audit-log-path=${auditLog}`,
    '--audit-log-maxsize=100000', // never begun anew: whole runs are judged by it
    '--profiling=false',
    ...flags,
  ]
  const apiServer = mortal(
    () => home.start(`${name}-kube-apiserver`, parts['kube-apiserver'], args),
    async () => answers({ url: `${reach.server}/readyz`, ca: reach.ca }),
  )
  await apiServer.start()
  return {
    ...reach,
    folder,
    authority,
    adminKubeconfig: write('admin.kubeconfig', kubeconfig(reach, admin)),
    adminToken,
    auditLog,
    tokenKeyFile,
    frontProxy,
    etcd,
    etcdSocket,
    apiServer,
  }
}

function mortal(launch: () => Member, look: () => Promise<true | undefined>): Mortal {
  let member: Member | undefined
  return {
    kill: async () => member?.kill('SIGKILL'),
    async start() {
      const { name, obituary } = (member = launch())
      await until(`${name} is ready`, look, { withinSeconds: 60, giveUp: obituary })
    },
  }
}

// etcd listens on unix sockets, which are files in its working folder named by the "host:port" of the URL.
function mortalEtcd(home: Household, name: string, program: string) {
  const socket = (use: string) => `${name}-etcd-${use}:1`
  const [clients, peers] = [`unix://${socket('clients')}`, `unix://${socket('peers')}`]
  const args = [
    `--name=${name}`,
    `--data-dir=${join(home.folder, name, 'etcd')}`,
    `--listen-client-urls=${clients}`,
    `--advertise-client-urls=${clients}`,
    `--listen-peer-urls=${peers}`,
    `--initial-advertise-peer-urls=${peers}`,
    `--initial-cluster=${name}=${peers}`,
    '--unsafe-no-fsync', // nothing here outlives the bed
    '--log-level=warn',
  ]
  const socketPath = join(home.folder, socket('clients'))
  const etcd = mortal(
    () => home.start(`${name}-etcd`, program, args),
    async () => answers({ socketPath, path: '/health' }),
  )
  return { etcd, url: clients, socketPath }
}

// True when a GET is answered with 200, undefined when it is not.
export async function answers(
  where: { readonly url: string; readonly ca?: string } | { readonly socketPath: string; readonly path: string },
): Promise<true | undefined> {
  return new Promise((resolve) => {
    const options = { timeout: 2000, agent: false as const }
    const request =
      'socketPath' in where
        ? httpRequest({ ...options, ...where })
        : where.url.startsWith('https:')
          ? httpsRequest(where.url, { ...options, ca: where.ca })
          : httpRequest(where.url, options)
    request.on('response', (response) => {
      response.resume()
      resolve(response.statusCode === 200 ? true : undefined)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(undefined))
    request.end()
  })
}
