// Terraform's types, as `variable` blocks write them: reads one, and says whether a JSON value fits it. Pure.
// It complains only where Terraform would: of what it cannot know (inside `any`) it says nothing.
import { isRecord } from '../api/record.ts'

export type Type =
  | { readonly is: 'any' | 'string' | 'number' | 'bool' }
  | { readonly is: 'list' | 'set' | 'map'; readonly of: Type }
  | { readonly is: 'tuple'; readonly of: readonly Type[] }
  | { readonly is: 'object'; readonly of: Readonly<Record<string, Attribute>> }

export interface Attribute {
  readonly type: Type
  readonly isOptional: boolean
}

export class TypeSyntaxError extends Error {}

// Throws a TypeSyntaxError that says where the text stops being a type.
export function parseType(text: string): Type {
  const tokens = tokensOf(text)
  const type = readType(tokens)
  tokens.end()
  return type
}

interface Tokens {
  peek(): string | undefined
  next(): string | undefined
  take(wanted: string): void
  end(): void
}

// Newlines are tokens: in an object they separate attributes as commas do.
function tokensOf(text: string): Tokens {
  const all = [...text.matchAll(/\n|[A-Za-z_][A-Za-z0-9_-]*|"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?|[^\s]/g)].map(
    ([token]) => token,
  )
  let at = 0
  const fail = (wanted: string): never => {
    const found = all[at]
    throw new TypeSyntaxError(
      `expected ${wanted}, found ${found === undefined ? 'the end' : JSON.stringify(found)} in ${JSON.stringify(text)}`,
    )
  }
  return {
    peek: () => all[at],
    next: () => all[at++],
    take(wanted) {
      if (all[at] !== wanted) fail(JSON.stringify(wanted))
      at++
    },
    end() {
      while (all[at] === '\n') at++
      if (at < all.length) fail('the end')
    },
  }
}

const primitives = ['any', 'string', 'number', 'bool'] as const
const collections = ['list', 'set', 'map'] as const

function readType(tokens: Tokens): Type {
  skipNewlines(tokens)
  const word = tokens.next() ?? 'the end'
  const primitive = primitives.find((each) => each === word)
  if (primitive) return { is: primitive }
  const collection = collections.find((each) => each === word)
  if (collection) return readCollection(tokens, collection)
  if (word === 'object') return readObject(tokens)
  if (word === 'tuple') return readTuple(tokens)
  throw new TypeSyntaxError(
    `${JSON.stringify(word)} is no type: write string, number, bool, any, list(…), set(…), map(…), object({…}) or tuple([…])`,
  )
}

function readCollection(tokens: Tokens, is: 'list' | 'set' | 'map'): Type {
  tokens.take('(')
  const of = readType(tokens)
  closeCall(tokens)
  return { is, of }
}

function readTuple(tokens: Tokens): Type {
  tokens.take('(')
  tokens.take('[')
  const of: Type[] = []
  for (skipNewlines(tokens); tokens.peek() !== ']'; skipNewlines(tokens)) {
    of.push(readType(tokens))
    skipNewlines(tokens)
    if (tokens.peek() !== ']') tokens.take(',')
  }
  tokens.take(']')
  closeCall(tokens)
  return { is: 'tuple', of }
}

function readObject(tokens: Tokens): Type {
  tokens.take('(')
  tokens.take('{')
  const of = new Map<string, Attribute>()
  for (skipNewlines(tokens); tokens.peek() !== '}'; skipNewlines(tokens)) {
    const name = nameOf(tokens.next())
    if (of.has(name)) throw new TypeSyntaxError(`attribute ${JSON.stringify(name)} stands twice in an object`)
    if (tokens.peek() === ':') tokens.next()
    else tokens.take('=')
    of.set(name, readAttribute(tokens))
    if (tokens.peek() !== '\n' && tokens.peek() !== '}') tokens.take(',')
  }
  tokens.take('}')
  closeCall(tokens)
  return { is: 'object', of: Object.fromEntries(of) }
}

function readAttribute(tokens: Tokens): Attribute {
  if (tokens.peek() !== 'optional') return { type: readType(tokens), isOptional: false }
  tokens.next()
  tokens.take('(')
  const type = readType(tokens)
  skipNewlines(tokens)
  if (tokens.peek() === ',') skipDefault(tokens)
  tokens.take(')')
  return { type, isOptional: true }
}

// The default of an optional attribute is any expression: what matters here is where it ends.
function skipDefault(tokens: Tokens): void {
  for (let depth = 0; depth > 0 || tokens.peek() !== ')'; tokens.next()) {
    const token = tokens.peek()
    if (token === undefined) return
    if (['(', '[', '{'].includes(token)) depth++
    if ([')', ']', '}'].includes(token)) depth--
  }
}

function nameOf(token = 'the end'): string {
  const name = token.startsWith('"') ? token.slice(1, -1) : token
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name))
    throw new TypeSyntaxError(`${JSON.stringify(token)} is no name of an attribute`)
  return name
}

