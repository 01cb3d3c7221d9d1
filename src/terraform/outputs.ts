// Outputs of a module, as the status of a Workspace tells them and as its connection Secret does. Pure.
import { isRecord, readJson } from '../api/record.ts'

// What is at a path such as karpenter.queue_name or private_subnets.0. Undefined: nothing is. Names of outputs have no dots.
export function pick(outputs: unknown, path: string): unknown {
  let found = outputs
  for (const step of path.split('.')) {
    if (Array.isArray(found) && /^[0-9]+$/.test(step)) found = found[Number(step)]
    else if (isRecord(found) && Object.hasOwn(found, step)) found = found[step]
    else return undefined
  }
  return found
}

// The same in a connection Secret, where sensitive outputs are, too. There text stands as it is and everything else as JSON, and
// nothing tells which it was: a number 3 and a text "3" look alike. So an output is text, which Terraform converts where a
// variable wants a number or a boolean. It is read as JSON where a path leads into it, and where it is all of a JSON list or object.
// `text` is what it may have been instead, for a variable that wants text.
export function pickConnection(
  data: Readonly<Record<string, string>>,
  path: string,
): { readonly value: unknown; readonly text?: string } | undefined {
  const [output = '', ...within] = path.split('.')
  if (!Object.hasOwn(data, output)) return undefined
  const text = Buffer.from(data[output] ?? '', 'base64').toString('utf8')
  const json = within.length > 0 || /^[[{]/.test(text) ? readJson(text) : undefined
  if (within.length === 0) return json === undefined ? { value: text } : { value: json, text }
  const value = pick(json, within.join('.'))
  return value === undefined ? undefined : { value }
}
