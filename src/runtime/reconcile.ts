// Carries a plan out: the only place where a plan meets the world.
//
// Flow. Effects in their order, up to the first that fails; then the status. Guarantees. The conditions are told even when
// an effect failed, but for what rests on it, and other status only when all of them held. Nothing is sent that
// would change nothing, and a status that turns nothing may be put off, where whoever asks comes again. Every write
// carries the uid or the resource version of what it was decided on, so that it is refused when the world has moved on.
// Assumptions. A plan is safe to repeat: half of it may have happened in an earlier life. Caveats. After a write the cache
// may be old for a moment; names are deterministic and effects repeatable, so the next pass does no harm.
import { type Condition, type Telling, tellConditions } from '../api/condition.ts'
import type { Kind } from '../api/kind.ts'
import { isRecord, isWithin, type JsonRecord } from '../api/record.ts'
import { type KubeObject, keyOf, type Resource, tellRef } from '../api/resource.ts'
import { saidDespite } from '../api/setback.ts'
import type { Client } from '../kube/client.ts'
import { isConflict, isContested, isNotFound, NotLeading } from '../kube/errors.ts'
import type { Read } from './cache.ts'
import { type Effect, joined, type Plan, type Ref, type Wake } from './plan.ts'

export interface Hands {
  readonly client: Client
  readonly read: Read
  readonly fieldManager: string
  readonly now: () => string // as conditions write time
  record(subject: KubeObject, event: Effect & { do: 'tell' }): void
  count(what: Effect & { do: 'count' }): void
}

export interface CarriedOut {
  readonly did: readonly string[]
  readonly says: string // conditions, when they were written
  readonly written: readonly Written[]
  readonly wake: Wake
  readonly isPutOff: boolean // there is more to say
}

// What the cache will know of in a moment.
export interface Written extends Ref {
  readonly version: string | undefined
}

export type Subject = KubeObject & { readonly status?: unknown }

// Comes again soon when something that must be gone first is still there and no watch may tell of its end.
const lookAgain: Wake = { afterSeconds: 5 }

export async function carryOut(
  kind: Kind,
  subject: Subject,
  plan: Plan,
  hands: Hands,
  mayWait = false, // what it says, where nobody can be waiting for it
): Promise<CarriedOut> {
  const did: string[] = []
  const written: Written[] = []
  let now = subject
  let { wake } = plan
  let failure: Error | undefined
  for (const effect of joined(plan.effects, subject)) {
    try {
      const done = await perform(effect, kind, now, hands)
      if (done.did !== undefined) did.push(done.did)
      if (done.written) written.push(done.written)
      now = done.subject ?? now
      wake = done.wake ?? wake
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
      break
    }
  }
  const passes = failure instanceof NotLeading || (isConflict(failure) && !isContested(failure))
  const before = conditionsOf(subject)
  const why = passes ? undefined : failure?.message
  const said = failure ? saidDespite({ words: kind.words, said: plan.conditions, before, why }) : plan.conditions
  const isLeaving = now.metadata.deletionTimestamp !== undefined // and goes by what it has said
  // It may be gone by now, its last finalizer with it.
  const isGone = isLeaving && !now.metadata.finalizers?.length
  const others = failure ? 'stay' : plan.others
  const status = failure ? {} : (plan.status ?? {})
  const isPatient = mayWait && !failure && !isLeaving && !plan.effects.some(isSaidOnce)
  const { says, left, isPutOff } = isGone
    ? { says: '', left: now, isPutOff: false }
    : await writeStatus(kind, now, { said, others, status, isPatient }, hands)
  if (failure) throw failure
  if (left !== subject) written.push(writtenAs(kind, left))
  return { did, says, written, wake, isPutOff }
}

function writtenAs(resource: Resource, object: KubeObject): Written {
  return { resource, key: keyOf(object), version: object.metadata.resourceVersion }
}

// It is told with the status that says the same, which keeps it from being told again.
function isSaidOnce({ do: what }: Effect): boolean {
  return what === 'tell' || what === 'count'
}

interface Performed {
  readonly did?: string
  readonly written?: Written // another object than the subject
  readonly subject?: Subject
  readonly wake?: Wake
}

