// What the engine does to which objects: `make generate` makes its roles of it, and the bed holds it to them. Pure.
import { ConfigMap, CustomResourceDefinition, Lease, Secret } from '../api/neighbours.ts'
import type { Right } from '../runtime/controller.ts'
import { engineAPIs } from './engine.ts'
import { fluxSources } from './flux.ts'

// Everywhere.
export const engineRights: readonly Right[] = [
  ...engineAPIs.flatMap(({ workspace, providerConfig, clusterProviderConfig, usage }): readonly Right[] => [
    { resource: workspace, verbs: ['get', 'list', 'watch', 'patch'] },
    { resource: workspace, subresource: 'status', verbs: ['patch'] },
    { resource: providerConfig, verbs: ['get', 'list', 'watch', 'patch'] },
    { resource: providerConfig, subresource: 'status', verbs: ['patch'] },
    ...(clusterProviderConfig ? [{ resource: clusterProviderConfig, verbs: ['get', 'list', 'watch'] } as const] : []),
    { resource: clusterProviderConfig ?? providerConfig, verbs: ['create'] }, // the default one
    { resource: usage, verbs: ['list', 'watch', 'create', 'patch', 'delete'] },
  ]),
  { resource: CustomResourceDefinition, verbs: ['list', 'watch'] }, // of Workspaces alone: who owns them
  { resource: Secret, verbs: ['get', 'create', 'patch'] }, // inputs; connection Secrets, plans beside their Workspaces, and <apply>-state
  { resource: ConfigMap, verbs: ['get'] },
  ...fluxSources.map((resource): Right => ({ resource, verbs: ['get'] })),
]

// Where the states are.
export const stateRights: readonly Right[] = [
  { resource: Secret, verbs: ['list', 'delete'] },
  { resource: Lease, verbs: ['list', 'patch'] }, // locks that no command line can release
]
