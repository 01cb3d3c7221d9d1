// A bed: a management cluster of real parts, ready to be lain on. `startBed` starts one, `onBed` takes one up that runs
// already, knowing only its address; a test run starts one and every story takes it up.
import { randomBytes } from 'node:crypto'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Located } from '../../tools/build.ts'
import { realParts } from '../../tools/workshop.ts'
import { startApi } from './apiserver.ts'
import { type AuditQuery, type AuditRecord, readAudit } from './audit.ts'
import type { Certified } from './certificates.ts'
import { runCommand } from './command.ts'
import { startControllerManager } from './controller-manager.ts'
import { seeEstablished, startCore } from './core.ts'
import { engineKubeconfig, grantEngine, launchEngine } from './engine.ts'
import { type Household, startHousehold } from './household.ts'
import { type Kube, kubeOf } from './kube.ts'
import { type Reach, redirected } from './kubeconfig.ts'
import { bedAws, grantManager, launchManager, type ManagerAddress, managerKubeconfig, seeReady } from './manager.ts'
import { privateFile } from './private-file.ts'
import { standInCRDs } from './standin.ts'

const partNames = [
  'etcd',
  'kube-apiserver',
  'kubectl',
  'kube-controller-manager',
  'cluster-api-core',
  'cluster-api-core.yaml',
  'clusterctl',
  'tofu',
] as const
type BedParts = Located<(typeof partNames)[number]>

// Plain data: it can be handed to another process.
export interface BedAddress {
  readonly folder: string
  readonly bin: string // the programs of the bed, to put on a PATH
  readonly server: string
  readonly ca: string // PEM
  readonly kubeconfig: string // a file; its user may do anything
  readonly logs: string // a folder: of its parts, and of all that lived beside it and are gone
  readonly auditLog: string // a file
  readonly frontProxy: Certified
  readonly parts: BedParts
  readonly manager?: ManagerAddress // CAPT's own, where core is
  readonly engine?: ManagerAddress // and CAPT's engine
}

export interface Bed extends BedAddress {
  readonly kube: Kube
  clusterctl(args: readonly string[]): Promise<string>
  audit(query?: AuditQuery): Promise<readonly AuditRecord[]>
  // A kubeconfig file of the same user that goes through a proxy.
  kubeconfigThrough(proxy: Reach): Promise<string>
  // A namespace of its own for a story.
  namespace(story: string): Promise<string>
}

export interface StartedBed extends Bed {
  readonly address: BedAddress
  readonly start: Household['start'] // of a further process that goes when the bed goes
  startCore(put: Kube['apply']): Promise<void> // where there is none; `put`: how its objects come there
  startEngine(): Promise<ManagerAddress> // under its role; its kinds are there
  keepLogs(): Promise<string>
  stop(): Promise<void>
}

export interface BedOptions {
  readonly core?: boolean // Cluster API core, stand-in provider kinds for it, CAPT's kinds and the manager's role; on unless said otherwise
  readonly capt?: readonly ('manager' | 'engine')[] // which of CAPT's, where core is; both unless said otherwise
  readonly say?: (line: string) => void
}

export async function startBed({
  core = true,
  capt = core ? ['manager', 'engine'] : [],
  say = () => {},
}: BedOptions = {}): Promise<StartedBed> {
  const parts = await realParts(partNames)
  return startHousehold('bed', async (home) => {
    say(`starting etcd and kube-apiserver in ${home.folder}`)
    const api = await startApi(home, 'management', parts)
    const kube = kubeOf(api.adminKubeconfig, parts.kubectl)
    say('starting kube-controller-manager')
    await startControllerManager(home, api, kube, parts)
    if (core) {
      say('starting Cluster API core with its CRDs and webhooks')
      await Promise.all([startCore(home, api, kube, parts), installKinds(kube)])
    }
    const { server, ca, auditLog, frontProxy } = api
    const bin = linkPrograms(home.folder, parts)
    if (capt.length > 0) say(`starting CAPT's ${capt.join(' and its ')} under the roles they are shipped with`)
    if (core) await grantManager(kube)
    const [manager, engine] = await Promise.all([
      capt.includes('manager') ? startManager(home, kube, api) : undefined,
      capt.includes('engine') ? startEngine(home, kube, api, parts.tofu) : undefined,
    ])
    const address = {
      folder: home.folder,
      bin,
      server,
      ca,
      kubeconfig: api.adminKubeconfig,
      logs: home.logs,
      auditLog,
      frontProxy,
      parts,
      ...(manager && { manager }),
      ...(engine && { engine }),
    }
    return {
      ...onBed(address),
      address,
      start: home.start,
      startCore: async (put) => startCore(home, api, { ...kube, apply: put }, parts),
      startEngine: async () => startEngine(home, kube, api, parts.tofu),
      keepLogs: home.keepLogs,
      stop: home.end,
    }
  })
}

export function onBed(address: BedAddress): Bed {
  const kube = kubeOf(address.kubeconfig, address.parts.kubectl)
  return {
    ...address,
    kube,
    clusterctl: async (args) =>
      runCommand(address.parts.clusterctl, args, {
        env: { KUBECONFIG: address.kubeconfig, CLUSTERCTL_DISABLE_VERSIONCHECK: 'true', HOME: address.folder },
      }),
    audit: async (query) => readAudit(address.auditLog, query),
    async kubeconfigThrough(proxy) {
      const file = join(address.folder, `through-${new URL(proxy.server).port}.kubeconfig`)
      return privateFile(file, redirected(await readFile(address.kubeconfig, 'utf8'), proxy))
    },
    async namespace(story) {
      const name = `${story}-${randomBytes(3).toString('hex')}`
      await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
      return name
    },
  }
}

async function startManager(home: Household, kube: Kube, reach: Reach): Promise<ManagerAddress> {
  const { folder } = home
  const manager = await launchManager(home, {
    name: 'manager',
    kubeconfig: await managerKubeconfig({ kube, folder }, reach),
    flags: ['--workspace-api=tf.m.upbound.io'], // as it is shipped
    env: { AWS_ACCESS_KEY_ID: bedAws.accessKeyId, AWS_SECRET_ACCESS_KEY: bedAws.secretAccessKey },
  })
  await seeReady(manager)
  return manager.address
}

async function startEngine(home: Household, kube: Kube, reach: Reach, tofu: string): Promise<ManagerAddress> {
  await grantEngine(kube)
  const { folder } = home
  const kubeconfig = await engineKubeconfig({ kube, folder }, reach)
  const engine = await launchEngine(home, { name: 'engine', kubeconfig, tofu })
  await seeReady(engine)
  return engine.address
}

// Our own kinds and policies, and the stand-ins.
async function installKinds(kube: Kube): Promise<void> {
  await kube.apply(...standInCRDs)
  const crds = ['-f', join(manifests, 'crds'), '-f', join(manifests, 'engine/crds.yaml')]
  await kube.kubectl(['apply', '--server-side', '--field-manager=bed', ...crds])
  await seeEstablished(kube)
  await kube.kubectl(['apply', '--server-side', '--field-manager=bed', '-f', join(manifests, 'policies.yaml')])
}

const root = resolve(import.meta.dirname, '../..')
const manifests = join(root, 'manifests')

function linkPrograms(folder: string, parts: BedParts): string {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  for (const [name, file] of Object.entries(parts)) symlinkSync(file, join(bin, name))
  const capt = [process.execPath, join(root, 'src/bin/capt.ts')].map((each) => JSON.stringify(each)).join(' ')
  writeFileSync(join(bin, 'capt'), `#!/bin/sh\nexec ${capt} "$@"\n`, { mode: 0o755 })
  return bin
}
