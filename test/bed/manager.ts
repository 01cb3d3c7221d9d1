// CAPT's own manager, as a process, under exactly the role that is shipped.
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { namespace, serviceAccount } from '../../scripts/generated/rbac.ts'
import { until } from '../until.ts'
import { answers } from './apiserver.ts'
import type { Household, Member } from './household.ts'
import type { Kube } from './kube.ts'
import { kubeconfig, type Reach } from './kubeconfig.ts'
import { freePort } from './ports.ts'
import { privateFile } from './private-file.ts'

const root = resolve(import.meta.dirname, '../..')

// Plain data: it can be handed to another process.
export interface ManagerAddress {
  readonly health: string // where /healthz and /readyz are
  readonly diagnostics: string // where /metrics is
  readonly log: string // a file
}

export interface ManagerProcess {
  readonly member: Member
  readonly address: ManagerAddress
}

export type LogLine = Readonly<Record<string, unknown>> & { readonly level: string; readonly msg: string }

// Its identity at AWS, which only an API server of the bed that plays EKS knows.
export const bedAws = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
} as const

// Its name in the audit log.
export const managerUser = `system:serviceaccount:${namespace}:${serviceAccount}`

export async function readLog(file: string): Promise<readonly LogLine[]> {
  return (await readFile(file, 'utf8'))
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine)
}

// The role and its account, once on a bed.
export async function grantManager(kube: Kube): Promise<void> {
  await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await kube.kubectl(['apply', '--server-side', '--field-manager=bed', '-f', join(root, 'manifests/rbac.yaml')])
}

// A kubeconfig file of the manager's account: through a proxy if one is given.
export async function managerKubeconfig(bed: { readonly kube: Kube; readonly folder: string }, way: Reach) {
  return accountKubeconfig(bed, way, serviceAccount)
}

export async function accountKubeconfig(
  bed: { readonly kube: Kube; readonly folder: string },
  way: Reach,
  account: string,
): Promise<string> {
  const token = await bed.kube.kubectl(['create', 'token', account, '--namespace', namespace, '--duration=12h'])
  const file = join(bed.folder, `${account}-${new URL(way.server).port}.kubeconfig`)
  return privateFile(file, kubeconfig(way, { token: token.trim() }))
}

export interface Launch {
  readonly name: string
  readonly kubeconfig: string
  readonly program?: readonly string[] // what is run before its flags; none: the manager from its sources
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

const fromSources = [process.execPath, join(root, 'src/bin/manager.ts')]

export async function launchManager(
  home: Pick<Household, 'start'>,
  { name, kubeconfig: file, program = fromSources, flags = [], env = {} }: Launch,
): Promise<ManagerProcess> {
  const [health, diagnostics] = [await freePort(), await freePort()]
  const [command = '', ...args] = program
  const member = home.start(
    name,
    command,
    [
      ...args,
      `--kubeconfig=${file}`,
      `--health-addr=127.0.0.1:${health}`,
      `--diagnostics-address=127.0.0.1:${diagnostics}`,
      '--leader-elect',
      `--leader-election-namespace=${namespace}`,
      ...flags,
    ],
    env,
  )
  const address = {
    health: `http://127.0.0.1:${health}`,
    diagnostics: `https://127.0.0.1:${diagnostics}`,
    log: member.log,
  }
  return { member, address }
}

export async function seeReady({ member, address: { health } }: ManagerProcess): Promise<void> {
  await until(`${member.name} is ready`, async () => answers({ url: `${health}/readyz` }), {
    withinSeconds: 60,
    giveUp: member.obituary,
  })
}
