// Placeholders: `${key}` in a template stands for the value of variable `key`. They are filled in on the parsed structure, in one
// pass: what a value holds is never looked at again. `$${key}` is no placeholder. Pure.
//
// In the text of a module `$${key}` is Terraform's own escape and stays; everywhere else it becomes `${key}`.
import { isRecord } from '../api/record.ts'

export interface Filling {
  readonly value: unknown
  readonly isSensitive: boolean
}

export interface Filler {
  readonly fillings: ReadonlyMap<string, Filling>
  use(name: string): void // told of every placeholder that is one of ours
  refuse(reason: 'MissingVariables' | 'UnsafeValue', message: string): void
}

const placeholder = /\$\$\{|\$\{(?<name>[^{}]*)\}/g
const nothing = 'x' // of a text that is refused nothing is used: a letter, so that no second complaint follows from the first
const safe = /^[A-Za-z0-9 ._:/@+=,-]*$/ // cannot end a text, begin a template or a comment, nor be more than one line

// In the text of a module only exact names of variables are ours: all else is Terraform's. So are those that it declares, for
// then the value reaches it as a variable, and `${k}` is a name of the module's own, in a loop for example.
export function fillModule(text: string, place: string, filler: Filler, isDeclared: (name: string) => boolean): string {
  return text.replace(placeholder, (whole, name?: string) => {
    if (name === undefined || !filler.fillings.has(name) || isDeclared(name)) return whole
    return safeTextOf(name, place, filler)
  })
}

// The address of a module that is elsewhere.
export function fillAddress(text: string, place: string, filler: Filler): string {
  return text.replace(placeholder, (_, name?: string) => (name === undefined ? '${' : safeTextOf(name, place, filler)))
}

// What a value is once it is filled in: the same, and what was undefined in it is not there.
export type Filled<T> = T extends readonly (infer Item)[]
  ? readonly Filled<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Filled<Exclude<T[Key], undefined>> }
    : T

// Everywhere but in modules: every text in a value, but no key.
export function fill<T>(value: T, place: string, filler: Filler): Filled<T> {
  // A text for a text, and all else as it is.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return walk(value, place, (text, at) => fillText(text, at, filler)) as Filled<T>
}

// Where a value may be of any type: a text that is nothing but a placeholder becomes the value itself.
export function fillTyped(value: unknown, place: string, filler: Filler): unknown {
  return walk(value, place, (text, at) => {
    const name = /^\$\{(?<name>[^{}]*)\}$/.exec(text)?.groups?.['name']
    return name === undefined ? fillText(text, at, filler) : fillingOf(name, at, filler)?.value
  })
}

function walk(value: unknown, at: string, change: (text: string, at: string) => unknown): unknown {
  if (typeof value === 'string') return change(value, at)
  if (Array.isArray(value)) return value.map((item, index) => walk(item, `${at}[${index}]`, change))
  if (!isRecord(value)) return value
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(entries.map(([key, item]) => [key, walk(item, `${at}.${key}`, change)]))
}

function fillText(text: string, place: string, filler: Filler): string {
  return text.replace(placeholder, (_, name?: string) => (name === undefined ? '${' : textOf(name, place, filler)))
}

function safeTextOf(name: string, place: string, filler: Filler): string {
  const text = textOf(name, place, filler)
  if (safe.test(text)) return text
  filler.refuse(
    'UnsafeValue',
    `\${${name}} in ${place}: its value has characters that could change what the module means: declare variable ${name} in the module instead`,
  )
  return nothing
}

function textOf(name: string, place: string, filler: Filler): string {
  const filling = fillingOf(name, place, filler)
  if (!filling) return nothing
  const { value } = filling
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  filler.refuse(
    'UnsafeValue',
    `\${${name}} in ${place}: its value is neither text nor a number nor a boolean: declare variable ${name} in the module instead`,
  )
  return nothing
}

function fillingOf(name: string, place: string, { fillings, use, refuse }: Filler): Filling | undefined {
  use(name)
  const filling = fillings.get(name)
  if (!filling) {
    refuse(
      'MissingVariables',
      `\${${name}} in ${place}: no variable of that name is given: give it in spec.variables, or write $\${${name}} if it is not meant for one`,
    )
  } else if (filling.isSensitive) {
    refuse(
      'UnsafeValue',
      `\${${name}} in ${place}: its value is secret and must not be in a Workspace: declare variable ${name} in the module instead`,
    )
    return undefined
  }
  return filling
}
