// Which Terraform engine runs a new Workspace: that is, in which of four groups it is made. Pure.
import { type WorkspaceGroup, workspaceGroups } from '../../api/workspace.ts'

export interface Engines {
  readonly asked: WorkspaceGroup | 'auto' // by the template, else by --workspace-api
  isServed(group: WorkspaceGroup): boolean
  hasOurs(group: WorkspaceGroup): boolean // Workspaces of ours are in it already
}

export type Choice =
  | { readonly is: 'chosen'; readonly group: WorkspaceGroup }
  | { readonly is: 'none'; readonly reason: 'NoEngine' | 'AmbiguousEngine'; readonly message: string }

export function chooseEngine({ asked, isServed, hasOurs }: Engines): Choice {
  if (asked !== 'auto') return isServed(asked) ? { is: 'chosen', group: asked } : unserved(asked)
  const served = workspaceGroups.filter(isServed)
  const used = served.filter(hasOurs)
  const [only, ...others] = used.length > 0 ? used : served
  if (only === undefined)
    return none(`nobody serves Workspaces: install capt-engine or Crossplane's provider-terraform`)
  if (others.length === 0) return { is: 'chosen', group: only }
  const names = [only, ...others].join(' and ')
  const message = `Workspaces are served in ${names}: say which with --workspace-api on the manager, or workspaceAPI in the template`
  return { is: 'none', reason: 'AmbiguousEngine', message }
}

export function unserved(group: WorkspaceGroup): Choice & { is: 'none' } {
  return none(`nobody serves Workspaces in ${group}: install an engine that does`)
}

function none(message: string): Choice & { is: 'none' } {
  return { is: 'none', reason: 'NoEngine', message }
}
