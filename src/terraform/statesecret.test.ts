import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { heldLease, lockOf, readState, stateKey, stateSecretOf } from './statesecret.ts'

const key = stateKey({ namespace: 'states', suffix: 'capt' }, 'team.demo-net')
const bytes = gzipSync(JSON.stringify({ version: 4, lineage: 'l', serial: 3, resources: [] }))

test('a state is written as the backend writes one, and read again', async () => {
  const secret = stateSecretOf(key, 'team.demo-net', bytes)
  expect(secret).toMatchObject({
    metadata: {
      namespace: 'states',
      name: 'tfstate-team.demo-net-capt',
      labels: {
        'app.kubernetes.io/managed-by': 'terraform',
        tfstate: 'true',
        tfstateSecretSuffix: 'capt',
        tfstateWorkspace: 'team.demo-net',
      },
      annotations: { encoding: 'gzip' },
    },
    type: 'Opaque',
  })
  const state = await readState(async ({ name }) => (name === key.name ? secret : undefined), key)
  expect(state.head).toEqual({ lineage: 'l', serial: 3, isEmpty: true })
})

test.each<[string, string, Buffer]>([
  ['of another workspace', 'other.demo', Buffer.alloc(2)],
  ['too large for a Secret', 'team.demo-net', Buffer.alloc(1_000_001)],
])('no Secret is made of one that is %s', (_, workspace, all) => {
  expect(stateSecretOf(key, workspace, all)).toBeUndefined()
})

test('a lock says who holds it', () => {
  const lock = { id: 'abc', who: 'me@here', operation: 'capt state restore', created: '2026-11-17T12:00:00Z' }
  const lease = heldLease(key, 'team.demo-net', lock)
  expect(lease.metadata.name).toBe('lock-tfstate-team.demo-net-capt')
  expect(lockOf(lease)).toEqual(lock)
  expect(lockOf({ ...lease, spec: {} })).toBeUndefined()
})
