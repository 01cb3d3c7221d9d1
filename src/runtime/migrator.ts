// Rewrites stored objects when a CRD has got a new storage version, so that the old one can be dropped later. clusterctl
// does this no longer. Also forgets, per object, who owned which field in versions that are served no more: with such an
// entry left, the API server refuses to patch the object.
//
// Flow. For each CRD whose status names more stored versions than its storage version: every object is patched with
// nothing, which makes the API server store it anew; then the status is set. A CRD that cannot be seen to now is tried
// again: just after it was changed, the API server says for a moment that its storage is not ready. Guarantees. Safe to
// repeat and to interrupt; what somebody else writes meanwhile is not overwritten.
import { CustomResourceDefinition } from '../api/neighbours.ts'
import { type KubeObject, keyOf, type Resource, resourceName, tellKey } from '../api/resource.ts'
import type { Client } from '../kube/client.ts'
import { isConflict, isNotFound, NotLeading } from '../kube/errors.ts'
import { createBackoff } from './backoff.ts'
import type { Clock } from './clock.ts'
import type { Right } from './controller.ts'
import type { Log } from './log.ts'

export interface Migration {
  readonly client: Pick<Client, 'get' | 'list' | 'patch'>
  readonly resources: readonly Resource[]
  readonly clock: Clock
  readonly log: Log
}

// Core's mark: which generation of a CRD has been seen to.
const mark = 'crd-migration.cluster.x-k8s.io/observed-generation'
const pageSize = 100
const tries = 6 // in half a minute
const fieldManager = 'capt-migrator'

export function migrationRights(resources: readonly Resource[]): readonly Right[] {
  return [
    { resource: CustomResourceDefinition, verbs: ['get', 'patch'] },
    { resource: CustomResourceDefinition, subresource: 'status', verbs: ['patch'] },
    ...resources.map((resource): Right => ({ resource, verbs: ['list', 'patch'] })),
  ]
}

// One that fails to the last is told and left for the next start; the others go on.
export async function migrate({ client, resources, clock, log }: Migration): Promise<void> {
  const backoff = createBackoff({ firstMs: 1000, longestMs: 30_000, random: Math.random })
  let left = resources
  for (let attempt = 1; left.length > 0 && attempt <= tries; attempt++) {
    if (attempt > 1) await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + backoff.next(), resolve))
    const failed: Resource[] = []
    for (const resource of left) {
      const { kind } = resource
      try {
        const count = await migrateOne(client, resource)
        if (count !== undefined) log.info('stored objects were rewritten', { kind, count })
      } catch (error) {
        if (error instanceof NotLeading) return
        failed.push(resource)
        if (attempt === tries) log.error('stored objects cannot be rewritten', { kind, error })
      }
    }
    left = failed
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
  const overtaken: string[] = []
  let count = 0
  let from: string | undefined
  do {
    const page = await client.list(resource, { limit: pageSize, ...(from !== undefined && { from }) })
    for (const object of page.items) {
      const outcome = await rewrite(client, resource, object, served)
      if (outcome === 'done') count++
      if (outcome === 'overtaken') overtaken.push(tellKey(keyOf(object)))
    }
    from = page.next
  } while (from !== undefined)
  if (overtaken.length > 0) throw new Error(`cannot rewrite ${overtaken.join(', ')}: changed by others meanwhile`)
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
): Promise<'done' | 'overtaken' | 'gone'> {
  const { uid, resourceVersion, managedFields = [] } = object.metadata
  const living = managedFields.filter(({ apiVersion = '' }) => served.includes(apiVersion))
  // An empty list would change nothing; one empty entry empties it.
  const owners = living.length === managedFields.length ? {} : { managedFields: living.length > 0 ? living : [{}] }
  try {
    await client.patch(resource, keyOf(object), { metadata: { uid, resourceVersion, ...owners } }, { fieldManager })
    return 'done'
  } catch (error) {
    if (isConflict(error)) return 'overtaken' // stored anew by that, but who owned its fields is still to be forgotten
    if (isNotFound(error, object.metadata.name)) return 'gone'
    throw error
  }
}
