import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isObjectName } from './fields.ts'
import { applyNamed } from './name.ts'

const part = (most: number) => fc.stringMatching(new RegExp(`^[a-z0-9]([a-z0-9-]{0,${most - 2}}[a-z0-9])?$`))

test.each([
  ['demo-vpc', 'demo-vpc'],
  [`${'n'.repeat(46)}-eks-controlplane`, `${'n'.repeat(46)}-eks-controlplane`],
  [`${'n'.repeat(47)}-eks-controlplane`, `${'n'.repeat(42)}-19bedf7098b3e3c42c26`],
])('%s is called %s', (name, called) => {
  expect(applyNamed(name)).toBe(called)
})

test('every name is one that the API server takes, and no two are the same', () => {
  fc.assert(
    fc.property(part(200), part(3), part(3), (begun, one, other) => {
      const [name, another] = [one, other].map((each) => applyNamed(`${begun}${each}-eks-controlplane`))
      expect(name?.length).toBeLessThanOrEqual(63)
      expect(isObjectName(name ?? '')).toBe(true)
      expect(name === another).toBe(one === other)
    }),
  )
})

test('a name is not cut behind a dot', () => {
  expect(applyNamed(`${'n'.repeat(41)}.${'n'.repeat(30)}`)).toMatch(/^n{41}--/)
})
