// The role of the manager, worked out from what its controllers say they watch and write. Pure.
import { type Resource, resourceName } from '../api/resource.ts'
import type { Controller, Right } from './controller.ts'

export interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

// One rule for each resource, in a stable order.
export function rulesOf(rights: readonly Right[]): readonly Rule[] {
  const verbs = new Map<string, { readonly resource: Resource; readonly path: string; readonly verbs: Set<string> }>()
  for (const right of rights) {
    const path = right.subresource ? `${right.resource.plural}/${right.subresource}` : right.resource.plural
    const id = `${resourceName(right.resource)} ${path}`
    const entry = verbs.get(id) ?? { resource: right.resource, path, verbs: new Set() }
    for (const verb of right.verbs) entry.verbs.add(verb)
    verbs.set(id, entry)
  }
  return [...verbs.entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { resource, path, verbs: all }]) => ({
      apiGroups: [resource.group],
      resources: [path],
      verbs: [...all].toSorted(),
    }))
}

export function rightsOf(controllers: readonly Controller[]): readonly Right[] {
  return controllers.flatMap(({ rights }) => rights)
}
