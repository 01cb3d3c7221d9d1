// What there is at a moment, with everything masked that differs from life to life, so that lives can be compared.
import type { Condition } from '../src/api/condition.ts'
import { annotations as ours } from '../src/api/keys.ts'
import { isRecord, isWithin, readJson } from '../src/api/record.ts'
import type { KubeObject } from '../src/api/resource.ts'
import { until } from './until.ts'

export type Masked = Readonly<Record<string, unknown>> // by kind and name

export interface Stage {
  readonly after: string
  readonly objects: Masked
}

export function maskedAll(objects: readonly KubeObject[], namespace: string): Masked {
  const all = Map.groupBy(
    objects.map((object) => masked(object, namespace)),
    ([name]) => name,
  )
  // Names, too, may differ from life to life: then there are several of one.
  const sorted = [...all].map(
    ([name, each]) => [name, each.map(([, object]) => JSON.stringify(object)).toSorted()] as const,
  )
  return Object.fromEntries(sorted.map(([name, texts]) => [name, texts.map((text): unknown => JSON.parse(text))]))
}

// Looks until all is as it should be or, where nobody knows how, until nothing has been new for a while.
export async function seeQuiet(
  look: () => Promise<Masked>,
  { everyMs, quietMs }: { readonly everyMs: number; readonly quietMs: number },
  like?: Masked,
): Promise<Masked> {
  let seen: Masked = {}
  let since = Number.POSITIVE_INFINITY // nothing was new
  const again = async () => {
    const before = seen
    seen = await look()
    since = isSame(seen, before) ? Math.min(since, Date.now()) : Number.POSITIVE_INFINITY
    return (like ? isSame(seen, like) : Date.now() - since > quietMs) || undefined
  }
  await until('all is quiet', again, { everyMs, withinSeconds: 20 }).catch(() => {}) // who compares shows how it differs
  return seen
}

function isSame(a: Masked, b: Masked): boolean {
  return isWithin(a, b) && isWithin(b, a)
}

// Its name, and the object without what differs from life to life: times, uids, hashes, and what was planned when.
function masked(object: KubeObject, namespace: string): readonly [string, unknown] {
  const { managedFields: _, resourceVersion: __, annotations = {}, ...metadata } = object.metadata
  const { [ours.plan]: ___, [ours.approve]: ____, [ours.state]: _____, ...notes } = annotations
  const text = JSON.stringify({ ...object, metadata: { ...metadata, annotations: notes } }, (key, value: unknown) => {
    if (key === 'conditions') return (value as readonly Condition[]).toSorted(byType)
    if (key === 'finalizers') return (value as readonly string[]).toSorted() // a set
    if (key === 'run' && isOver(value)) return undefined
    return ['salt', 'plan.gz', 'inputs', 'state', 'home', 'moved', 'tfstate'].includes(key) ? '<bytes>' : value
  })
  const plain = text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/[0-9a-f]{12,64}/g, '<hash>')
    .replaceAll(namespace, '<namespace>')
  const { kind, metadata: meta } = JSON.parse(plain) as KubeObject
  return [`${kind} ${meta.name}`, JSON.parse(plain)]
}

// A run that was cut off and is over may stay in the engine's memory, so that it knows the lock it has left.
function isOver(run: unknown): boolean {
  const noted = typeof run === 'string' ? readJson(Buffer.from(run, 'base64').toString()) : undefined
  return isRecord(noted) && noted['isOver'] === true
}

function byType(a: Condition, b: Condition): number {
  return a.type.localeCompare(b.type)
}
