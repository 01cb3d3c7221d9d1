// Keeps a store equal to what the API server has, for ever: learns everything, then watches. It decides nothing.
//
// Flow. WatchList, or a paged LIST where the API server refuses that; then events and bookmarks; when a watch ends or
// breaks, on from the last resource version seen; when that has expired, everything anew, while readers see what was
// known. Guarantees. After each end there is a wait, growing while watches are short-lived and tell nothing, so that no API
// server is hammered. A kind that is not served counts as one without objects, but only when an API server that calls itself ready
// has said so twice; of a kind that may well be absent its list of what it serves is believed at once, and without a word.
import { type KubeObject, type Resource, resourceName } from '../api/resource.ts'
import type { Client, Scope, WatchEvent } from '../kube/client.ts'
import { ApiError, isExpired, isNotServed } from '../kube/errors.ts'
import { createBackoff } from './backoff.ts'
import type { Clock } from './clock.ts'
import type { Learning, Replacing, Store } from './store.ts'

export interface Reflector {
  isSynced(): boolean // the store has been equal once
  whenSynced(): Promise<boolean> // false: it was stopped before
  lastSuccess(): number | undefined // when the API server last told something; by the clock
  restarts(): number // how often it asked again, for whatever reason
  lookAgain(): void // a kind that was not served may be by now
  stop(): void
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: Pick<Client, 'list' | 'watch' | 'ready' | 'served'>
  readonly resource: Resource<T>
  readonly scope: Scope
  readonly store: Store<T>
  readonly clock: Clock
  readonly random: () => number // from 0 up to 1
  readonly trouble: (error: unknown, againAfterMs: number) => void
}

const firstWaitMs = 200
const longestWaitMs = 30_000
const longestWaitUnreachableMs = 3000 // to knock costs nobody anything, and somebody may be back any moment
const longestRetryAfterMs = 300_000 // what a proxy in maintenance asks for must not blind us for hours
const longLifeMs = 5000 // a watch that lived so long was none that is closed at once
const notServedWaitMs = 5000
const surelyNotServedMs = 2000 // between the two times it must be said
const silentMs = 180_000 // bookmarks come every minute: a watch so silent is dead, whatever the connection says
const longestWaitAbsentMs = 60_000
const arrivingMs = 10_000
const pageSize = 500

