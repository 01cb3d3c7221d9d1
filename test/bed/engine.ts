// CAPT's own engine, as a process, under exactly the roles that are shipped, with the real OpenTofu.
import { join, resolve } from 'node:path'
import { engineAccount } from '../../scripts/generated/enginemanifest.ts'
import { namespace } from '../../scripts/generated/rbac.ts'
import type { Household } from './household.ts'
import type { Kube } from './kube.ts'
import type { Reach } from './kubeconfig.ts'
import { accountKubeconfig, launchManager, type ManagerProcess } from './manager.ts'

const root = resolve(import.meta.dirname, '../..')

// Its name in the audit log.
export const engineUser = `system:serviceaccount:${namespace}:${engineAccount}`

// Its kinds, its roles and its accounts, once on a bed. The Deployment stays as written: nobody runs Pods here.
export async function grantEngine(kube: Kube): Promise<void> {
  await kube.kubectl([
    'apply',
    '--server-side',
    '--field-manager=bed',
    '-f',
    join(root, 'manifests/engine/engine.yaml'),
  ])
}

export async function engineKubeconfig(
  bed: { readonly kube: Kube; readonly folder: string },
  way: Reach,
): Promise<string> {
  return accountKubeconfig(bed, way, engineAccount)
}

export interface EngineLaunch {
  readonly name: string
  readonly kubeconfig: string
  readonly tofu: string // the program
  readonly work?: string // the folder of its work folders; none: one of its own
  readonly flags?: readonly string[]
  readonly within?: readonly string[] // a command that runs it
}

export async function launchEngine(
  home: Pick<Household, 'start' | 'folder'>,
  { name, kubeconfig, tofu, work = join(home.folder, `${name}-work`), flags = [], within = [] }: EngineLaunch,
): Promise<ManagerProcess> {
  return launchManager(home, {
    name,
    kubeconfig,
    program: [...within, process.execPath, join(root, 'src/bin/engine.ts')],
    flags: [`--root=${work}`, `--terraform-binary=${tofu}`, ...flags],
  })
}
