import { expect, test, vi } from 'vitest'
import * as z from 'zod'

test('no schema is built before somebody asks for it, and none twice', async () => {
  // Every schema with a description is entered into zod's registry when it is built.
  const entered = vi.spyOn(z.globalRegistry, 'add')
  const { kinds } = await import('./kinds.ts')
  expect(entered).not.toHaveBeenCalled()

  for (const { spec, status } of kinds) {
    const before = entered.mock.calls.length
    const [first, second] = [spec(), status()]
    expect(entered.mock.calls.length).toBeGreaterThan(before)
    expect(spec()).toBe(first)
    expect(status()).toBe(second)
  }
})
