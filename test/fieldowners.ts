// Who owns which key of an object's `data`, as a real API server keeps book of it in managedFields: one entry for each manager and
// operation. Of other fields no book is kept here. Pure.
import { isRecord, type JsonRecord } from '../src/api/record.ts'
import type { KubeObject, ManagedFields } from '../src/api/resource.ts'

export interface Writer {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly wished?: unknown // of an apply: all that it says
}

// Whoever applies owns all the keys it says, alone or with others who said the same; whoever writes otherwise owns what it changed;
// whatever changes is taken from all others.
export function ownersAfter(before: KubeObject | undefined, after: KubeObject, by: Writer): readonly ManagedFields[] {
  const [was, is] = [dataOf(before), dataOf(after)]
  const changed = Object.keys(is).filter((key) => is[key] !== was[key])
  const own = by.operation === 'Apply' ? Object.keys(dataOf(by.wished)) : changed
  const entries = before?.metadata.managedFields ?? []
  const isWriter = ({ manager, operation }: ManagedFields) => manager === by.manager && operation === by.operation
  const left = entries.map((entry) => {
    const kept = keysOf(entry).filter((key) => key in is && !changed.includes(key))
    return { ...entry, keys: isWriter(entry) ? (by.operation === 'Apply' ? own : [...kept, ...own]) : kept }
  })
  const { manager, operation } = by
  const all = left.some(isWriter) ? left : [...left, { manager, operation, apiVersion: after.apiVersion, keys: own }]
  return all
    .filter(({ keys }) => keys.length > 0)
    .map(({ keys, ...entry }) => ({
      ...entry,
      fieldsV1: { 'f:data': Object.fromEntries(keys.toSorted().map((key) => [`f:${key}`, {}])) },
    }))
}

function dataOf(object: unknown): JsonRecord {
  const data = isRecord(object) ? object['data'] : undefined
  return isRecord(data) ? data : {}
}

function keysOf({ fieldsV1 }: ManagedFields): readonly string[] {
  return Object.keys(fieldsV1?.['f:data'] ?? {}).map((key) => key.replace(/^f:/, ''))
}
