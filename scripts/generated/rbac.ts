// What the manager may do, and not a verb more: worked out from what its controllers declare.
import { kinds } from '../../src/api/kinds.ts'
import { CustomResourceDefinition, Event, Lease, SubjectAccessReview, TokenReview } from '../../src/api/neighbours.ts'
import { type Provider, providerOf, providers } from '../../src/api/provider.ts'
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
const apiGroup = 'rbac.authorization.k8s.io'
const apiVersion = `${apiGroup}/v1`

// Of a process itself, whatever else it does.
export const processRights: readonly Right[] = [
  { resource: Event, verbs: ['create', 'patch'] },
  { resource: TokenReview, verbs: ['create'] }, // who asks for metrics
  { resource: SubjectAccessReview, verbs: ['create'] },
]

// A manager as it is installed.
export interface Manager {
  readonly is: readonly Provider[]
  readonly account: string
  readonly role: string
}

export const allInOne: Manager = { is: providers, account: serviceAccount, role: 'appthrust-capt-manager' }

function managerRole({ is, role: name }: Manager) {
  const { settings } = settingsOf([])
  const controllers = controllersOf(settings, nowhere).filter(({ group }) => is.includes(group))
  const rights = rightsOf(controllers)
  const own = kinds.filter((kind) => is.includes(providerOf(kind)))
  const rules = rulesOf([
    ...rights.filter((right) => !isOfDefinitions(right)),
    ...migrationRights(own),
    ...processRights,
  ])
  const crds = own.map(resourceName)
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
function leaseRole({ is, role: name }: Manager) {
  const of = { apiGroups: [Lease.group], resources: [Lease.plural] }
  return {
    apiVersion,
    kind: 'Role',
    metadata: { name, namespace },
    rules: [
      { ...of, verbs: ['create'] },
      { ...of, verbs: ['get', 'patch'], resourceNames: is.map((provider) => leases[provider]) },
    ],
  }
}

export function managerRBAC(manager: Manager) {
  const { account, role: name } = manager
  const subjects = [{ kind: 'ServiceAccount', name: account, namespace }]
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace } },
    managerRole(manager),
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup, kind: 'ClusterRole', name },
      subjects,
    },
    leaseRole(manager),
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata: { name, namespace },
      roleRef: { apiGroup, kind: 'Role', name },
      subjects,
    },
  ]
}
