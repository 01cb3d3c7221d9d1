// Rewrites stored objects when a CRD has got a new storage version, so that the old one can be dropped later. clusterctl
// does this no longer. Also forgets, per object, who owned which field in versions that are served no more: with such an
// entry left, the API server refuses to patch the object.
//
// Flow. For each CRD whose status names more stored versions than its storage version: every object is patched with
// nothing, which makes the API server store it anew; then the status is set. Guarantees. Safe to repeat and to
// interrupt; an object that somebody else writes meanwhile is rewritten by that.
import { CustomResourceDefinition } from '../api/neighbours.ts'
import { type KubeObject, keyOf, type Resource, resourceName, tellKey } from '../api/resource.ts'
import type { Client } from '../kube/client.ts'
import { isConflict, isNotFound, NotLeading } from '../kube/errors.ts'
import type { Right } from './controller.ts'
import type { Log } from './log.ts'

export interface Migration {
  readonly client: Pick<Client, 'get' | 'list' | 'patch'>
  readonly resources: readonly Resource[]
  readonly log: Log
}

// Core's mark: which generation of a CRD has been seen to.
const mark = 'crd-migration.cluster.x-k8s.io/observed-generation'
const pageSize = 100
const fieldManager = 'capt-migrator'

export function migrationRights(resources: readonly Resource[]): readonly Right[] {
  return [
    { resource: CustomResourceDefinition, verbs: ['get', 'patch'] },
    { resource: CustomResourceDefinition, subresource: 'status', verbs: ['patch'] },
    ...resources.map((resource): Right => ({ resource, verbs: ['list', 'patch'] })),
  ]
}

// One that fails is told and left for the next start; the others go on.
export async function migrate({ client, resources, log }: Migration): Promise<void> {
  for (const resource of resources) {
    try {
      const count = await migrateOne(client, resource)
      if (count !== undefined) log.info('stored objects were rewritten', { kind: resource.kind, count })
    } catch (error) {
      if (error instanceof NotLeading) return
      log.error('stored objects cannot be rewritten', { kind: resource.kind, error })
    }
  }
}

// How many objects were rewritten; undefined: there was nothing to do.
async function migrateOne(client: Migration['client'], resource: Resource): Promise<number | undefined> {
  const name = resourceName(resource)
  const crd = await client.get(CustomResourceDefinition, { name })
  const { uid, resourceVersion, generation = 0, annotations } = crd.metadata
  const storage = crd.spec.versions.find(({ storage: is }) => is)?.name
  const seen = annotations?.[mark]
  const hasOneVersion = seen === undefined && crd.spec.versions.length === 1 // and never had another
  const isSettled = hasOneVersion || seen === String(generation)
  if (storage === undefined || (isSettled && isStoredOnlyAs(storage, crd))) return undefined
  const served = crd.spec.versions.filter((each) => each.served).map((each) => `${resource.group}/${each.name}`)
  let count = 0
  let from: string | undefined
  do {
    const page = await client.list(resource, { limit: pageSize, ...(from !== undefined && { from }) })
    for (const object of page.items) if (await rewrite(client, resource, object, served)) count++
    from = page.next
  } while (from !== undefined)
  if (!isStoredOnlyAs(storage, crd)) {
    const change = { metadata: { uid, resourceVersion }, status: { storedVersions: [storage] } }
    await client.patch(CustomResourceDefinition, { name }, change, { subresource: 'status', fieldManager })
  }
  const marked = { metadata: { annotations: { [mark]: String(generation) } } }
  await client.patch(CustomResourceDefinition, { name }, marked, { fieldManager })
  return count
}

function isStoredOnlyAs(storage: string, { status }: CustomResourceDefinition): boolean {
  return status?.storedVersions?.join() === storage
}

async function rewrite(
  client: Migration['client'],
  resource: Resource,
  object: KubeObject,
  served: readonly string[],
): Promise<boolean> {
  const { uid, resourceVersion, managedFields = [] } = object.metadata
  const living = managedFields.filter(({ apiVersion = '' }) => served.includes(apiVersion))
  // An empty list would change nothing; one empty entry empties it.
  const owners = living.length === managedFields.length ? {} : { managedFields: living.length > 0 ? living : [{}] }
  try {
    await client.patch(resource, keyOf(object), { metadata: { uid, resourceVersion, ...owners } }, { fieldManager })
    return true
  } catch (error) {
    if (isConflict(error) || isNotFound(error, object.metadata.name)) return false
    throw new Error(`cannot rewrite ${tellKey(keyOf(object))}`, { cause: error })
  }
}
