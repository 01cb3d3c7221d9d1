// What `managementPolicies` let an engine do. Omitted: everything. Pure.
import type { ManagementPolicy, WorkspaceSpec } from '../api/workspace.ts'

type Policies = WorkspaceSpec['managementPolicies']

export function isAllowed(policies: Policies, action: Exclude<ManagementPolicy, '*'>): boolean {
  return policies === undefined || policies.includes('*') || policies.includes(action)
}

// The same, but what was built is left when the Workspace goes: what `deletionPolicy: Orphan` says where there is that field.
export function withoutDelete(policies: Policies): readonly ManagementPolicy[] {
  const all = ['Observe', 'Create', 'Update', 'LateInitialize'] as const
  return policies === undefined || policies.includes('*') ? all : policies.filter((each) => each !== 'Delete')
}
