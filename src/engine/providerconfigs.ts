// Keeps a ProviderConfig while it is used: counts its users in its status, and holds it by a finalizer, as Crossplane's provider
// does. It does so for ProviderConfigs alone; the provider never did for ClusterProviderConfigs, and would not release one.
import { type Key, keyOf, tellKey } from '../api/resource.ts'
import { crossplane, type ProviderConfigUsage, type WorkspaceAPI } from '../api/workspace.ts'
import type { Client } from '../kube/client.ts'
import { isNotFound } from '../kube/errors.ts'
import type { Read } from '../runtime/cache.ts'

export const usedIndex = 'used'

// Under which a usage is found: the ProviderConfig it is of.
export function usedBy(usage: ProviderConfigUsage): readonly string[] {
  const { kind, name } = usage.providerConfigRef
  if (kind === 'ClusterProviderConfig') return []
  const { namespace } = usage.metadata
  return [tellKey(namespace === undefined ? { name } : { name, namespace })]
}

const how = { fieldManager: 'capt-engine' }

export async function keepProviderConfig(
  api: WorkspaceAPI,
  key: Key,
  { client, read }: { readonly client: Pick<Client, 'patch' | 'list'>; readonly read: Read },
): Promise<void> {
  const config = read.get(api.providerConfig, key)
  if (!config) return
  const { uid, resourceVersion, finalizers = [], deletionTimestamp } = config.metadata
  const users = read.keysAt(api.usage, usedIndex, tellKey(key)).length
  const isHeld = finalizers.includes(crossplane.inUseFinalizer)
  const write = async (change: readonly string[]) =>
    client.patch(api.providerConfig, key, { metadata: { uid, resourceVersion, finalizers: change } }, how)
  try {
    if ((config.status?.users ?? 0) !== users) {
      const status = { metadata: { uid }, status: { users: users || null } }
      await client.patch(api.providerConfig, key, status, { ...how, subresource: 'status' })
      return // our own change wakes us again
    }
    if (deletionTimestamp === undefined) {
      if (users > 0 && !isHeld) await write([...finalizers, crossplane.inUseFinalizer])
    } else if (users === 0 && isHeld && !(await isUsed())) {
      await write(finalizers.filter((each) => each !== crossplane.inUseFinalizer))
    }
  } catch (error) {
    if (!isNotFound(error, key.name)) throw error
  }

  // The cache may be a moment late, and what is let go is gone.
  async function isUsed(): Promise<boolean> {
    const { namespace, name } = key
    const labels = `${crossplane.providerConfigLabel}=${name}`
    const { items } = await client.list(api.usage, { labels, ...(namespace !== undefined && { namespace }) })
    return items.some((usage) => usedBy(usage).includes(tellKey(keyOf({ metadata: { ...key } }))))
  }
}
