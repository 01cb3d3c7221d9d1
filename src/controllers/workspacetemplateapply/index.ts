// The controller of WorkspaceTemplateApplies: what wakes it, what it writes and what it looks at.
import { annotations, labels } from '../../api/keys.ts'
import { ConfigMap, CustomResourceDefinition, Namespace, Secret } from '../../api/neighbours.ts'
import { type Key, type KubeObject, keyOf, type Resource, readKey, resourceName, tellKey } from '../../api/resource.ts'
import { crossplane, type Workspace, workspaceAPIs } from '../../api/workspace.ts'
import { WorkspaceTemplate } from '../../api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Read } from '../../runtime/cache.ts'
import { applies, type Controller, controller, deletes, gets, mapped, type Source } from '../../runtime/controller.ts'
import type { Settings } from '../../runtime/settings.ts'
import { decide } from './decide.ts'
import { observe } from './observe.ts'
import { applyIndexes, byConfigMap, bySecret, byTemplate, byUse, byWorkspace, usedKeys } from './relations.ts'
import { ours } from './where.ts'

const workspaces = Object.values(workspaceAPIs).map(({ workspace }) => workspace)

export function workspaceTemplateApplyController(
  settings: Pick<Settings, 'workspaceAPI' | 'isCrossNamespaceAllowed'>,
): Controller {
  return controller({
    name: 'workspacetemplateapply',
    kind: WorkspaceTemplateApply,
    wokenBy: [
      mapped(WorkspaceTemplateApply, itAndItsNeighbours, { indexes: applyIndexes }),
      mapped(WorkspaceTemplate, named(byTemplate)),
      ...workspaces.flatMap((resource) => [workspaceOf(resource), definitionOf(resource)]),
      // Three watches of Secrets that know nothing of their bytes: ours, those we put the label on, and those of engines.
      mapped(Secret, ofSecret, { scope: { labels: labels.apply } }),
      mapped(Secret, nobody, { scope: { labels: labels.watch } }),
      mapped(Secret, nobody, { scope: { fields: `type=${crossplane.connectionSecretType}` } }),
      mapped(ConfigMap, named(byConfigMap), { scope: { labels: labels.watch, metadataOnly: true } }),
    ],
    writes: [
      { resource: WorkspaceTemplateApply, verbs: ['patch'] },
      ...workspaces.flatMap((resource) => [applies(resource), deletes(resource), gets(resource)]),
      applies(Secret),
      deletes(Secret),
      gets(Secret),
      { resource: ConfigMap, verbs: ['get', 'patch'] },
      gets(Namespace),
    ],
    observe: async (read, apply: WorkspaceTemplateApply, live) => observe(read, apply, live, settings),
    decide,
  })
}

// Those that use it want its outputs, and those it uses wait for it to leave.
function itAndItsNeighbours(apply: WorkspaceTemplateApply, _: unknown, read: Read): readonly Key[] {
  return [keyOf(apply), ...usedKeys(apply), ...named(byUse)(apply, _, read)]
}

// The applies that name the object.
function named(index: string): (object: KubeObject, _: unknown, read: Read) => readonly Key[] {
  return (object, _, read) => read.keysAt(WorkspaceTemplateApply, index, tellKey(keyOf(object)))
}

function ofSecret(secret: Secret, _: unknown, read: Read): readonly Key[] {
  return [...madeFor(secret), ...named(bySecret)(secret, _, read)]
}

function workspaceOf(resource: Resource<Workspace>): Source {
  const isOurs = ({ metadata }: Workspace) => metadata.labels?.[labels.apply] !== undefined
  return mapped(resource, (workspace, _, read) => [...madeFor(workspace), ...named(byWorkspace)(workspace, _, read)], {
    indexes: { [ours]: (workspace: Workspace) => (isOurs(workspace) ? [''] : []) },
  })
}

function madeFor({ metadata }: KubeObject): readonly Key[] {
  const apply = metadata.annotations?.[annotations.apply]
  return apply === undefined ? [] : [readKey(apply)]
}

// Whether it is served, and by whom, matters to every apply.
function definitionOf(resource: Resource): Source {
  const name = resourceName(resource)
  const wakes = ({ metadata }: KubeObject, _: unknown, read: Read) =>
    metadata.name === name ? read.list(WorkspaceTemplateApply).map(keyOf) : []
  return mapped(CustomResourceDefinition, wakes, { scope: { fields: `metadata.name=${name}` } })
}

const nobody = () => []
