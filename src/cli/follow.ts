// Keeps the situation around a Cluster up to date by watches: what it finds tells what more to watch. It judges nothing.
import { type KubeObject, type Resource, slim } from '../api/resource.ts'
import type { Client } from '../kube/client.ts'
import { ApiError, isNotServed } from '../kube/errors.ts'
import type { Clock } from '../runtime/clock.ts'
import { type Reflector, startReflector } from '../runtime/reflector.ts'
import { createStore, type Store } from '../runtime/store.ts'
import { type Situation, type Unseen, type Wanted, wantedIn } from '../view/situation.ts'
import { type Complaint, complaintAbout, forbidden } from './complaint.ts'

export interface FollowOptions {
  readonly client: Pick<Client, 'list' | 'watch' | 'ready' | 'served' | 'versions'>
  readonly server: string
  readonly clock: Clock
  readonly namespace: string
  readonly name: string
  readonly onChange: () => void // the situation is another; told once all of it is known
  readonly onAway: (complaint: Complaint) => void // what is known may be old
}

export interface Following {
  situation(): Situation
  whenKnown(): Promise<void> // throws a Complaint when it cannot be
  stop(): void
}

interface Followed {
  readonly wanted: Wanted
  store?: Store<KubeObject>
  reflector?: Reflector
  unseen?: string // why
}

const lookAgainMs = 2000
const patienceMs = 15_000

export function follow(options: FollowOptions): Following {
  const { client, server, clock, namespace, name, onChange, onAway } = options
  const followed = new Map<string, Followed>()
  const known = Promise.withResolvers<void>()
  const later = new Set<() => void>() // what calls off what would be done
  const patientUntil = clock.now() + patienceMs
  let isKnown = false
  let isStopped = false
  let isDue = false

  function situation(): Situation {
    const all = [...followed.values()]
    const unseen = new Map(all.flatMap((each) => unseenOf(each)).map((each) => [each.kind, each]))
    return { namespace, name, objects: all.flatMap(({ store }) => objectsIn(store)), unseen: [...unseen.values()] }
  }

  // Several things change at once: they are looked at together.
  function changed(): void {
    if (isDue || isStopped) return
    isDue = true
    setImmediate(() => {
      isDue = false
      if (isStopped) return
      update()
      if (isKnown) onChange()
    })
  }

  function update(): void {
    for (const wanted of wantedIn(situation())) {
      if (!followed.has(idOf(wanted))) begin(wanted)
    }
    isKnown ||= [...followed.values()].every(
      ({ reflector, unseen }) => unseen !== undefined || reflector?.isSynced() === true,
    )
    if (isKnown) known.resolve()
  }

  function begin(wanted: Wanted): void {
    const entry: Followed = { wanted }
    followed.set(idOf(wanted), entry)
    look(entry)
  }

  // A kind that is not served may be in a moment: its definition may be new.
  function look(entry: Followed): void {
    const { kind } = entry.wanted
    resourceOf(kind).then(
      (resource) => {
        if (isStopped) return
        if (resource) return watch(entry, resource)
        entry.unseen = `the API server serves no ${kind.kind} in ${kind.group}`
        lookAgain(entry)
        changed()
      },
      (error: unknown) => {
        lookAgain(entry)
        troubled(entry, kind, error)
      },
    )
  }

  function lookAgain(entry: Followed): void {
    if (isStopped) return
    const callOff = clock.wakeAt(clock.now() + lookAgainMs, () => {
      later.delete(callOff)
      look(entry)
    })
    later.add(callOff)
  }

  // A kind of others is looked for in the versions its group is served in.
  async function resourceOf(kind: Wanted['kind']): Promise<Resource | undefined> {
    if ('plural' in kind) return kind
    for (const version of await client.versions(kind.group)) {
      const found = (await client.served(kind.group, version)).find((each) => each.kind === kind.kind)
      if (found) return { group: kind.group, version, kind: kind.kind, plural: found.plural, keep: slim }
    }
    return undefined
  }

  function watch(entry: Followed, resource: Resource): void {
    const { name: only, namespace: where, labels } = entry.wanted
    const isCluster = resource.kind === 'Cluster'
    const store = createStore<KubeObject>({ keep: slim, indexes: {}, onChange: changed })
    entry.store = store
    entry.reflector = startReflector<KubeObject>({
      client,
      resource: isCluster ? resource : { ...resource, isOptional: true },
      scope: {
        ...(where !== undefined && { namespace: where }),
        ...(only !== undefined && { fields: `metadata.name=${only}` }),
        ...(labels !== undefined && { labels }),
        ...(resource.isSecret && { metadataOnly: true }),
      },
      store,
      clock,
      random: Math.random,
      trouble: (error) => troubled(entry, resource, error),
    })
    void entry.reflector.whenSynced().then(() => {
      delete entry.unseen
      changed()
    })
  }

  function troubled(entry: Followed, kind: Wanted['kind'], error: unknown): void {
    if (isStopped) return
    const isCluster = entry.wanted.kind.kind === 'Cluster'
    const resource = { plural: `${kind.kind.toLowerCase()}s`, ...kind }
    const where = entry.wanted.namespace
    const isForbidden = error instanceof ApiError && error.code === 403
    if (!isCluster && isForbidden) {
      entry.unseen = forbidden(resource, where)
      return changed()
    }
    // Of a kind of which it is not clear yet whether it is served, it is asked again.
    if (!isCluster && isNotServed(error)) return
    if (isPassing(error) && (isKnown || clock.now() < patientUntil)) return
    const complaint = complaintAbout(error, { resource, namespace: where, server })
    if (isKnown) onAway(complaint)
    else known.reject(complaint)
  }

  known.promise.catch(() => undefined)
  update()
  return {
    situation,
    whenKnown: async () => known.promise,
    stop() {
      isStopped = true
      for (const callOff of later) callOff()
      for (const { reflector } of followed.values()) reflector?.stop()
    },
  }
}

function idOf({ kind, namespace = '', name = '' }: Wanted): string {
  return `${kind.group}/${kind.kind} ${namespace}/${name}`
}

function unseenOf({ wanted, unseen }: Followed): readonly Unseen[] {
  return unseen === undefined ? [] : [{ kind: wanted.kind.kind, why: unseen }]
}

function objectsIn(store: Store<KubeObject> | undefined): readonly KubeObject[] {
  return store ? [...store.keys()].flatMap((key) => store.get(key) ?? []) : []
}

// An API server that is busy, or begins to serve a kind, says so and answers a moment later.
function isPassing(error: unknown): boolean {
  const { code = 0 } = error instanceof ApiError ? error : {}
  return code >= 500 || [408, 409, 410, 429].includes(code)
}
