// What `managementPolicies` let an engine do. Omitted: everything. Pure.
import type { ManagementPolicy, WorkspaceAPI, WorkspaceSpec } from '../api/workspace.ts'

type Policies = WorkspaceSpec['managementPolicies']

export function isAllowed(policies: Policies, action: Exclude<ManagementPolicy, '*'>): boolean {
  return policies === undefined || policies.includes('*') || policies.includes(action)
}

type Orphaning = Pick<WorkspaceSpec, 'managementPolicies' | 'deletionPolicy'>

// Whether what was built is left when the Workspace goes.
export function isOrphan({ isNamespaced }: WorkspaceAPI, { managementPolicies, deletionPolicy }: Orphaning): boolean {
  return isNamespaced ? !isAllowed(managementPolicies, 'Delete') : deletionPolicy === 'Orphan'
}

// The same policies, but that is left.
export function orphaned({ isNamespaced }: WorkspaceAPI, { managementPolicies }: Orphaning): Orphaning {
  return isNamespaced ? { managementPolicies: withoutDelete(managementPolicies) } : { deletionPolicy: 'Orphan' }
}

export function withoutDelete(policies: Policies): readonly ManagementPolicy[] {
  const all = ['Observe', 'Create', 'Update', 'LateInitialize'] as const
  return policies === undefined || policies.includes('*') ? all : policies.filter((each) => each !== 'Delete')
}
