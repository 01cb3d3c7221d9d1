// Looks for the Workspace that was built for an object which leaves, when its apply is not there any more: one that is still held, or is being
// destroyed. One that was let go is neither. It decides nothing.
import { holdFinalizer } from '../api/keys.ts'
import type { KubeObject } from '../api/resource.ts'
import { type Workspace, workspaceAPIs } from '../api/workspace.ts'
import { isNotServed } from '../kube/errors.ts'
import { getIfThere } from '../kube/ifthere.ts'
import { gets, type Live, type Right } from '../runtime/controller.ts'
import { recordedOn } from '../terraform/identity.ts'
import { isOrphan } from '../terraform/policies.ts'
import { workspaceKey } from './workspacetemplateapply/relations.ts'

export async function leftBy({ metadata }: KubeObject, live: Live): Promise<Workspace | undefined> {
  const recorded = recordedOn({ metadata })
  if (metadata.deletionTimestamp === undefined || !recorded) return undefined
  const api = workspaceAPIs[recorded.group]
  const found = await getIfThere(live, api.workspace, workspaceKey(api, { metadata }, recorded.name)).catch(
    (error: unknown) => {
      if (!isNotServed(error)) throw error // with its kind, all of them are gone
      return undefined
    },
  )
  const isHeld = found?.metadata.finalizers?.includes(holdFinalizer)
  const isGoing = found?.metadata.deletionTimestamp !== undefined && !isOrphan(api, found.spec)
  return isHeld || isGoing ? found : undefined
}

export const toLookForIt: readonly Right[] = Object.values(workspaceAPIs).map(({ workspace }) => gets(workspace))
