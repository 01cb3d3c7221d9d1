import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Key } from '../api/resource.ts'
import { applyLabelOf, connectionSecretOf, externalNameOf, varsSecretOf, workspaceNameOf } from './identity.ts'

const everywhere = { isNamespaced: false }
const namespaced = { isNamespaced: true }
const apply = { namespace: 'team-a', name: 'demo-vpc' }

test('a Workspace is called like its apply, and with its namespace where it has none of its own', () => {
  expect(workspaceNameOf(namespaced, apply)).toBe('demo-vpc')
  expect(workspaceNameOf(everywhere, apply)).toBe('team-a.demo-vpc')
})

test('the state and the label are called with the namespace everywhere', () => {
  expect(externalNameOf(apply)).toBe('team-a.demo-vpc')
  expect(applyLabelOf(apply)).toBe('team-a.demo-vpc')
})

test('Secrets are called after their apply', () => {
  expect(varsSecretOf(apply)).toBe('demo-vpc-vars')
  expect(connectionSecretOf(apply)).toBe('demo-vpc-connection')
})

test('a name stays what it is from one version to the next, a long one too', () => {
  const long = { namespace: 'n'.repeat(41), name: 'b'.repeat(60) } // cut at its dot
  expect(externalNameOf(long)).toBe('nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn--21d6deaaaa30d1c56c60')
})

test('nobody can call an apply as the Workspace of another is called', () => {
  const long = { namespace: 'team-a', name: 'x'.repeat(100) }
  const cut = workspaceNameOf(namespaced, long)
  expect(workspaceNameOf(namespaced, { ...long, name: cut })).not.toBe(cut)
  const external = externalNameOf(long)
  expect(externalNameOf({ namespace: 'team-a', name: external.slice('team-a.'.length) })).not.toBe(external)
})

// Names as the API server takes them, many of them nearly alike, around the greatest length.
const label = (max: number) =>
  fc
    .tuple(fc.constantFrom('a', '0', 'vars'), fc.constantFrom('', '-', 'x', 'a-b', 'connection'), fc.nat(max))
    .map(([begin, fill, length]) => `${begin}${fill.repeat(length)}`.slice(0, max - 1).concat('z'))
const names = fc.array(label(63), { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'))
const keys = fc.record({ namespace: label(63), name: names })

describe('for whatever applies there are', () => {
  const pairs = fc.tuple(keys, keys).filter(([a, b]) => a.namespace !== b.namespace || a.name !== b.name)
  const isNewName =
    (nameOf: (key: Key) => string) =>
    ([a, b]: [Key, Key]) =>
      nameOf(a) !== nameOf(b)

  test('names never collide', () => {
    fc.assert(fc.property(pairs, isNewName(externalNameOf)))
    fc.assert(
      fc.property(
        pairs,
        isNewName((key) => workspaceNameOf(everywhere, key)),
      ),
    )
    const neighbours = pairs.filter(([a, b]) => a.name !== b.name)
    fc.assert(
      fc.property(
        neighbours,
        isNewName((key) => workspaceNameOf(namespaced, key)),
      ),
    )
    fc.assert(
      fc.property(neighbours, ([a, b]) => {
        const secrets = [a, b].flatMap((key) => [varsSecretOf(key), connectionSecretOf(key)])
        expect(new Set(secrets).size).toBe(4)
      }),
    )
  })

  test('names are legal, as the name of an object and as the value of a label', () => {
    const subdomain = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/
    fc.assert(
      fc.property(keys, (key) => {
        for (const name of [externalNameOf(key), workspaceNameOf(namespaced, key), workspaceNameOf(everywhere, key)]) {
          expect(name).toMatch(subdomain)
          expect(name.length).toBeLessThanOrEqual(63)
        }
        for (const name of [varsSecretOf(key), connectionSecretOf(key)]) {
          expect(name).toMatch(subdomain)
          expect(name.length).toBeLessThanOrEqual(253)
        }
      }),
    )
  })
})