export function startReflector<T extends KubeObject>(options: ReflectorOptions<T>): Reflector {
  const { client, resource, scope, store, clock, random, trouble } = options
  const backoff = createBackoff({ firstMs: firstWaitMs, longestMs: longestWaitMs, random })
  // Apart: how long nobody answered is no reason to keep one waiting who does.
  const knocking = createBackoff({ firstMs: firstWaitMs, longestMs: longestWaitUnreachableMs, random })
  // Of a kind that may well be absent: soon at first, for a definition is there a moment before it is served.
  const absent = createBackoff({ firstMs: firstWaitMs, longestMs: longestWaitAbsentMs, random })
  const synced = Promise.withResolvers<boolean>()
  let at: string | undefined // the resource version up to which the store knows everything
  let mustList = false // the watch was not understood
  let notServedSince: number | undefined
  let isSynced = false
  let isStopped = false
  let lastSuccess: number | undefined
  let restarts = 0
  let leave = () => {} // whatever is waited for
  let isAbsent = false // and that is no trouble
  let arrivedAt: number | undefined // it is said to be served, and is not yet

  function learnt(all: Replacing<T>, resourceVersion: string | undefined): void {
    at = resourceVersion
    isSynced = true
    synced.resolve(true)
    all.finish()
  }

  async function listAll(): Promise<void> {
    const replacing = store.startReplacing()
    for (let from = {}; ; ) {
      const { items, next, resourceVersion } = await client.list(resource, { ...scope, limit: pageSize, ...from })
      if (isStopped) return
      lastSuccess = clock.now()
      for (const object of items) replacing.put(object)
      if (next === undefined) return learnt(replacing, resourceVersion)
      from = { from: next }
    }
  }

  async function watch(): Promise<void> {
    const timeoutSeconds = 300 + Math.floor(random() * 300)
    const calling = new AbortController()
    leave = () => calling.abort(new Error('the watch was stopped'))
    let heardAt = clock.now()
    let forget = () => {}
    const listen = () => {
      forget = clock.wakeAt(heardAt + silentMs, () => {
        if (clock.now() - heardAt < silentMs) return listen()
        calling.abort(new Error(`cannot watch ${resourceName(resource)}: nothing came for ${silentMs / 1000} s`))
      })
    }
    listen()
    const from = at === undefined ? { initialEvents: true as const } : { resourceVersion: at }
    let replacing = at === undefined ? store.startReplacing() : undefined
    try {
      for await (const event of client.watch(resource, { ...scope, ...from, timeoutSeconds }, calling.signal)) {
        if (isStopped) return
        lastSuccess = heardAt = clock.now()
        if (event.type === 'BOOKMARK') {
          if (!replacing) at = event.resourceVersion
          else if (!event.isInitialEnd)
            break // it does not know what it was asked
          else learnt(replacing, event.resourceVersion)
          replacing = undefined
        } else {
          hear(event, replacing ?? store)
          if (!replacing) at = event.object.metadata.resourceVersion
        }
      }
      lastSuccess = clock.now()
      mustList = replacing !== undefined
    } catch (error) {
      mustList = error instanceof ApiError && (error.code === 400 || error.code === 422)
      if (mustList) at = undefined
      throw error
    } finally {
      forget()
    }
  }

  async function run(): Promise<void> {
    for (;;) {
      const [began, knew] = [clock.now(), at]
      try {
        if (at === undefined && mustList) await listAll()
        if (isStopped) return
        await watch()
        notServedSince = undefined
        arrivedAt = undefined
        absent.reset()
        // An API server that is busy ends watches whose events it cannot get rid of: to be told less often then helps nobody.
        if (at !== knew) backoff.reset()
        await pause(nextWait(began))
      } catch (error) {
        if (isStopped) return
        if (isNotServed(error)) await considerNotServed()
        else notServedSince = undefined
        const waitMs = isAbsent ? absent.next() : waitAfter(error, began)
        if (!isAbsent) trouble(error, waitMs)
        await pause(waitMs)
      }
      isAbsent = false
      if (isStopped) return
      restarts++
    }
  }

  function nextWait(began: number): number {
    knocking.reset()
    if (clock.now() - began >= longLifeMs) backoff.reset()
    return backoff.next()
  }

  function waitAfter(error: unknown, began: number): number {
    if (isNotServed(error)) return notServedWaitMs * (0.5 + random() / 2)
    if (isExpired(error)) at = undefined
    if (error instanceof ApiError && error.isUnreachable) return knocking.next()
    const wait = nextWait(began)
    if (!(error instanceof ApiError)) return wait
    return Math.max(wait, Math.min((error.retryAfterSeconds ?? 0) * 1000, longestRetryAfterMs))
  }

  // What an API server says of a kind it does not serve, any Go proxy says of everything: believed only together with
  // readiness, and twice.
  async function considerNotServed(): Promise<void> {
    at = undefined
    if (!(await client.ready())) return void (notServedSince = undefined)
    notServedSince ??= clock.now()
    const isUnheardOf = resource.isOptional === true && (await isUnknown())
    isAbsent = isUnheardOf || (resource.isOptional === true && isArriving())
    if (isStopped || (!isUnheardOf && clock.now() - notServedSince < surelyNotServedMs)) return
    lastSuccess = clock.now()
    learnt(store.startReplacing(), undefined)
  }

  async function isUnknown(): Promise<boolean> {
    try {
      const served = await client.served(resource.group, resource.version)
      const isKnown = served.some(({ plural }) => plural === resource.plural)
      if (!isKnown) arrivedAt = undefined
      return !isKnown
    } catch {
      return false
    }
  }

  // Between being told of and being served there is a moment. Only what was absent before can arrive.
  function isArriving(): boolean {
    if (!isSynced) return false
    if (arrivedAt === undefined) absent.reset()
    arrivedAt ??= clock.now()
    return clock.now() - arrivedAt < arrivingMs
  }

  async function pause(ms: number): Promise<void> {
    if (isStopped) return
    await new Promise<void>((resolve) => {
      const callOff = clock.wakeAt(clock.now() + ms, resolve)
      leave = () => {
        callOff()
        resolve()
      }
    })
  }

  void run()
  return {
    isSynced: () => isSynced,
    whenSynced: async () => synced.promise,
    lastSuccess: () => lastSuccess,
    restarts: () => restarts,
    lookAgain() {
      absent.reset()
      if (isAbsent) leave()
    },
    stop() {
      isStopped = true
      leave()
      synced.resolve(false)
    },
  }
}

function hear<T>({ type, object }: Exclude<WatchEvent<T>, { type: 'BOOKMARK' }>, learning: Learning<T>): void {
  if (type === 'DELETED') learning.remove(object)
  else learning.put(object)
}
