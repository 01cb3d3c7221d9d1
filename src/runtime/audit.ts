// Every write of a Secret leaves a line in the log and is counted, whoever wants it. What is written is in neither.
import { type Key, keyOf, type Resource, tellKey } from '../api/resource.ts'
import type { Client } from '../kube/client.ts'
import { ApiError } from '../kube/errors.ts'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

interface Audit {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'secretWrites' | 'secretWriteSeconds' | 'secretErrors'>
}

export function audited(client: Client, { clock, log, metrics }: Audit): Client {
  async function watch<T>(verb: string, resource: Resource, key: Key, write: () => Promise<T>): Promise<T> {
    if (!resource.isSecret) return write()
    const secret = tellKey(key)
    const began = clock.now()
    try {
      const written = await write()
      metrics.secretWrites.with({ verb }).add()
      log.info('wrote a Secret', { verb, secret })
      return written
    } catch (error) {
      const reason = error instanceof ApiError ? error.reason || String(error.code ?? 'Unreachable') : 'NotLeading'
      metrics.secretErrors.with({ reason }).add()
      log.warn('could not write a Secret', { verb, secret, reason })
      throw error
    } finally {
      metrics.secretWriteSeconds.with({ verb }).observe((clock.now() - began) / 1000)
    }
  }
  return {
    ...client,
    create: async (resource, object, how) =>
      watch('create', resource, keyOf(object), async () => client.create(resource, object, how)),
    apply: async (resource, object, how) =>
      watch('apply', resource, keyOf(object), async () => client.apply(resource, object, how)),
    patch: async (resource, key, change, how) =>
      watch('patch', resource, key, async () => client.patch(resource, key, change, how)),
    remove: async (resource, key, how) => watch('delete', resource, key, async () => client.remove(resource, key, how)),
  }
}
