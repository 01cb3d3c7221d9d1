// Who owns which key of an object's `data` and which of its annotations, as a real API server keeps book of it in managedFields: one entry
// for each manager and operation. Of other fields no book is kept here. Pure.
import { isRecord, type JsonRecord } from '../src/api/record.ts'
import type { KubeObject, ManagedFields } from '../src/api/resource.ts'

export interface Writer {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly wished?: unknown // of an apply: all that it says
}

const note = '@' // before the name of an annotation, so that it is told from a key

// Whoever applies owns all the keys it says, alone or with others who said the same; whoever writes otherwise owns what it changed;
// whatever changes is taken from all others.
export function ownersAfter(before: KubeObject | undefined, after: KubeObject, by: Writer): readonly ManagedFields[] {
  const [was, is] = [fieldsOf(before), fieldsOf(after)]
  const changed = Object.keys(is).filter((field) => is[field] !== was[field])
  const own = by.operation === 'Apply' ? Object.keys(fieldsOf(by.wished)) : changed
  const entries = before?.metadata.managedFields ?? []
  const isWriter = ({ manager, operation }: ManagedFields) => manager === by.manager && operation === by.operation
  const left = entries.map((entry) => {
    const kept = ownedIn(entry).filter((field) => field in is && !changed.includes(field))
    return { ...entry, fields: isWriter(entry) ? (by.operation === 'Apply' ? own : [...kept, ...own]) : kept }
  })
  const { manager, operation } = by
  const all = left.some(isWriter) ? left : [...left, { manager, operation, apiVersion: after.apiVersion, fields: own }]
  return all
    .filter(({ fields }) => fields.length > 0)
    .map(({ fields, ...entry }) => ({ ...entry, fieldsV1: written(fields.toSorted()) }))
}

// Annotations as `@name`, sorted with the keys.
export function ownedIn({ fieldsV1 = {} }: ManagedFields): readonly string[] {
  const namesIn = (book: Readonly<Record<string, unknown>> = {}) =>
    Object.keys(book)
      .filter((name) => name !== '.')
      .map((name) => name.replace(/^f:/, ''))
  const notes = namesIn(fieldsV1['f:metadata']?.['f:annotations']).map((name) => `${note}${name}`)
  return [...notes, ...namesIn(fieldsV1['f:data'])].toSorted()
}

function written(fields: readonly string[]): NonNullable<ManagedFields['fieldsV1']> {
  const book = (names: readonly string[]) => Object.fromEntries(names.map((name) => [`f:${name}`, {}]))
  const notes = fields.filter((field) => field.startsWith(note)).map((field) => field.slice(note.length))
  const keys = fields.filter((field) => !field.startsWith(note))
  return {
    ...(keys.length > 0 && { 'f:data': book(keys) }),
    ...(notes.length > 0 && { 'f:metadata': { 'f:annotations': book(notes) } }),
  }
}

function fieldsOf(object: unknown): JsonRecord {
  const { data, metadata } = isRecord(object) ? object : {}
  const annotations = isRecord(metadata) && isRecord(metadata['annotations']) ? metadata['annotations'] : {}
  const notes = Object.entries(annotations).map(([name, value]) => [`${note}${name}`, value] as const)
  return { ...(isRecord(data) ? data : {}), ...Object.fromEntries(notes) }
}
