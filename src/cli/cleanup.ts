// capt cleanup moved: removes the Workspaces that a move left in the cluster it came from, paused and to be kept, once their applies are
// gone from there. Nothing that they built is touched: it is the other cluster's now.
import { annotations, holdFinalizer } from '../api/keys.ts'
import { keyOf, readKey, tellObject } from '../api/resource.ts'
import { crossplane, type Workspace, type WorkspaceAPI, workspaceAPIs } from '../api/workspace.ts'
import { WorkspaceTemplateApply } from '../api/workspacetemplateapply.ts'
import type { Client } from '../kube/client.ts'
import { isConflict, isNotServed } from '../kube/errors.ts'
import { getIfThere } from '../kube/ifthere.ts'
import { isOrphan } from '../terraform/policies.ts'
import { stateNamespace } from '../terraform/statesecret.ts'
import { Complaint } from './complaint.ts'

export interface Cleaning {
  readonly client: Pick<Client, 'get' | 'list' | 'patch' | 'remove'>
  readonly namespace: string // of the applies
  say(line: string): void
  agrees(): Promise<boolean> // after all was said
}

interface Left {
  readonly api: WorkspaceAPI
  readonly workspace: Workspace
}

// False: it was not wanted.
export async function cleanUpMoved(asked: Cleaning): Promise<boolean> {
  const { namespace, say } = asked
  const left = await leftBehind(asked)
  if (left.length === 0) {
    say(`no Workspace of namespace ${namespace} was left behind by a move`)
    return true
  }
  for (const { workspace } of left) say(`${tellObject(workspace)}: its apply was moved away`)
  say(
    `they are removed from this cluster; what they built is not touched. Of states in namespace ${stateNamespace} copies are kept (capt state list); those in other places stay there, as they are`,
  )
  if (!(await asked.agrees())) return false
  let removed = 0
  for (const each of left) if (await remove(asked, each)) removed++
  say(`removed ${removed}`)
  return true
}

async function leftBehind({ client, namespace }: Cleaning): Promise<readonly Left[]> {
  const found: Left[] = []
  for (const api of Object.values(workspaceAPIs)) {
    for (const workspace of await workspacesOf(client, api, namespace)) {
      if (await wasMoved({ client, namespace }, workspace)) found.push({ api, workspace })
    }
  }
  return found
}

async function wasMoved({ client, namespace }: Pick<Cleaning, 'client' | 'namespace'>, { metadata }: Workspace) {
  const apply = readKey(metadata.annotations?.[annotations.apply] ?? '')
  if (metadata.annotations?.[annotations.moved] === undefined || apply.namespace !== namespace) return false
  return (await getIfThere(client, WorkspaceTemplateApply, apply)) === undefined
}

async function workspacesOf(client: Cleaning['client'], api: WorkspaceAPI, namespace: string) {
  try {
    return (await client.list(api.workspace, api.isNamespaced ? { namespace } : {})).items
  } catch (error) {
    if (isNotServed(error)) return []
    throw error
  }
}

// As it is by now: whoever was asked may have taken their time, and its apply may have come back. False: it stays.
async function remove(asked: Cleaning, left: Left, tries = 10): Promise<boolean> {
  const { api, workspace } = left
  const { client, say } = asked
  const now = await getIfThere(client, api.workspace, keyOf(workspace))
  if (!now || now.metadata.uid !== workspace.metadata.uid) return false
  if (!(await wasMoved(asked, now))) {
    say(`${tellObject(now)}: it is looked after here again, and stays`)
    return false
  }
  seeKept(api, now)
  const { uid, resourceVersion } = now.metadata
  try {
    await client.remove(api.workspace, keyOf(now), { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) })
  } catch (error) {
    if (!isConflict(error) || tries === 0) throw error
    return remove(asked, left, tries - 1)
  }
  await letGo(client, api, now)
  return true
}

// It must not be destroyed by whoever serves it: where that could be, nothing is done.
function seeKept(api: WorkspaceAPI, workspace: Workspace): void {
  if (!isOrphan(api, workspace.spec))
    throw new Complaint(`${tellObject(workspace)} would be destroyed with all it built: it is left as it is`)
}

// While it is paused its engine does not let go of it. It is deleted by now, so nothing else is done with it.
async function letGo(client: Cleaning['client'], api: WorkspaceAPI, removed: Workspace, tries = 10): Promise<void> {
  const { uid } = removed.metadata
  const going = await getIfThere(client, api.workspace, keyOf(removed))
  if (!going || going.metadata.uid !== uid) return
  seeKept(api, going)
  const { resourceVersion, finalizers = [] } = going.metadata
  const change = {
    uid,
    resourceVersion,
    finalizers: finalizers.filter((each) => each !== holdFinalizer),
    annotations: { [crossplane.paused]: null },
  }
  try {
    await client.patch(api.workspace, keyOf(removed), { metadata: change }, { fieldManager: 'capt-cli' })
  } catch (error) {
    // Its engine may write at the same moment that it rests.
    if (!isConflict(error) || tries === 0) throw error
    await letGo(client, api, removed, tries - 1)
  }
}
