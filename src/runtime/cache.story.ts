import { expect, onTestFinished, test } from 'vitest'
import { theBed } from '../../test/bed/story.ts'
import { aClient } from '../../test/reaching.ts'
import { until } from '../../test/until.ts'
import { Secret } from '../api/neighbours.ts'
import { tellKey } from '../api/resource.ts'
import { createCache } from './cache.ts'
import { systemClock } from './clock.ts'

const bed = theBed()

test('Secrets are known by their metadata, each once however many watches see it, and never by their bytes', async () => {
  const namespace = await bed.namespace('cache')
  const client = aClient(bed.kubeconfig)
  const troubles: string[] = []
  const told: string[] = []
  const cache = createCache({
    client,
    clock: systemClock,
    random: Math.random,
    trouble: (_, error) => void troubles.push(String(error)),
  })
  onTestFinished(cache.stop)
  const labels = 'capt.appthrust.io/watch'
  cache.watch(Secret, { scope: { namespace, labels }, onChange: ({ what, key }) => void told.push(`${what} ${key}`) })
  cache.watch(Secret, { scope: { namespace, fields: 'type=cluster.x-k8s.io/secret' } })
  cache.start()
  expect(await cache.whenSynced()).toBe(true)

  const aSecret = (name: string, type: string, label: boolean): Secret => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace, ...(label && { labels: { 'capt.appthrust.io/watch': '' } }) },
    type,
    data: { token: Buffer.from('s3cr3t').toString('base64') },
  })
  const theirs = 'cluster.x-k8s.io/secret'
  for (const secret of [
    aSecret('by-label', 'Opaque', true),
    aSecret('by-type', theirs, false),
    aSecret('by-both', theirs, true),
    aSecret('by-none', 'Opaque', false),
  ])
    await client.create(Secret, secret)
  const known = () => cache.list(Secret).map(({ metadata }) => metadata.name)
  const sees = async (...names: readonly string[]) =>
    until(`the cache knows ${names.join()}; troubles: ${troubles.join()}`, async () =>
      known().toSorted().join() === names.join() ? true : undefined,
    )
  await sees('by-both', 'by-label', 'by-type')
  expect(JSON.stringify(cache.list(Secret))).not.toContain(Buffer.from('s3cr3t').toString('base64'))

  // Without its label one watch has lost it; the other still knows it.
  const key = { namespace, name: 'by-both' }
  await client.patch(Secret, key, { metadata: { labels: { 'capt.appthrust.io/watch': null } } })
  const labelsOf = () => cache.get(Secret, key)?.metadata.labels
  await until('its label is gone', async () =>
    labelsOf()?.['capt.appthrust.io/watch'] === undefined ? true : undefined,
  )
  await sees('by-both', 'by-label', 'by-type')
  await client.remove(Secret, key)
  await sees('by-label', 'by-type')
  await until('its end is told', async () => (told.includes(`removed ${tellKey(key)}`) ? true : undefined))
})
