// Events: what happened to an object, for people who describe it. They are a courtesy: nothing waits for them, what cannot
// be sent is dropped, memory is bounded.
//
// Guarantees. An event is sent when it happens; happening again within ten minutes it is counted on the same Event, which
// is sent at most once a minute. An object has 25 different events at once, then one every five minutes. They are sent
// one after another.
import { hashOf } from '../api/canonical.ts'
import { microTime } from '../api/moment.ts'
import { Event } from '../api/neighbours.ts'
import { apiVersionOf, type KubeObject, keyOf, tellRef } from '../api/resource.ts'
import { shortened } from '../api/text.ts'
import type { Client } from '../kube/client.ts'
import { isAlreadyThere, isNotFound } from '../kube/errors.ts'
import type { Clock } from './clock.ts'
import { within } from './deadline.ts'

export type Happening = Pick<Event, 'type' | 'reason' | 'action' | 'note'>

export interface Recorder {
  record(regarding: KubeObject, happening: Happening): void
  // Sends what waits, for a short time; takes nothing more.
  close(): Promise<void>
}

export interface RecorderOptions {
  readonly client: Pick<Client, 'create' | 'patch'>
  readonly clock: Clock
  readonly date?: () => Date
  readonly controller: string // who reports, with its domain: capt.appthrust.io/manager
  readonly instance: string // which of them
  onTrouble(error: unknown): void // something was dropped
}

const minuteMs = 60_000
const sameWithinMs = 10 * minuteMs
const burst = 25
const refillMs = 5 * minuteMs
const remembered = 4096 // events, and objects
const longestNote = 1024 // bytes: the API server refuses more
const requestDeadlineMs = 10_000
const closeDeadlineMs = 2000
const never = Number.POSITIVE_INFINITY

// An event and how often it happened.
interface Series {
  readonly event: Event
  count: number
  lastAt: number
  lastObservedTime: string
  isThere: boolean // at the API server
  sentAt: number
  dueAt: number // when it is sent next; never: there is nothing to say
}

export function createRecorder(options: RecorderOptions): Recorder {
  const { client, clock, date = () => new Date(), controller, instance, onTrouble } = options
  const known = createRecent<Series>()
  const allowances = createRecent<{ readonly left: number; readonly at: number }>()
  let sending = Promise.resolve()
  let isSending = false
  let isClosed = false
  let callOff = () => {}

  function record(object: KubeObject, { type, reason, action, note }: Happening): void {
    if (isClosed) return
    const regarding = referenceTo(object)
    const id = hashOf([regarding, type, reason, action, note])
    const [now, time] = [clock.now(), microTime(date())]
    const before = known.get(id)
    if (before && now - before.lastAt < sameWithinMs) {
      const dueAt = before.sentAt + minuteMs
      known.set(id, Object.assign(before, { count: before.count + 1, lastAt: now, lastObservedTime: time, dueAt }))
    } else {
      if (!mayHaveAnother(hashOf(regarding), now)) return
      const { name, namespace = 'default' } = keyOf(object)
      const event: Event = {
        apiVersion: apiVersionOf(Event),
        kind: Event.kind,
        // With its time: the same a quarter of an hour later is another. Tried twice, it is still one.
        metadata: { namespace, name: eventName(name, hashOf([id, instance, time])) },
        eventTime: time,
        reportingController: controller,
        reportingInstance: instance,
        type,
        reason,
        action,
        note: shortened(note, longestNote),
        regarding,
      }
      const fresh = { count: 1, isThere: false, sentAt: now - minuteMs, dueAt: now }
      known.set(id, { event, lastAt: now, lastObservedTime: time, ...fresh })
    }
    begin()
  }

  function mayHaveAnother(id: string, now: number): boolean {
    const { left, at } = allowances.get(id) ?? { left: burst, at: now }
    const refilled = Math.min(burst, left + (now - at) / refillMs)
    allowances.set(id, { left: refilled < 1 ? refilled : refilled - 1, at: now })
    return refilled >= 1
  }

  function begin(): void {
    callOff()
    if (!isSending) sending = sendWhatIsDue()
  }

  async function sendWhatIsDue(): Promise<void> {
    isSending = true
    let next = earliest()
    for (; next && next.dueAt <= clock.now(); next = earliest()) await send(next)
    isSending = false
    if (next && !isClosed) callOff = clock.wakeAt(next.dueAt, begin)
  }

  function earliest(): Series | undefined {
    let first: Series | undefined
    for (const series of known.values()) if (series.dueAt < (first?.dueAt ?? never)) first = series
    return first
  }

  async function send(series: Series): Promise<void> {
    series.sentAt = clock.now()
    series.dueAt = never
    await post(series)
      .catch(async () => post(series))
      .catch(onTrouble)
  }

  async function post(series: Series): Promise<void> {
    const { event, count, lastObservedTime, isThere } = series
    const key = keyOf(event)
    const repeated = count > 1 ? { series: { count, lastObservedTime } } : {}
    const sent = isThere ? client.patch(Event, key, repeated) : client.create(Event, { ...event, ...repeated })
    try {
      await within(clock, requestDeadlineMs, `record ${tellRef(Event, key)}`, sent)
      series.isThere = true
    } catch (error) {
      series.isThere = isAlreadyThere(error) || (isThere && !isNotFound(error, key.name)) // deleted, or expired
      if (!isAlreadyThere(error)) throw error
    }
  }

  return {
    record,
    async close() {
      isClosed = true
      for (const series of known.values()) if (series.dueAt < never) series.dueAt = clock.now()
      begin()
      await within(clock, closeDeadlineMs, 'send the last events', sending).catch(onTrouble)
    },
  }
}

function referenceTo({ apiVersion, kind, metadata: { name, namespace, uid } }: KubeObject): Event['regarding'] {
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) }
}

// A name may have 253 characters, and no part of it between dots may end with a dash.
function eventName(object: string, hash: string): string {
  return `${object.slice(0, 200).replace(/[-.]+$/, '')}.${hash}`
}

// Remembers what was set last.
function createRecent<T>() {
  const entries = new Map<string, T>()
  return {
    get: (id: string) => entries.get(id),
    values: () => entries.values(),
    set(id: string, entry: T) {
      entries.delete(id)
      entries.set(id, entry)
      const [oldest] = entries.keys()
      if (entries.size > remembered && oldest !== undefined) entries.delete(oldest)
    },
  }
}
