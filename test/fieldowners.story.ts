// What test/fieldowners.ts keeps book of in memory, a real API server writes down just so.
import { afterAll, expect, test } from 'vitest'
import { createClient } from '../src/kube/client.ts'
import { findAccess } from '../src/kube/find.ts'
import { theBed } from './bed/story.ts'
import { cases, play } from './fieldowners.cases.ts'

const bed = theBed()
const client = createClient(findAccess({ kubeconfig: bed.kubeconfig, env: {} }))
afterAll(() => client.close())

test('a real API server knows who owns what, after the same writes', async () => {
  const namespace = await bed.namespace('owners')
  for (const [index, { when, writes, owners }] of cases.entries()) {
    expect.soft(await play(client, { namespace, name: `case-${index}` }, writes), when).toEqual(owners)
  }
})
