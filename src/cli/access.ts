// Which API server a command means, and as whom; what it says when that one refuses.
import about from '../../package.json' with { type: 'json' }
import { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import { type Client, createClient } from '../kube/client.ts'
import { ApiError } from '../kube/errors.ts'
import { findAccess } from '../kube/find.ts'
import { Complaint, complaintAbout } from './complaint.ts'

export interface Whereabouts {
  readonly namespace?: string
  readonly kubeconfig?: string
  readonly context?: string
}

export interface Reached {
  readonly client: Client
  readonly server: string
  readonly namespace: string
}

export function reach({ namespace, kubeconfig, context }: Whereabouts, env: NodeJS.ProcessEnv): Reached {
  const access = accessBy({ ...(kubeconfig && { kubeconfig }), ...(context && { context }), env })
  const client = createClient(access, { userAgent: `capt/${about.version}` })
  return { client, server: access.server.origin, namespace: namespace ?? access.namespace }
}

function accessBy(whereabouts: Parameters<typeof findAccess>[0]): ReturnType<typeof findAccess> {
  try {
    return findAccess(whereabouts)
  } catch (error) {
    throw new Complaint(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

export interface Running {
  readonly options: Whereabouts
  readonly process: Pick<NodeJS.Process, 'stderr' | 'env'>
  readonly needed: string // which rights, as a sentence
}

export async function withReach(
  { options, process, needed }: Running,
  run: (reached: Reached) => Promise<number>,
): Promise<number> {
  let reached: Reached | undefined
  try {
    reached = reach(options, process.env)
    return await run(reached)
  } catch (error) {
    const complaint = complaintOf(error, reached, needed)
    if (!complaint) throw error
    process.stderr.write(`${complaint.message}\n`)
    return 1
  } finally {
    reached?.client.close()
  }
}

function complaintOf(error: unknown, reached: Reached | undefined, needed: string): Complaint | undefined {
  if (error instanceof Complaint) return error
  if (!(error instanceof ApiError)) return undefined
  if (error.code === 403) return new Complaint(`${error.message}: ${needed}`, { cause: error })
  return complaintAbout(error, { resource: WorkspaceTemplateApply, server: reached?.server ?? '' })
}
