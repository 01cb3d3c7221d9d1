// Finds the API server that is meant and who we are there: what was said outright, else what surrounds us.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Access } from './access.ts'
import { accessInCluster } from './incluster.ts'
import { accessByKubeconfig } from './kubeconfig.ts'

export interface Whereabouts {
  readonly kubeconfig?: string // a file, which must be there
  readonly context?: string
  readonly env: NodeJS.ProcessEnv
  readonly now?: () => number
  readonly serviceAccount?: string // where a pod's token is mounted
}

export function findAccess(whereabouts: Whereabouts): Access {
  const { kubeconfig, context, env, now = Date.now, serviceAccount } = whereabouts
  const read = (files: readonly string[]) => accessByKubeconfig(files, context, { env, now })
  if (kubeconfig !== undefined) return read([kubeconfig])
  const listed = env['KUBECONFIG']
  if (listed) {
    // As kubectl: a file of the list that is not there is passed over.
    const there = listed.split(delimiter).filter((file) => existsSync(file))
    if (there.length > 0) return read(there)
    throw new Error(`KUBECONFIG names ${listed}, where no file is: correct it, or unset it`)
  }
  // A context is a matter of kubeconfigs: who names one does not mean the pod's own account.
  const inCluster = context === undefined ? accessInCluster(env, now, serviceAccount) : undefined
  if (inCluster) return inCluster
  const usual = join(env['HOME'] ?? '', '.kube/config')
  if (existsSync(usual)) return read([usual])
  const inAPod = 'in a pod, mount the token of a service account (automountServiceAccountToken)'
  throw new Error(`no cluster is known: pass --kubeconfig FILE, set KUBECONFIG or write ${usual}; ${inAPod}`)
}