function skipNewlines(tokens: Tokens): void {
  while (tokens.peek() === '\n') tokens.next()
}

// The last argument of a call may have a comma behind it.
function closeCall(tokens: Tokens): void {
  skipNewlines(tokens)
  if (tokens.peek() === ',') tokens.next()
  skipNewlines(tokens)
  tokens.take(')')
}

// The first thing that keeps a value from being of a type, in a sentence; undefined when it fits. Terraform converts
// between text, numbers and booleans where it can, and null fits everything.
export function misfit(type: Type, value: unknown, at = 'value'): string | undefined {
  if (value === null || type.is === 'any') return undefined
  switch (type.is) {
    case 'string':
      return isPrimitive(value) ? undefined : wrong(at, type, value)
    case 'number':
      return typeof value === 'number' || (typeof value === 'string' && isNumeric(value))
        ? undefined
        : wrong(at, type, value)
    case 'bool':
      return typeof value === 'boolean' || (typeof value === 'string' && ['true', 'false', '1', '0'].includes(value))
        ? undefined
        : wrong(at, type, value)
    case 'list':
    case 'set':
      if (!Array.isArray(value)) return wrong(at, type, value)
      return firstOf(value.map((item, index) => () => misfit(type.of, item, `${at}[${index}]`)))
    case 'tuple':
      if (!Array.isArray(value) || value.length !== type.of.length) return wrong(at, type, value)
      return firstOf(type.of.map((each, index) => () => misfit(each, value[index], `${at}[${index}]`)))
    case 'map':
      if (!isRecord(value)) return wrong(at, type, value)
      return firstOf(
        Object.entries(value).map(
          ([key, each]) =>
            () =>
              misfit(type.of, each, `${at}[${JSON.stringify(key)}]`),
        ),
      )
    case 'object':
      if (!isRecord(value)) return wrong(at, type, value)
      return firstOf(
        Object.entries(type.of).map(([name, { type: wanted, isOptional }]) => () => {
          if (Object.hasOwn(value, name)) return misfit(wanted, value[name], `${at}.${name}`)
          return isOptional ? undefined : `${at} lacks the attribute ${name}`
        }),
      )
  }
}

function firstOf(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const complaint = check()
    if (complaint !== undefined) return complaint
  }
  return undefined
}

function wrong(at: string, type: Type, value: unknown): string {
  return `${at} must be ${tellType(type)}, and is ${tellValue(value)}`
}

export function tellType(type: Type): string {
  switch (type.is) {
    case 'list':
    case 'set':
    case 'map':
      return `${type.is}(${tellType(type.of)})`
    case 'tuple':
      return `tuple([${type.of.map(tellType).join(', ')}])`
    case 'object': {
      const attributes = Object.entries(type.of).map(([name, each]) => {
        return `${name} = ${each.isOptional ? `optional(${tellType(each.type)})` : tellType(each.type)}`
      })
      return attributes.length > 0 ? `object({ ${attributes.join(', ')} })` : 'object({})'
    }
    case 'any':
    case 'string':
    case 'number':
    case 'bool':
      return type.is
  }
}

// The kind of a value, never the value: it may be a secret.
function tellValue(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (isRecord(value)) return 'an object'
  return { string: 'text', number: 'a number', boolean: 'a boolean' }[typeof value as string] ?? 'nothing'
}

function isPrimitive(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

function isNumeric(text: string): boolean {
  return /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/.test(text)
}
