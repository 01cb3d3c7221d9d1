// Types of Terraform and values for them, made up.
import fc from 'fast-check'
import type { Attribute, Type } from '../src/terraform/type.ts'

const names = fc.constantFrom('a', 'b', 'name', 'size_gb', 'Zone-1')

export function anyType({ withAny = true } = {}): fc.Arbitrary<Type> {
  const primitive = fc.constantFrom<Type[]>(
    { is: 'string' },
    { is: 'number' },
    { is: 'bool' },
    ...(withAny ? [{ is: 'any' } as const] : []),
  )
  return fc.letrec<{ type: Type }>((tie) => ({
    type: fc.oneof(
      { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
      primitive,
      fc.record({ is: fc.constantFrom('list' as const, 'set' as const, 'map' as const), of: tie('type') }),
      fc.record({ is: fc.constant('tuple' as const), of: fc.array(tie('type'), { maxLength: 3 }) }),
      fc.record({
        is: fc.constant('object' as const),
        of: fc.dictionary(names, fc.record<Attribute>({ type: tie('type'), isOptional: fc.boolean() }), {
          maxKeys: 3,
          noNullPrototype: true,
        }),
      }),
    ),
  })).type
}

// A value that is meant for the type, and now and then is not.
export function valueFor(type: Type): fc.Arbitrary<unknown> {
  return fc.oneof({ arbitrary: rightValueFor(type), weight: 20 }, { arbitrary: strays, weight: 1 })
}

const strays = fc.constantFrom<unknown[]>(null, 'text', '12', 'true', 3, true, [], ['x'], {}, { a: 1 })

function rightValueFor(type: Type): fc.Arbitrary<unknown> {
  switch (type.is) {
    case 'any':
      return strays
    case 'string':
      return fc.oneof(fc.constantFrom('', 'a', 'x y', '7'), fc.integer({ min: -9, max: 9 }), fc.boolean())
    case 'number':
      return fc.oneof(
        fc.integer({ min: -9, max: 9 }),
        fc.constantFrom('12', '-1.5', '1e3', 'x', '', ' 1', '0x10', '.5', '5.', '+1'),
      )
    case 'bool':
      return fc.oneof(fc.boolean(), fc.constantFrom('true', 'false', '1', '0', 'yes', 'True', 'TRUE'))
    case 'list':
    case 'set':
      return fc.array(valueFor(type.of), { maxLength: 3 })
    case 'tuple':
      return fc
        .tuple(...type.of.map(valueFor))
        .chain((items) => fc.constantFrom(items, items, items, [...items, 'extra']))
    case 'map':
      return fc.dictionary(names, valueFor(type.of), { maxKeys: 3, noNullPrototype: true })
    case 'object': {
      const fields = Object.entries(type.of).map(([name, each]): [string, fc.Arbitrary<unknown>] => [
        name,
        valueFor(each.type),
      ])
      return fc.record(Object.fromEntries(fields), {
        requiredKeys: Object.keys(type.of).slice(0, 2),
        noNullPrototype: true,
      })
    }
  }
}
