// A command line as Go's programs have them, read from a declaration that says each flag once. It knows no flag by name.
import { nearest } from '../api/nearest.ts'

// One kind of value: what it is called in the help, and how it is read. `read` throws what is wrong with it.
export interface Form<T> {
  readonly shape: string
  read(text: string): T
}

// What a declaration is written with. It is called twice: to learn which flags there are, then to read them.
export interface Declare {
  switch(name: string, help: string): boolean // off unless given
  one<T>(name: string, form: Form<T>, fallback: string, help: string, ...aliases: readonly string[]): T
  many<T>(name: string, form: Form<T>, fallback: readonly string[], help: string): readonly T[] // with commas, or again
}

export interface Flag {
  readonly name: string
  readonly shape: string // empty: a switch
  readonly fallback: string
  readonly help: string
  readonly aliases: readonly string[]
}

// Flags that are let pass, with whatever value. A star stands for anything.
export interface Ignored {
  readonly names: readonly string[]
  readonly why: string
}

// The command line is wrong. Programs end with this code, as Go's do.
export class UsageError extends Error {
  readonly exitCode = 2
}

export function flagsOf(declare: (flag: Declare) => unknown): readonly Flag[] {
  const flags: Flag[] = []
  declare({
    switch(name, help) {
      flags.push({ name, shape: '', fallback: 'false', help, aliases: [] })
      return false
    },
    one(name, form, fallback, help, ...aliases) {
      flags.push({ name, shape: form.shape, fallback, help, aliases })
      return form.read(fallback)
    },
    many(name, form, fallback, help) {
      flags.push({ name, shape: `${form.shape},…`, fallback: fallback.join(','), help, aliases: [] })
      return fallback.map(form.read)
    },
  })
  return flags
}

export function readFlags<S>(
  argv: readonly string[],
  declare: (flag: Declare) => S,
  ignored: readonly Ignored[],
): { readonly settings: S; readonly warnings: readonly string[] } {
  const { given, warnings } = sort(argv, flagsOf(declare), ignored)
  const lastOf = (name: string) => given.get(name)?.at(-1)
  const settings = declare({
    switch: (name) => read(name, boolean, lastOf(name) ?? 'false'),
    one: (name, form, fallback) => read(name, form, lastOf(name) ?? fallback),
    many: (name, form, fallback) =>
      (given.get(name)?.flatMap((text) => text.split(',').filter(Boolean)) ?? fallback).map((text) =>
        read(name, form, text),
      ),
  })
  return { settings, warnings }
}

// Which flag was given what, not yet read.
function sort(argv: readonly string[], flags: readonly Flag[], ignored: readonly Ignored[]) {
  const byName = new Map(flags.flatMap((flag) => [flag.name, ...flag.aliases].map((name) => [name, flag] as const)))
  const given = new Map<string, string[]>()
  const warnings: string[] = []
  const rest = [...argv]
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [, name, value] = /^--?([a-zA-Z][^=]*)(?:=(.*))?$/s.exec(arg) ?? []
    if (name === undefined)
      throw new UsageError(`unexpected argument ${JSON.stringify(arg)}: write values as --flag=value`)
    const flag = byName.get(name)
    if (flag) {
      const text = value ?? (flag.shape ? rest.shift() : 'true')
      if (text === undefined) throw new UsageError(`--${name} needs a value: ${flag.shape}`)
      given.set(flag.name, [...(given.get(flag.name) ?? []), text])
      continue
    }
    const known = ignored.find(({ names }) => names.some((pattern) => fits(pattern, name)))
    if (!known) throw new UsageError(`there is no flag --${name}${suggestion(name, [...byName.keys()])} (see --help)`)
    if (value === undefined && rest[0] !== undefined && !rest[0].startsWith('-')) rest.shift()
    warnings.push(`--${name} does nothing here: ${known.why}`)
  }
  return { given, warnings }
}

function fits(pattern: string, name: string): boolean {
  const [head = '', tail] = pattern.split('*')
  return tail === undefined ? name === pattern : name.startsWith(head) && name.endsWith(tail)
}

function read<T>(name: string, form: Form<T>, text: string): T {
  try {
    return form.read(text)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new UsageError(`--${name}: ${JSON.stringify(text)} ${why}`, { cause: error })
  }
}

const boolean: Form<boolean> = {
  shape: '',
  read(text) {
    if (/^(1|t|true)$/i.test(text)) return true
    if (/^(0|f|false)$/i.test(text)) return false
    throw new Error('is neither true nor false')
  },
}

export const anyText: Form<string> = { shape: 'text', read: (text) => text }

export function oneOf<const T extends string>(...names: readonly T[]): Form<T> {
  return {
    shape: names.length < 6 ? names.join('|') : 'name',
    read(text) {
      const found = names.find((name) => name === text)
      if (found === undefined) throw new Error(`is none of ${names.join(', ')}`)
      return found
    },
  }
}

export function wholeNumber(least: number): Form<number> {
  return {
    shape: 'number',
    read(text) {
      if (!/^\d{1,9}$/.test(text) || Number(text) < least) throw new Error(`is no whole number from ${least} on`)
      return Number(text)
    },
  }
}

const unitMs: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
}

// As Go writes it; in milliseconds.
export const duration: Form<number> = {
  shape: 'duration',
  read(text) {
    const parts = [...text.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ms|us|µs|ns|h|m|s)/g)]
    const whole = parts.map(([part]) => part).join('')
    const ms = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (unitMs[unit] ?? 0), 0)
    if (whole !== text || ms <= 0) throw new Error('is no duration: write it like 1h30m, 10m0s or 500ms')
    return ms
  },
}

function suggestion(name: string, names: readonly string[]): string {
  const meant = nearest(name, names)
  return meant === undefined ? '' : `, did you mean --${meant}?`
}

const columns = 100

export function tellFlags(flags: readonly Flag[]): string {
  return flags
    .map(({ name, shape, fallback, help, aliases }) => {
      const spelling = [name, ...aliases].map((each) => `--${each}`).join(', ')
      const usual = shape && fallback ? ` (default ${fallback})` : ''
      return `  ${spelling}${shape && ` ${shape}`}\n${wrap(`${help}${usual}`, '        ')}`
    })
    .join('')
}

export function wrap(text: string, indent: string): string {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(`${indent}${word}`)
  }
  return `${lines.join('\n')}\n`
}
