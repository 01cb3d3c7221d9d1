// What the manager may do, and not a verb more: worked out from what its controllers declare.
import { kinds } from '../../src/api/kinds.ts'
import { CustomResourceDefinition, Event, Lease, SubjectAccessReview, TokenReview } from '../../src/api/neighbours.ts'
import { resourceName } from '../../src/api/resource.ts'
import { workspaceAPIs } from '../../src/api/workspace.ts'
import { nowhere } from '../../src/controllers/controlplane/outside.ts'
import { controllersOf } from '../../src/controllers/index.ts'
import type { Right } from '../../src/runtime/controller.ts'
import { leases } from '../../src/runtime/leadership.ts'
import { migrationRights } from '../../src/runtime/migrator.ts'
import { rightsOf, rulesOf } from '../../src/runtime/rights.ts'
import { settingsOf } from '../../src/runtime/settings.ts'

export const namespace = 'appthrust-capt-system'
export const serviceAccount = 'capt-controller-manager'
const name = 'appthrust-capt-manager'
const group = 'rbac.authorization.k8s.io'
const apiVersion = `${group}/v1`

// Of a process itself, whatever else it does.
export const processRights: readonly Right[] = [
  { resource: Event, verbs: ['create', 'patch'] },
  { resource: TokenReview, verbs: ['create'] }, // who asks for metrics
  { resource: SubjectAccessReview, verbs: ['create'] },
]

export function managerRole() {
  const { settings } = settingsOf([])
  const rights = rightsOf(controllersOf(settings, nowhere))
  const rules = rulesOf([
    ...rights.filter((right) => !isOfDefinitions(right)),
    ...migrationRights(kinds),
    ...processRights,
  ])
  const crds = kinds.map(resourceName)
  const engines = Object.values(workspaceAPIs).map(({ workspace }) => resourceName(workspace))
  return {
    apiVersion,
    kind: 'ClusterRole',
    metadata: { name },
    rules: [
      ...rules.map((rule) =>
        rule.apiGroups.includes(CustomResourceDefinition.group) ? { ...rule, resourceNames: crds } : rule,
      ),
      ...rulesOf(rights.filter(isOfDefinitions)).map((rule) => ({ ...rule, resourceNames: engines })),
    ],
  }
}

// Controllers look at definitions by name, those of the engines.
function isOfDefinitions({ resource }: Right): boolean {
  return resource === CustomResourceDefinition
}

// A Lease that is not there yet has no name to be bound to.
export function leaseRole() {
  const of = { apiGroups: [Lease.group], resources: [Lease.plural] }
  return {
    apiVersion,
    kind: 'Role',
    metadata: { name, namespace },
    rules: [
      { ...of, verbs: ['create'] },
      { ...of, verbs: ['get', 'patch'], resourceNames: Object.values(leases) },
    ],
  }
}

export function managerRBAC(): readonly object[] {
  const subjects = [{ kind: 'ServiceAccount', name: serviceAccount, namespace }]
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: serviceAccount, namespace } },
    managerRole(),
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name },
      subjects,
    },
    leaseRole(),
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata: { name, namespace },
      roleRef: { apiGroup: group, kind: 'Role', name },
      subjects,
    },
  ]
}
