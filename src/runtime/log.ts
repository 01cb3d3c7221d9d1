// One JSON line an event, for operators. It hides nothing by name: a secret is Sealed, and prints *** by itself.
import type { Writable } from 'node:stream'
import { ApiError } from '../kube/errors.ts'

export type Level = 'error' | 'warn' | 'info' | 'debug'

const weight: Readonly<Record<Level, number>> = { error: 0, warn: 1, info: 2, debug: 3 }

// The three names that every line has are taken.
export type Fields = Readonly<Record<string, unknown>> & {
  readonly ts?: never
  readonly level?: never
  readonly msg?: never
}

export interface Log {
  error(msg: string, fields?: Fields): void
  warn(msg: string, fields?: Fields): void
  info(msg: string, fields?: Fields): void
  debug(msg: string, fields?: Fields): void
  // The same log, with these fields in every line.
  with(fields: Fields): Log
  // For this log and every one made of it.
  setLevel(level: Level): void
}

export interface LogOptions {
  readonly to: Writable
  readonly level: Level
  readonly now?: () => Date
}

export function createLog({ to, level, now = () => new Date() }: LogOptions): Log {
  let least = level
  // A log whose reader went away (EPIPE) is no reason to stop working.
  to.on('error', () => undefined)

  function withFields(always: Fields): Log {
    const at = (its: Level) => (msg: string, fields?: Fields) => {
      if (weight[its] > weight[least]) return
      const told = Object.entries({ ...always, ...fields }).flatMap(([name, value]) =>
        value instanceof Error ? tellFailure(name, value, least === 'debug') : [[name, value] as const],
      )
      to.write(lineOf([['ts', now().toISOString()], ['level', its], ['msg', msg], ...told]))
    }
    return {
      error: at('error'),
      warn: at('warn'),
      info: at('info'),
      debug: at('debug'),
      with: (fields) => withFields({ ...always, ...fields }),
      setLevel(next) {
        least = next
      },
    }
  }
  return withFields({})
}

// What -v N means here.
export function levelOf(verbosity: number): Level {
  return verbosity >= 4 ? 'debug' : 'info'
}

// An error and what caused it, as one sentence; what a message says already is not said again.
export function tellError(error: unknown): string {
  let told = ''
  for (const each of chainOf(error)) {
    const message = messageOf(each)
    if (!told.includes(message)) told = told ? `${told}: ${message}` : message
  }
  return told
}

type Told = readonly [name: string, value: unknown]

// A stack is for bugs: what the API server said needs none.
function tellFailure(name: string, error: Error, isDebugging: boolean): readonly Told[] {
  const isBug = !chainOf(error).some((each) => each instanceof ApiError)
  return [[name, tellError(error)], ...(isBug || isDebugging ? [['stack', error.stack] as const] : [])]
}

function chainOf(error: unknown): readonly unknown[] {
  const chain: unknown[] = []
  for (let each = error; each !== undefined && !chain.includes(each); ) {
    chain.push(each)
    each = each instanceof Error ? each.cause : undefined
  }
  return chain
}

// Node's own errors for a host with several addresses have no message, only parts.
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : (jsonOf(error) ?? String(error))
  if (error.message) return error.message
  if (!(error instanceof AggregateError)) return error.name
  return error.errors.map((part: unknown) => (part instanceof Error ? part.message : jsonOf(part))).join(', ')
}

function lineOf(told: readonly Told[]): string {
  const parts = told.flatMap(([name, value]) => {
    const json = jsonOf(value)
    return json === undefined ? [] : [`${JSON.stringify(name)}:${json}`]
  })
  return `{${parts.join(',')}}\n`
}

// Whatever a value is, it becomes JSON or is left out; it never throws.
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_, part: unknown) => (part instanceof Error ? tellError(part) : part))
  } catch {
    return '"not printable"' // circular, a bigint, or its toJSON throws
  }
}
