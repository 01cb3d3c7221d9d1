// What `managementPolicies` let an engine do. Omitted: everything. Pure.
import type { ManagementPolicy, WorkspaceAPI, WorkspaceSpec } from '../api/workspace.ts'

type Policies = WorkspaceSpec['managementPolicies']

export function isAllowed(policies: Policies, action: Exclude<ManagementPolicy, '*'>): boolean {
  return policies === undefined || policies.includes('*') || policies.includes(action)
}

type Orphaning = Pick<WorkspaceSpec, 'managementPolicies' | 'deletionPolicy'>

// Whether what was built is left when the Workspace goes.
export function isOrphan({ isNamespaced }: WorkspaceAPI, { managementPolicies, deletionPolicy }: Orphaning): boolean {
  return isNamespaced || isOutright(managementPolicies)
    ? !isAllowed(managementPolicies, 'Delete')
    : deletionPolicy === 'Orphan'
}

// Then engines do as it says, whatever the older `deletionPolicy` says.
function isOutright(policies: Policies): boolean {
  return policies !== undefined && !policies.includes('*')
}

// The same policies, but that is left.
export function orphaned({ isNamespaced }: WorkspaceAPI, { managementPolicies }: Orphaning): Orphaning {
  const policies = { managementPolicies: withoutDelete(managementPolicies) }
  if (isNamespaced) return policies
  return { deletionPolicy: 'Orphan', ...(isOutright(managementPolicies) && policies) }
}

export function withoutDelete(policies: Policies): readonly ManagementPolicy[] {
  const all = ['Observe', 'Create', 'Update', 'LateInitialize'] as const
  return policies === undefined || policies.includes('*') ? all : policies.filter((each) => each !== 'Delete')
}
