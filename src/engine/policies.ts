// What may be done to what a Workspace stands for, as its spec says it: managementPolicies and deletionPolicy, as Crossplane
// reads them. Pure.
import type { ManagementPolicy, WorkspaceSpec } from '../api/workspace.ts'

export type Policies =
  | { readonly is: 'paused' } // nothing at all, not even a look
  | { readonly is: 'unsupported'; readonly why: string }
  | {
      readonly is: 'allowed'
      readonly create: boolean
      readonly update: boolean
      readonly delete: boolean
    }

export function policiesOf({ managementPolicies = ['*'], deletionPolicy = 'Delete' }: WorkspaceSpec): Policies {
  const all = new Set<ManagementPolicy>(managementPolicies)
  if (all.size === 0) return { is: 'paused' }
  const isEverything = all.has('*')
  if (isEverything ? all.size > 1 : !all.has('Observe')) {
    const told = `[${[...all].join(' ')}]`
    return {
      is: 'unsupported',
      why: `\`spec.managementPolicies\` is set to a value(${told}) which is not supported. Check docs for supported policies`,
    }
  }
  return {
    is: 'allowed',
    create: isEverything || all.has('Create'),
    update: isEverything || all.has('Update'),
    // Delete said outright counts more than an older word for the whole.
    delete: isEverything ? deletionPolicy === 'Delete' : all.has('Delete'),
  }
}
