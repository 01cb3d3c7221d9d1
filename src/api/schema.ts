// The words that kinds are written in. A word means the same to the API server (OpenAPI and CEL in the CRD) and to us
// (zod): what one accepts the other accepts. Every bound is here, because CEL's cost is counted from bounds, and because
// tightening one later breaks users.
import * as z from 'zod'

// A statement about a value that OpenAPI cannot make, said to the API server in CEL and to us as a predicate.
export interface Rule<T> {
  readonly cel: string
  readonly message: string // what to write instead
  readonly holds: (self: T) => boolean
}

// A statement about a change (`oldSelf`), which only the API server can judge.
export interface Transition {
  readonly cel: string
  readonly message: string
}

interface Validation {
  readonly rule: string
  readonly message: string
}

function validations(...rules: readonly (Rule<never> | Transition)[]): { 'x-kubernetes-validations'?: Validation[] } {
  if (rules.length === 0) return {}
  return { 'x-kubernetes-validations': rules.map(({ cel, message }) => ({ rule: cel, message })) }
}

function check<T>(rules: readonly Rule<T>[]): (value: T, context: z.RefinementCtx<T>) => void {
  return (value, context) => {
    for (const { holds, message } of rules) {
      if (!holds(value)) context.addIssue({ code: 'custom', message })
    }
  }
}

export interface TextBounds {
  readonly max: number
  readonly min?: number
  readonly matches?: { readonly pattern: string; readonly message: string } // of ASCII classes only: RE2 and JavaScript agree on those
}

// Length is counted in characters, as the API server does, not in UTF-16 units.
export function text({ max, min = 0, matches }: TextBounds) {
  const form = matches && new RegExp(matches.pattern)
  const rules: Rule<string>[] =
    matches && form
      ? [
          {
            cel: `self.matches(${celString(matches.pattern)})`,
            message: matches.message,
            holds: (self) => form.test(self),
          },
        ]
      : []
  return z
    .string()
    .refine((value) => within(characters(value), min, max), { error: `must be ${min} to ${max} characters` })
    .superRefine(check(rules))
    .meta({ maxLength: max, ...(min > 0 && { minLength: min }), ...validations(...rules) })
}

export function integer({ min, max }: { readonly min: number; readonly max: number }) {
  return z
    .int()
    .min(min)
    .max(max)
    .meta({ format: max > 2 ** 31 - 1 ? 'int64' : 'int32' })
}

export const flag = () => z.boolean()

export function oneOf<const Values extends readonly [string, ...string[]]>(...values: Values) {
  return z.enum(values)
}

// A number, or a share such as 25%.
export function intOrPercent({ max }: { readonly max: number }) {
  const rule: Rule<number | string> = {
    cel: `type(self) == int ? self >= 0 && self <= ${max} : self.matches('^(100|[0-9]{1,2})%$')`,
    message: `write a number from 0 to ${max}, or a share from 0% to 100%`,
    holds: (self) => (typeof self === 'number' ? within(self, 0, max) : /^(100|[0-9]{1,2})%$/.test(self)),
  }
  return z
    .union([z.int(), z.string().max(4)])
    .superRefine(check([rule]))
    .meta({ 'x-kubernetes-int-or-string': true, maxLength: 4, ...validations(rule) })
}

export interface ListBounds {
  readonly max: number
  readonly min?: number
}

// Replaced as a whole by whoever applies it.
export function list<Item extends z.ZodType>(item: Item, { max, min = 0 }: ListBounds) {
  return bounded(item, max, min).meta({ 'x-kubernetes-list-type': 'atomic' })
}

// Each value once; owned value by value.
export function set<Item extends z.ZodType<string>>(item: Item, { max, min = 0 }: ListBounds) {
  return bounded(item, max, min)
    .refine((values) => new Set(values).size === values.length, { error: 'has a value twice' })
    .meta({ 'x-kubernetes-list-type': 'set' })
}

// Each key once; owned item by item, so that two appliers can share it.
export function listBy<Item extends z.ZodType<Record<string, unknown>>>(
  keys: readonly string[],
  item: Item,
  { max, min = 0 }: ListBounds,
) {
  return bounded(item, max, min)
    .refine(
      (items) => new Set(items.map((each) => JSON.stringify(keys.map((key) => each[key])))).size === items.length,
      {
        error: `has an item with the same ${keys.join(' and ')} twice`,
      },
    )
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [...keys] })
}

function bounded<Item extends z.ZodType>(item: Item, max: number, min: number) {
  const items = z.array(item).max(max)
  return min > 0 ? items.min(min) : items
}

export interface MapBounds {
  readonly max: number
  readonly keyMax: number
}

export function mapOf<Value extends z.ZodType>(value: Value, { max, keyMax }: MapBounds) {
  const rule: Rule<Record<string, unknown>> = {
    cel: `self.all(key, size(key) <= ${keyMax})`,
    message: `keys have at most ${keyMax} characters`,
    holds: (self) => Object.keys(self).every((key) => characters(key) <= keyMax),
  }
  return z
    .record(z.string(), value)
    .refine((values) => Object.keys(values).length <= max, { error: `has more than ${max} entries` })
    .superRefine(check([rule]))
    .meta({ maxProperties: max, ...validations(rule) })
}

// A map whose values are any JSON. CEL cannot look into it, so its keys are judged when they are used.
export function mapOfJson({ max }: { readonly max: number }) {
  return z
    .record(z.string(), json())
    .refine((values) => Object.keys(values).length <= max, { error: `has more than ${max} entries` })
    .meta({ maxProperties: max })
}

// Any JSON value, kept as it is, null too. CEL cannot see it.
export function json() {
  return z.unknown().meta({ nullable: true, 'x-kubernetes-preserve-unknown-fields': true })
}

// An object of any fields, kept as they are.
export function anything() {
  return z.looseObject({}).meta({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })
}

// An object whose unknown fields are kept as they are.
export function open<Fields extends z.ZodRawShape>(
  fields: Fields,
  rules: readonly Rule<z.output<z.ZodObject<Fields>>>[] = [],
) {
  return object(fields, rules).meta({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })
}

// `transitions` hold for objects only, not for templates of them: a template may be written anew.
export function object<Fields extends z.ZodRawShape>(
  fields: Fields,
  rules: readonly Rule<z.output<z.ZodObject<Fields>>>[] = [],
  transitions: readonly Transition[] = [],
) {
  return z
    .object(fields)
    .superRefine(check(rules))
    .meta(validations(...rules, ...transitions))
}

// A field that, once it has a value, keeps it. A rule stands on what is always there: one on an object that can be removed goes with it.
export function keeps(path: string, why: string): Transition {
  const steps = path.split('.').map((_, index, all) => all.slice(0, index + 1).join('.'))
  const had = steps.map((step) => `!has(oldSelf.${step}) || `).join('')
  const has = steps.map((step) => `has(self.${step}) && `).join('')
  return { cel: `${had}(${has}self.${path} == oldSelf.${path})`, message: `${path} cannot be changed: ${why}` }
}

// As the API server counts: a character is a code point.
export function characters(value: string): number {
  return Array.from(value).length
}

function within(value: number, min: number, max: number): boolean {
  return value >= min && value <= max
}

function celString(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
