// What the controller of applies looks at, in memory: a cache and an API server that know the same, and what was read live.
import { CAPTCluster } from '../src/api/captcluster.ts'
import { CAPTControlPlane } from '../src/api/captcontrolplane.ts'
import { labels } from '../src/api/keys.ts'
import { Cluster, CustomResourceDefinition } from '../src/api/neighbours.ts'
import { type KubeObject, keyOf, type Resource, resourceName, tellKey } from '../src/api/resource.ts'
import { type Workspace, type WorkspaceGroup, workspaceAPIs } from '../src/api/workspace.ts'
import { WorkspaceTemplate } from '../src/api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../src/api/workspacetemplateapply.ts'
import { wokenByCluster } from '../src/controllers/ownercluster.ts'
import { workspaceIndexes } from '../src/controllers/workspacetemplateapply/index.ts'
import { observe } from '../src/controllers/workspacetemplateapply/observe.ts'
import { controlPlaneIndexes, networkIndexes } from '../src/controllers/workspacetemplateapply/pause.ts'
import { applyIndexes } from '../src/controllers/workspacetemplateapply/relations.ts'
import { ApiError } from '../src/kube/errors.ts'
import type { Read } from '../src/runtime/cache.ts'
import type { Live } from '../src/runtime/controller.ts'
import type { Indexes } from '../src/runtime/store.ts'
import { apply, template } from './applies.ts'

type Apply = WorkspaceTemplateApply
export type There = readonly (readonly [Resource, KubeObject])[]

export const team = (name: string) => ({ namespace: 'team', name })

export function aWorld(there: There) {
  const objects = new Map(
    there.map(([resource, object]) => [`${resourceName(resource)} ${tellKey(keyOf(object))}`, object]),
  )
  const of = (resource: Resource) => there.filter(([kind]) => kind === resource).map(([, object]) => object)
  const asked: string[] = []
  const indexes = new Map<Resource, Indexes<never>>([
    [WorkspaceTemplateApply, applyIndexes],
    [CAPTCluster, networkIndexes],
    [CAPTControlPlane, controlPlaneIndexes],
    [Cluster, wokenByCluster(() => []).indexes ?? {}],
  ])
  const keysAt = (resource: Resource, index: string, value: string) => {
    const { [index]: find } = indexes.get(resource) ?? workspaceIndexes
    return of(resource).filter((each) => find?.(each as never).includes(value))
  }
  const read = {
    get(resource: Resource, key: { name: string; namespace?: string }) {
      const found = objects.get(`${resourceName(resource)} ${tellKey(key)}`)
      return resource.isSecret && found?.metadata.labels?.[labels.apply] === undefined ? undefined : found
    },
    list: of,
    byIndex: keysAt,
    keysAt: (...args: Parameters<typeof keysAt>) => keysAt(...args).map(keyOf),
  } as unknown as Read
  const live = {
    async get(resource: Resource, key: { name: string; namespace?: string }) {
      const id = `${resourceName(resource)} ${tellKey(key)}`
      asked.push(id)
      const found = objects.get(id)
      if (!found) throw new ApiError({ doing: 'read', code: 404, reason: 'NotFound', message: 'no', about: key.name })
      return found
    },
    now: () => new Date('2026-11-16T12:00:00Z'),
  } as unknown as Live
  return { read, live, asked }
}

export const aDefinition = (group: WorkspaceGroup, established = 'True'): CustomResourceDefinition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `workspaces.${group}` },
  spec: { group, names: { kind: 'Workspace', plural: 'workspaces' }, versions: [] },
  status: { conditions: [{ type: 'Established', status: established === 'True' ? 'True' : 'False' }] },
})
export const served = (...groups: readonly WorkspaceGroup[]): There =>
  groups.map((group) => [CustomResourceDefinition, aDefinition(group)])
export const aWorkspace = (group: WorkspaceGroup, name: string, metadata: object = {}): There => {
  const api = workspaceAPIs[group]
  const workspace: Workspace = {
    apiVersion: `${group}/v1beta1`,
    kind: 'Workspace',
    metadata: { ...(api.isNamespaced ? team(name) : { name }), creationTimestamp: '2026-11-16T11:59:30Z', ...metadata },
    spec: { forProvider: { source: 'Inline', module: '' }, writeConnectionSecretToRef: { name: 'connection' } },
  }
  return [[api.workspace, workspace]]
}
export const anApply = (metadata: object = {}, spec: object = {}, status?: object): Apply => ({
  ...apply,
  metadata: { ...apply.metadata, ...metadata },
  spec: { ...apply.spec, ...spec },
  ...(status && { status }),
})
const templated: There = [[WorkspaceTemplate, template]]
export const settings = { workspaceAPI: 'auto', isCrossNamespaceAllowed: false } as const

export async function look(subject: Apply, there: There, flags: Partial<Parameters<typeof observe>[3]> = {}) {
  const { read, live, asked } = aWorld([...templated, ...there, [WorkspaceTemplateApply, subject]])
  return { ...(await observe(read, subject, live, { ...settings, ...flags })), asked }
}
