import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPool, hashOf } from './pool.ts'

test('whatever it walks stays equal to what it was', () => {
  const pool = createPool()
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const copy = structuredClone(value)
      pool(copy)
      expect(copy).toEqual(value)
    }),
  )
})

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

test('thousands of objects share the words they have in common', () => {
  const text = JSON.stringify({ kind: 'Cluster', conditions: Array.from({ length: 20 }, () => 'word-'.repeat(8)) })
  const bytesOf = (pool: (value: unknown) => void) => {
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    const kept = Array.from({ length: 5000 }, () => {
      const value: unknown = JSON.parse(text)
      pool(value)
      return value
    })
    collectGarbage()
    const bytes = process.memoryUsage().heapUsed - before
    expect(kept).toHaveLength(5000)
    return bytes
  }
  const without = bytesOf(() => {})
  expect(bytesOf(createPool())).toBeLessThan(without / 2)
})

test('hashes of many keys fall evenly into a few groups', () => {
  const groups = Array.from({ length: 64 }, () => 0)
  for (let index = 0; index < 6400; index++) {
    const group = hashOf(`team-${index % 7}/cluster-${index}`) % 64
    groups[group] = (groups[group] ?? 0) + 1
  }
  expect(Math.max(...groups)).toBeLessThan(200)
  expect(Math.min(...groups)).toBeGreaterThan(20)
})
