// The controller of WorkspaceTemplateApplies: what wakes it, what it writes and what it looks at.
import { annotations, labels } from '../../api/keys.ts'
import { ConfigMap, CustomResourceDefinition, Namespace, Secret } from '../../api/neighbours.ts'
import {
  groupOf,
  type Key,
  type KubeObject,
  keyOf,
  type Resource,
  readKey,
  resourceName,
  tellKey,
} from '../../api/resource.ts'
import { crossplane, type Workspace, workspaceAPIs } from '../../api/workspace.ts'
import { WorkspaceTemplate } from '../../api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import type { Read } from '../../runtime/cache.ts'
import {
  applies,
  type Controller,
  controller,
  deletes,
  gets,
  isAskedForMore,
  mapped,
  type Source,
} from '../../runtime/controller.ts'
import type { Settings } from '../../runtime/settings.ts'
import type { Indexes } from '../../runtime/store.ts'
import { decide } from './decide.ts'
import { observe } from './observe.ts'
import { pausing } from './pause.ts'
import {
  applyIndexes,
  byConfigMap,
  bySecret,
  byTemplate,
  byUse,
  byWorkspace,
  namesakeOf,
  usedKeys,
} from './relations.ts'
import { byLastSign, lastSignOf } from './silence.ts'
import { ours } from './where.ts'

const apis = Object.values(workspaceAPIs)

export function workspaceTemplateApplyController(
  settings: Pick<Settings, 'workspaceAPI' | 'isCrossNamespaceAllowed'>,
): Controller {
  return controller({
    name: 'workspacetemplateapply',
    kind: WorkspaceTemplateApply,
    wokenBy: [
      mapped(WorkspaceTemplateApply, itAndItsNeighbours, { indexes: applyIndexes }),
      mapped(WorkspaceTemplate, named(byTemplate), { isNews: isAskedForMore }),
      ...pausing,
      ...apis.flatMap(({ workspace }) => [workspaceOf(workspace), definitionOf(workspace)]),
      // Three watches of Secrets that know nothing of their bytes: ours, those we put the label on, and those of engines.
      mapped(Secret, ofSecret, { scope: { labels: labels.apply } }),
      mapped(Secret, nobody, { scope: { labels: labels.watch } }),
      mapped(Secret, nobody, { scope: { fields: `type=${crossplane.connectionSecretType}` } }),
      mapped(ConfigMap, named(byConfigMap), { scope: { labels: labels.watch, metadataOnly: true } }),
    ],
    writes: [
      { resource: WorkspaceTemplateApply, verbs: ['patch'] },
      ...apis.flatMap(({ workspace, usage }) => [applies(workspace), deletes(workspace), gets(workspace), gets(usage)]),
      ...apis.flatMap(({ providerConfig, clusterProviderConfig }) =>
        [providerConfig, clusterProviderConfig].filter((each) => each !== undefined).map(gets),
      ),
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
  return [...madeFor(secret), ...named(bySecret)(secret, _, read), ...readersOf(secret, read)]
}

// Who uses outputs of the apply whose Workspace wrote it.
function readersOf({ metadata }: Secret, read: Read): readonly Key[] {
  const { namespace = '', ownerReferences = [] } = metadata
  return ownerReferences.flatMap(({ apiVersion, kind, name }) => {
    const api = apis.find(({ workspace }) => workspace.kind === kind && workspace.group === groupOf(apiVersion))
    const writer = api && read.get(api.workspace, api.isNamespaced ? { namespace, name } : { name })
    return writer ? madeFor(writer).flatMap((key) => read.keysAt(WorkspaceTemplateApply, byUse, tellKey(key))) : []
  })
}

export const workspaceIndexes: Indexes<Workspace> = {
  [ours]: ({ metadata }) => (metadata.labels?.[labels.apply] === undefined ? [] : ['']),
  [byLastSign]: lastSignOf,
}

function workspaceOf(resource: Resource<Workspace>): Source {
  const wakes = (workspace: Workspace, _: unknown, read: Read) => [
    ...madeFor(workspace),
    namesakeOf(keyOf(workspace)), // which need not be there
    ...named(byWorkspace)(workspace, _, read),
  ]
  return mapped(resource, wakes, { indexes: workspaceIndexes })
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
