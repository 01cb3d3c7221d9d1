// Says that a Workspace uses a ProviderConfig, by an object of its own, as Crossplane does: whoever would delete the one sees the
// other.
import { isWithin } from '../api/record.ts'
import { apiVersionOf, keyOf } from '../api/resource.ts'
import { crossplane, type ProviderConfigUsage, type Workspace, type WorkspaceAPI } from '../api/workspace.ts'
import type { Client } from '../kube/client.ts'
import { isNotFound } from '../kube/errors.ts'
import type { Read } from '../runtime/cache.ts'
import { configRefOf } from '../terraform/providerconfig.ts'

export interface Usages {
  track(api: WorkspaceAPI, workspace: Workspace): Promise<void>
  drop(api: WorkspaceAPI, workspace: Workspace): Promise<void>
}

export function createUsages(client: Pick<Client, 'apply' | 'remove'>, read: Pick<Read, 'get'>): Usages {
  return {
    async track(api, workspace) {
      const usage = usageOf(api, workspace)
      const there = read.get(api.usage, keyOf(usage))
      if (there && isWithin(usage, there)) return
      await client.apply(api.usage, usage, { fieldManager: 'capt-engine', force: true })
    },
    async drop(api, workspace) {
      const { metadata } = usageOf(api, workspace)
      try {
        await client.remove(api.usage, keyOf({ metadata }))
      } catch (error) {
        if (!isNotFound(error, metadata.name)) throw error
      }
    },
  }
}

function usageOf(api: WorkspaceAPI, workspace: Workspace): ProviderConfigUsage {
  const { name, namespace, uid = '' } = workspace.metadata
  const ref = configRefOf(api, workspace)
  const [apiVersion, kind] = [apiVersionOf(api.workspace), api.workspace.kind]
  return {
    apiVersion: apiVersionOf(api.usage),
    kind: api.usage.kind,
    metadata: {
      name: uid,
      ...(namespace !== undefined && { namespace }),
      labels: {
        [crossplane.providerConfigLabel]: ref.name,
        ...(ref.kind !== undefined && { [crossplane.providerConfigKindLabel]: ref.kind }),
      },
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }],
    },
    providerConfigRef: ref,
    resourceRef: { apiVersion, kind, name },
  }
}
