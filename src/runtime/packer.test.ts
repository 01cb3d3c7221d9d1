import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPacker } from './packer.ts'

test('whatever is put away comes back equal, be it the first or a later one', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), (values) => {
      const { pack, unpack } = createPacker<unknown>()
      expect(values.map(pack).map(unpack)).toEqual(values.map((value): unknown => JSON.parse(JSON.stringify(value))))
    }),
  )
})

test('objects that are much alike take a tenth of their JSON', () => {
  const { pack, unpack } = createPacker<object>()
  const conditions = ['Ready', 'Applied', 'Synced', 'Paused', 'Deleting'].map((type) => ({
    type,
    status: 'True',
    reason: `${type}AsItShouldBe`,
    message: '',
    lastTransitionTime: '2026-11-01T08:00:00Z',
  }))
  const objects = Array.from({ length: 100 }, (_, at) => ({ name: `cluster-${at}`, text: 'ünïcödé 集群', conditions }))
  const packed = objects.map(pack)
  expect(packed.map(unpack)).toEqual(objects)
  const others = packed.slice(1).join('').length
  expect(others).toBeLessThan(JSON.stringify(objects).length / 10)
})

test('an object larger than the window comes back, too', () => {
  const { pack, unpack } = createPacker<object>()
  const large = { lines: Array.from({ length: 10_000 }, (_, at) => `line ${at * 7919} of a module`) }
  expect(unpack(pack(large))).toEqual(large)
  expect(unpack(pack({ ...large, more: 1 }))).toEqual({ ...large, more: 1 })
})