async function perform(effect: Effect, kind: Kind, subject: Subject, hands: Hands): Promise<Performed> {
  const { client, read, fieldManager } = hands
  switch (effect.do) {
    case 'apply': {
      const { resource, object, fieldManager: manager = fieldManager } = effect
      const existing = read.get(resource, keyOf(object))
      if (existing && isTold(object, existing)) return {}
      const { uid = existing?.metadata.uid } = object.metadata
      const wanted = uid === undefined ? object : { ...object, metadata: { ...object.metadata, uid } }
      // By force only where we know whose it is: what is in our way unseen must not be overrun.
      const applied = await client.apply(resource, wanted, { fieldManager: manager, force: uid !== undefined })
      return { did: `apply ${tellRef(resource, keyOf(object))}`, written: writtenAs(resource, applied) }
    }
    case 'patch': {
      const { resource, object, change } = effect
      const isSubject = object.metadata.uid === subject.metadata.uid
      const fenced = { ...change, metadata: { ...metadataOf(change), ...fence(isSubject ? subject : object) } }
      const patched = await unlessGone(client.patch<Subject>(resource, keyOf(object), fenced, { fieldManager }), object)
      return {
        did: `patch ${tellRef(resource, keyOf(object))}`,
        ...(isSubject && patched && { subject: patched }),
      }
    }
    case 'delete': {
      const { resource, object } = effect
      const { uid } = object.metadata
      await unlessGone(client.remove(resource, keyOf(object), uid === undefined ? {} : { uid }), object)
      return { did: `delete ${tellRef(resource, keyOf(object))}` }
    }
    case 'addFinalizer': {
      const finalizers = subject.metadata.finalizers ?? []
      if (finalizers.includes(effect.finalizer)) return {}
      const patched = await patchFinalizers(kind, subject, [...finalizers, effect.finalizer], hands)
      return { did: 'addFinalizer', ...(patched && { subject: patched }) }
    }
    case 'removeFinalizer': {
      const finalizers = subject.metadata.finalizers ?? []
      if (!finalizers.includes(effect.finalizer)) return {}
      for (const ref of effect.onceGone) {
        if (await isThere(client, ref)) return { wake: lookAgain }
      }
      const left = finalizers.filter((each) => each !== effect.finalizer)
      const patched = await patchFinalizers(kind, subject, left, hands)
      return {
        did: 'removeFinalizer',
        subject: patched ?? { ...subject, metadata: { ...subject.metadata, finalizers: [] } },
      }
    }
    case 'tell':
      hands.record(subject, effect)
      return {}
    case 'count':
      hands.count(effect)
      return {}
  }
}

// Undefined: the subject has left meanwhile, which is no failure.
async function patchFinalizers(
  kind: Kind,
  subject: Subject,
  finalizers: readonly string[],
  { client, fieldManager }: Hands,
): Promise<Subject | undefined> {
  const change = { metadata: { ...fence(subject), finalizers } }
  return unlessGone(client.patch<Subject>(kind, keyOf(subject), change, { fieldManager }), subject)
}

interface Saying extends Pick<Telling, 'said' | 'others'> {
  readonly status: JsonRecord
  readonly isPatient: boolean
}

interface Told {
  readonly says: string
  readonly left: Subject // as it is now
  readonly isPutOff: boolean
}

async function writeStatus(
  kind: Kind,
  subject: Subject,
  { said, others, status: further, isPatient }: Saying,
  { client, fieldManager, now }: Hands,
): Promise<Told> {
  const { generation = 0 } = subject.metadata
  const before = conditionsOf(subject)
  const conditions = tellConditions(before, { words: kind.words, said, others, generation, now: now() })
  const saidNothing = said.length === 0 && others === 'stay'
  const status = saidNothing ? further : { ...further, conditions, observedGeneration: generation }
  if (isWithin(status, subject.status ?? {})) return { says: '', left: subject, isPutOff: false }
  if (isPatient && !isTurn(before, conditions)) return { says: '', left: subject, isPutOff: true }
  const change = { metadata: fence(subject), status }
  const how = { subresource: 'status', fieldManager } as const
  const patched = await unlessGone(client.patch<Subject>(kind, keyOf(subject), change, how), subject)
  const says = conditions.map(({ type, status: is, reason }) => `${type}=${is}(${reason})`).join(' ')
  return { says, left: patched ?? subject, isPutOff: false }
}

// What people and programs wait for.
function isTurn(before: readonly Condition[], after: readonly Condition[]): boolean {
  const isTrue = (all: readonly Condition[], type: string) =>
    all.some((each) => each.type === type && each.status === 'True')
  return ['Ready', 'Available'].some((type) => isTrue(before, type) !== isTrue(after, type))
}

// The uid alone would be refused as a change of it (422); beside the resource version a mismatch is a conflict.
function fence({ metadata: { uid, resourceVersion } }: Pick<KubeObject, 'metadata'>) {
  return { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) }
}

function metadataOf({ metadata }: JsonRecord): JsonRecord {
  return isRecord(metadata) ? metadata : {}
}

// Finalizers and owners are sets that several share; everything else that is said of an object is said as a whole.
function isTold(
  { metadata: { finalizers = [], ownerReferences = [], ...metadata }, ...object }: KubeObject,
  existing: KubeObject,
): boolean {
  const { finalizers: theirs = [], ownerReferences: owners = [] } = existing.metadata
  return (
    isWithin({ ...object, metadata }, existing) &&
    finalizers.every((each) => theirs.includes(each)) &&
    ownerReferences.every((each) => owners.some((owner) => isWithin(each, owner)))
  )
}

async function isThere(client: Client, { resource, key }: Ref): Promise<boolean> {
  try {
    await client.get(resource, key)
    return true
  } catch (error) {
    if (isNotFound(error, key.name)) return false
    throw error
  }
}

async function unlessGone<T>(asked: Promise<T>, { metadata: { name } }: KubeObject): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (isNotFound(error, name)) return undefined
    throw error
  }
}

function conditionsOf({ status }: Subject): readonly Condition[] {
  const { conditions } = (status ?? {}) as { readonly conditions?: readonly Condition[] }
  return conditions ?? []
}
