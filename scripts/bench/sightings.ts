// When a watch first saw something be so of an object: both ends of an interval by one clock.
import { type Key, type KubeObject, keyOf, type Resource, tellKey } from '../../src/api/resource.ts'
import type { Client } from '../../src/kube/client.ts'
import { until } from '../../test/until.ts'

export interface Sightings<T> {
  // Waits until it is so of all of them; the moment it was seen of each.
  of(keys: readonly Key[], isSo: (object: T) => boolean): Promise<readonly number[]>
  stop(): void
}

export function watchFor<T extends KubeObject>(client: Client, resource: Resource<T>): Sightings<T> {
  const seen = new Map<string, { readonly object: T; readonly at: number }[]>()
  const calling = new AbortController()
  const follow = async () => {
    // An API server ends a watch that hears too slowly: what was missed is told at the next beginning.
    while (!calling.signal.aborted) {
      for await (const event of client.watch(resource, { initialEvents: true }, calling.signal)) {
        if (event.type === 'BOOKMARK') continue
        const key = tellKey(keyOf(event.object))
        seen.set(key, [...(seen.get(key) ?? []), { object: event.object, at: performance.now() }])
      }
    }
  }
  follow().catch((error: unknown) => {
    if (!calling.signal.aborted) throw error
  })
  return {
    async of(keys, isSo) {
      const found = new Map<string, number>()
      const find = (key: string) => {
        const at = found.get(key) ?? seen.get(key)?.find(({ object }) => isSo(object))?.at
        if (at !== undefined) found.set(key, at)
        return at
      }
      const all = async () => {
        const moments = keys.map((key) => find(tellKey(key))).filter((each) => each !== undefined)
        return moments.length === keys.length ? moments : undefined
      }
      return until(`${keys.length} ${resource.plural} are seen`, all, { withinSeconds: 600, everyMs: 20 })
    },
    stop: () => calling.abort(),
  }
}
