import { expect, test } from 'vitest'
import { aHeldWorkspace, but, gone, network, noted } from '../../test/controlplanes.ts'
import { annotations } from '../api/keys.ts'
import { crossplane } from '../api/workspace.ts'
import { ApiError } from '../kube/errors.ts'
import type { Live } from '../runtime/controller.ts'
import { leftBy } from './leftworkspace.ts'

const held = aHeldWorkspace('demo-vpc')
const going = but(but(network, noted(annotations.workspace, 'tf.m.upbound.io/demo-vpc')), gone)
const answering = (answer: () => unknown) => ({ get: async () => answer() }) as unknown as Live
const refusing = (code: number, about?: string) => () => {
  throw new ApiError({ doing: 'read', code, reason: 'NotFound', message: 'x', ...(about !== undefined && { about }) })
}

test('a Workspace that is held, or being destroyed, is left; one that was let go is not', async () => {
  const found = async (workspace: object) =>
    leftBy(
      going,
      answering(() => workspace),
    )
  expect(await found(held)).toBe(held)
  const released = but(held, { metadata: { finalizers: [crossplane.finalizer] } })
  expect(await found(released)).toBeUndefined()
  const destroyed = but(released, gone)
  expect(await found(destroyed)).toBe(destroyed)
  const orphan = but(destroyed, { spec: { managementPolicies: ['Observe', 'Create', 'Update', 'LateInitialize'] } })
  expect(await found(orphan)).toBeUndefined()
})

test.each([
  ['it is gone', refusing(404, 'demo-vpc')],
  ['its kind is', refusing(404)],
])('there is none when %s', async (_, answer) => {
  expect(await leftBy(going, answering(answer))).toBeUndefined()
})

test('who cannot look does not know', async () => {
  await expect(leftBy(going, answering(refusing(403)))).rejects.toThrow('403')
})

test.each([
  ['stays', but(going, { metadata: { deletionTimestamp: undefined } })],
  ['never had one', but(network, gone)],
  ['had one of an API that nobody knows', but(going, noted(annotations.workspace, 'x.example/demo-vpc'))],
])('for what %s nobody looks', async (_, object) => {
  expect(await leftBy(object, answering(refusing(403)))).toBeUndefined()
})
