import { expect, test } from 'vitest'
import { seal } from '../api/sealed.ts'
import { createMemory } from './memory.ts'

const lasting = (minutes: number, from: number) => async () => ({
  accessKeyId: 'ASIA',
  secretAccessKey: seal('hush'),
  expires: new Date(from + minutes * 60_000),
})

test('what has ended is not kept, though nobody asks for it again', async () => {
  let now = 0
  const memory = createMemory(() => now)
  await memory.recall('short', lasting(15, now))
  await memory.recall('long', lasting(60, now))
  expect(memory.size).toBe(2)
  now = 10 * 60_000
  await memory.recall('new', lasting(60, now))
  expect(memory.size).toBe(2)
})

test('what does not say when it ends is asked for each time', async () => {
  const memory = createMemory(() => 0)
  let asked = 0
  const ask = async () => {
    asked++
    return { accessKeyId: 'AKIA', secretAccessKey: seal('hush') }
  }
  await memory.recall('one', ask)
  await memory.recall('one', ask)
  expect(asked).toBe(2)
})
