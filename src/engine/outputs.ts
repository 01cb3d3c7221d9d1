// The outputs of a module, as `output -json` prints them. Pure.
import { isRecord } from '../api/record.ts'
import type { Outputs } from './connection.ts'

// Node has them, TypeScript does not know it yet.
declare global {
  interface JSON {
    rawJSON(text: string): unknown
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source: string }) => unknown,
    ): unknown
  }
}

// A number that JavaScript cannot hold stays as it was written, for whoever it is written on to.
export function readOutputs(text: string): Outputs {
  const all: unknown = JSON.parse(text, (_, value, context) =>
    typeof value === 'number' && String(value) !== context.source ? JSON.rawJSON(context.source) : value,
  )
  const entries = isRecord(all) ? Object.entries(all) : []
  return Object.fromEntries(
    entries.flatMap(([name, output]) =>
      isRecord(output)
        ? [[name, { value: output['value'], type: output['type'], sensitive: output['sensitive'] === true }]]
        : [],
    ),
  )
}

// Why they are not shown, as a sentence. A whole object has 1.5 MiB in etcd.
export function tooLargeToShow(outputs: Outputs): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(shownOf(outputs)))
  if (bytes <= mostShown) return undefined
  return `the outputs are not in the status: they have ${bytes} bytes, and ${mostShown} fit; let the module put what is large elsewhere`
}

const mostShown = 1_200_000

// Those that anybody may see.
export function shownOf(outputs: Outputs): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(outputs)
      .filter(([, { sensitive }]) => !sensitive)
      .map(([name, { value }]) => [name, value]),
  )
}
