// Looks where Crossplane keeps the state of an apply: while it waits to be moved, and where it has just arrived. Nobody watches
// ProviderConfigs for that. It decides nothing.
import type { WorkspaceSpec } from '../../api/workspace.ts'
import type { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { getIfThere } from '../../kube/ifthere.ts'
import type { Live } from '../../runtime/controller.ts'
import { configKeyOf } from '../../terraform/providerconfig.ts'
import { type StateHome, stateHomeOf } from '../../terraform/statehome.ts'
import { workspaceKey } from './relations.ts'
import type { Where } from './seen.ts'

export async function homeOf(
  live: Live,
  apply: WorkspaceTemplateApply,
  { api, name }: Where,
  spec: WorkspaceSpec,
): Promise<StateHome> {
  const { kind, resource, key } = configKeyOf(api, { metadata: workspaceKey(api, apply, name), spec })
  const config = resource && (await getIfThere(live, resource, key))
  if (!config) return { is: 'bound', why: `is not known, for there is no ${kind} ${key.name}` }
  return stateHomeOf(config, spec.forProvider)
}
