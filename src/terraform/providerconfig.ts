// Which ProviderConfig a Workspace means. Pure.
import type { Workspace, WorkspaceAPI } from '../api/workspace.ts'

type Asked = Pick<Workspace, 'metadata'> & { readonly spec: Pick<Workspace['spec'], 'providerConfigRef'> }

// Which one is meant when nothing is said.
export function configRefOf({ isNamespaced }: WorkspaceAPI, { spec }: Asked): { kind?: string; name: string } {
  const { kind = 'ClusterProviderConfig', name } = spec.providerConfigRef ?? { name: 'default' }
  return isNamespaced ? { kind, name } : { name }
}

// Where that one is; no resource: its kind is none of the API.
export function configKeyOf(api: WorkspaceAPI, workspace: Asked) {
  const { kind = 'ProviderConfig', name } = configRefOf(api, workspace)
  const resource = [api.providerConfig, api.clusterProviderConfig].find((each) => each?.kind === kind)
  const { namespace } = workspace.metadata
  const isWide = resource?.isClusterScoped || namespace === undefined
  return { kind, resource, key: isWide ? { name } : { name, namespace } }
}
