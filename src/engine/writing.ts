// Writes to the Workspace that a pass is over: each to the object that was read at its beginning, by its uid.
import { isWithin } from '../api/record.ts'
import { keyOf } from '../api/resource.ts'
import type { Workspace, WorkspaceAPI } from '../api/workspace.ts'
import type { Client } from '../kube/client.ts'
import { isConflict, isNotFound } from '../kube/errors.ts'
import { getIfThere } from '../kube/ifthere.ts'

export interface Subject {
  readonly api: WorkspaceAPI
  readonly start: Workspace // as it was read
  workspace: Workspace // as it is by now
}

export interface Writing {
  annotate(subject: Subject, annotations: Readonly<Record<string, string | null>>): Promise<void>
  // False: it has left.
  changeFinalizers(subject: Subject, change: (all: readonly string[]) => readonly string[]): Promise<boolean>
  // False: it says all of that already.
  writeStatus(subject: Subject, status: NonNullable<Workspace['status']>): Promise<boolean>
}

const how = { fieldManager: 'capt-engine' }

export function createWriting(client: Pick<Client, 'get' | 'patch' | 'replaceStatus'>): Writing {
  return {
    async annotate(subject, annotations) {
      const { api, start } = subject
      const { uid } = start.metadata
      take(subject, await client.patch(api.workspace, keyOf(start), { metadata: { uid, annotations } }, how))
    },

    async changeFinalizers(subject, change) {
      const { api, start } = subject
      for (let current: Workspace | undefined = subject.workspace; current; ) {
        const { uid, resourceVersion, finalizers = [] } = current.metadata
        const metadata = { uid, resourceVersion, finalizers: change(finalizers) }
        try {
          take(subject, await client.patch(api.workspace, keyOf(start), { metadata }, how))
          return true
        } catch (error) {
          if (isNotFound(error, start.metadata.name)) return false
          if (!isConflict(error)) throw error
          current = await getIfThere(client, api.workspace, keyOf(start))
          if (current?.metadata.uid !== start.metadata.uid) return false
        }
      }
      return false
    },

    async writeStatus(subject, status) {
      const { api, start, workspace } = subject
      const before = workspace.status ?? {}
      if (isWithin(status, before) && isWithin(before, status)) return false
      take(subject, await client.replaceStatus(api.workspace, start, status, how))
      return true
    },
  }
}

// What we changed counts at once; what others changed meanwhile is for the next pass.
function take(subject: Subject, { metadata, status }: Workspace): void {
  const { generation, deletionTimestamp } = subject.start.metadata
  subject.workspace = {
    ...subject.start,
    metadata: {
      ...metadata,
      ...(generation !== undefined && { generation }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    ...(status && { status }),
  }
}
