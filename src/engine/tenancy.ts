// Which namespaces a Workspace may read from, and which ProviderConfigs it may use. Pure: what is refused is told as a sentence.
import { annotations } from '../api/keys.ts'
import { tellKey } from '../api/resource.ts'
import type { ProviderConfig, Workspace, WorkspaceAPI } from '../api/workspace.ts'
import { InputsError } from './inputserror.ts'

export interface Tenancy {
  readonly api: Pick<WorkspaceAPI, 'isNamespaced'>
  readonly workspace: Pick<Workspace, 'metadata'>
  readonly providerConfig: Pick<ProviderConfig, 'kind' | 'metadata'>
}

// The namespace a Workspace acts for: its own, or that of the apply it was made for. None: it is an operator's.
export function tenantOf({ metadata }: Pick<Workspace, 'metadata'>): string | undefined {
  return metadata.namespace ?? metadata.annotations?.[annotations.apply]?.split('/')[0]
}

// Where a reference in a Workspace's spec leads. A namespaced Workspace reads only beside itself, whatever a reference says.
export function namespaceFor(
  { api, workspace }: Omit<Tenancy, 'providerConfig'>,
  said: string | undefined,
  field: string,
): string {
  const tenant = tenantOf(workspace)
  if (api.isNamespaced) return tenant ?? ''
  if (!said) throw new InputsError(`${field} names no namespace: a Workspace for the whole cluster must say which`)
  if (tenant !== undefined && said !== tenant) {
    throw new InputsError(
      `${field} leads to namespace ${said}, but the Workspace is for ${tenant}: refer to what is in ${tenant}`,
    )
  }
  return said
}

export function checkProviderConfig({ workspace, providerConfig: { kind, metadata } }: Tenancy): void {
  const tenant = tenantOf(workspace)
  if (metadata.namespace !== undefined) {
    if (metadata.namespace === tenant) return
    throw new InputsError(`${kind} ${tellKey(metadata)} is of another namespace: use one in ${tenant}`)
  }
  const listed = metadata.annotations?.[annotations.allowedNamespaces]
  if (listed === undefined) return
  const allowed = new Set(listed.split(',').map((each) => each.trim()))
  if (allowed.has('*') || (tenant !== undefined && allowed.has(tenant))) return
  throw new InputsError(
    tenant === undefined
      ? `${kind} ${metadata.name} is only for Workspaces of the namespaces in its annotation ${annotations.allowedNamespaces}, and this one is of none`
      : `${kind} ${metadata.name} is not for namespace ${tenant}: let its annotation ${annotations.allowedNamespaces} name ${tenant}, or use another`,
  )
}

// What a ProviderConfig of a namespace may take its credentials from: nothing but that namespace. The engine's own
// environment and files would give away what belongs to others.
export function credentialNamespace(
  { kind, metadata }: Pick<ProviderConfig, 'kind' | 'metadata'>,
  said: string | undefined,
  field: string,
): string {
  const own = metadata.namespace
  if (own === undefined) {
    if (said) return said
    throw new InputsError(`${field} of ${kind} ${metadata.name} names no namespace`)
  }
  if (said === undefined || said === '' || said === own) return own
  throw new InputsError(
    `${field} of ${kind} ${tellKey(metadata)} leads to namespace ${said}: move the Secret to ${own}, or use a ClusterProviderConfig`,
  )
}
