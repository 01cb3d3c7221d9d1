// Objects of a kind, made up from its schema: most of them right, some of them wrong in a place or two.
import fc from 'fast-check'
import { type Schema, specOf } from '../scripts/generated/crd.ts'
import type { Kind } from '../src/api/kind.ts'
import { specimenSpec } from './specimens.ts'

// Made up as a whole, or the specimen with a field or two made up: both judges must see objects they accept.
export function anySpec(kind: Kind): fc.Arbitrary<unknown> {
  const schema = specOf(kind)
  const names = Object.keys(schema.properties ?? {})
  const changes = fc.tuple(rightValueOf(schema), fc.subarray(names, { maxLength: Math.min(2, names.length) }))
  const changed = changes.map(([made, chosen]) => {
    const fields = chosen.filter((name) => Object.hasOwn(made as object, name))
    return {
      ...specimenSpec(kind),
      ...Object.fromEntries(fields.map((name) => [name, (made as Record<string, unknown>)[name]])),
    }
  })
  return fc.oneof(valueOf(schema), changed)
}

const junk = fc.oneof(
  fc.constant(null),
  fc.integer({ min: -5, max: 5 }),
  fc.boolean(),
  fc.constant(''),
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => text.toWellFormed()),
  fc.constant('0%'),
  fc.constant([]),
  fc.constant({}),
  fc.constant('x'.repeat(300)),
)

// Now and then something else than asked for.
function mostly(right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ arbitrary: right, weight: 60 }, { arbitrary: junk, weight: 1 })
}

function valueOf(schema: Schema): fc.Arbitrary<unknown> {
  return mostly(rightValueOf(schema))
}

function rightValueOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema['x-kubernetes-int-or-string'])
    return fc.oneof(fc.integer({ min: -1, max: 12 }), fc.constantFrom('0%', '25%', '100%', '101%', 'x'))
  switch (schema.type) {
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return integerOf(schema)
    case 'string':
      return textOf(schema)
    case 'array':
      return fc.array(valueOf(schema.items ?? {}), { maxLength: 3 })
    case 'object':
      return objectOf(schema)
    case undefined:
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function integerOf(schema: Schema): fc.Arbitrary<number> {
  const [low, high] = [Number(schema['minimum'] ?? 0), Number(schema['maximum'] ?? 100)]
  return fc.oneof(
    fc.integer({ min: low, max: Math.min(high, low + 20) }),
    fc.constantFrom(low, high, low - 1, high + 1),
  )
}

function textOf(schema: Schema): fc.Arbitrary<string> {
  const max = Number(schema['maxLength'] ?? 100)
  const plain = fc.string({
    unit: 'grapheme-composite',
    minLength: Number(schema['minLength'] ?? 0),
    maxLength: Math.min(max, 20),
  })
  const atTheBound = fc.constantFrom(max, max + 1).map((length) => (length <= 2000 ? 'é'.repeat(length) : 'x'))
  const pattern = patternOf(schema)
  const usual = pattern ? fc.stringMatching(new RegExp(pattern), { size: 'small' }) : plain
  return fc.oneof(
    { arbitrary: usual, weight: 30 },
    { arbitrary: plain, weight: 1 },
    { arbitrary: atTheBound, weight: 1 },
  )
}

function patternOf(schema: Schema): string | undefined {
  const rules = (schema['x-kubernetes-validations'] ?? []) as readonly { readonly rule: string }[]
  const [, quoted] = rules.map(({ rule }) => rule.match(/^self\.matches\('(.*)'\)$/)).find(Boolean) ?? []
  return quoted?.replaceAll('\\\\', '\\').replaceAll("\\'", "'")
}

function objectOf(schema: Schema): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties } = schema
  if (additionalProperties) {
    return fc.dictionary(fc.stringMatching(/^[a-z][a-z./]{0,8}$/), valueOf(additionalProperties), { maxKeys: 3 })
  }
  const fields = Object.entries(properties).map(([name, child]): [string, fc.Arbitrary<unknown>] => {
    const weight = required.includes(name) ? 60 : 1
    return [
      name,
      fc.oneof(
        { arbitrary: valueOf(child), weight },
        { arbitrary: fc.constant(undefined), weight: required.includes(name) ? 1 : 3 },
      ),
    ]
  })
  return fc
    .record(Object.fromEntries(fields))
    .map((value) => Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)))
}
