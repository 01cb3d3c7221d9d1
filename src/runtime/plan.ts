// What a controller wants: a plan, as plain data. Pure: nothing is done here, so that a judge may import it.

import type { Said } from '../api/condition.ts'
import { handsOffAnnotations, pausedAnnotation } from '../api/contract.ts'
import { isRecord, type JsonRecord } from '../api/record.ts'
import type { Key, KubeObject, Resource } from '../api/resource.ts'

export interface Ref {
  readonly resource: Resource
  readonly key: Key
}

export type Effect =
  // Server-side apply of what we want of an object; not sent when the object already says all of it. An object whose
  // wishes can become fewer carries an annotation that changes with them. What the cache does not know is made, but
  // never taken from somebody else.
  | {
      readonly do: 'apply'
      readonly resource: Resource
      readonly object: KubeObject
      readonly fieldManager?: string // none: the controller's own
    }
  // Merge patch of that very object as it was seen, be it the subject or another one.
  | { readonly do: 'patch'; readonly resource: Resource; readonly object: KubeObject; readonly change: JsonRecord }
  | { readonly do: 'delete'; readonly resource: Resource; readonly object: KubeObject } // that very object, by its uid
  | { readonly do: 'addFinalizer'; readonly finalizer: string }
  // Only once a live read has confirmed that all of `onceGone` are gone.
  | { readonly do: 'removeFinalizer'; readonly finalizer: string; readonly onceGone: readonly Ref[] }
  | { readonly do: 'tell'; readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly note: string } // an event
  | { readonly do: 'count'; readonly what: 'secretErrors'; readonly reason: string } // in the metrics

export type Wake = 'onChange' | { readonly afterSeconds: number }

export function wakeAfter(afterSeconds: number | undefined): Wake {
  return afterSeconds === undefined ? 'onChange' : { afterSeconds }
}

export interface Plan {
  readonly effects: readonly Effect[]
  readonly conditions: readonly Said[]
  // What becomes of conditions of the kind that are not said: they are written as Unknown, so that nothing stale
  // survives, unless they are to stay (paused, ownerless, managed elsewhere: nothing was looked at).
  readonly others?: 'stay'
  readonly status?: Readonly<Record<string, unknown>> // merged into the status, only if every effect held
  readonly wake: Wake
}

// A finalizer that an object lacks and the change of it that comes next are one write.
export function joined(effects: readonly Effect[], subject: KubeObject): readonly Effect[] {
  const { uid, finalizers = [] } = subject.metadata
  const at = effects.findIndex((each) => each.do === 'addFinalizer' && !finalizers.includes(each.finalizer))
  const [first, next] = [effects[at], effects[at + 1]]
  if (first?.do !== 'addFinalizer' || next?.do !== 'patch' || next.object.metadata.uid !== uid) return effects
  const { metadata } = next.change
  const both = { finalizers: [...finalizers, first.finalizer], ...(isRecord(metadata) && metadata) }
  return [...effects.slice(0, at), { ...next, change: { ...next.change, metadata: both } }, ...effects.slice(at + 2)]
}

// Nothing to do and nothing to say.
export const idle: Plan = { effects: [], conditions: [], others: 'stay', wake: 'onChange' }

// In this order, for every controller.
export type Stage = 'handsOff' | 'ownerless' | 'paused' | 'leaving' | 'new' | 'live'

export interface Situation {
  readonly object: KubeObject
  // Of kinds that Cluster API core owns: the Cluster. `none`: core has not put its owner reference on it yet; `gone`: it
  // has, and the Cluster is no longer there.
  readonly cluster?: { readonly spec?: { readonly paused?: boolean } } | 'none' | 'gone'
  readonly isPaused?: boolean // by what it belongs to, where that is no Cluster of its own
  readonly finalizer?: string // none: it may go without us
}

export function stageOf({ object: { metadata }, cluster, isPaused, finalizer }: Situation): Stage {
  const annotations = metadata.annotations ?? {}
  const isLeaving = metadata.deletionTimestamp !== undefined
  if (handsOffAnnotations.some((name) => name in annotations)) return 'handsOff'
  if (cluster === 'none' && !isLeaving) return 'ownerless'
  if (isPaused || pausedAnnotation in annotations || (typeof cluster === 'object' && cluster.spec?.paused))
    return 'paused'
  if (isLeaving) return 'leaving'
  return finalizer === undefined || metadata.finalizers?.includes(finalizer) ? 'live' : 'new'
}
