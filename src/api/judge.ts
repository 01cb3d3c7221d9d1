// Judges an object as the API server would: whether it is accepted, and if not, why. For those who are offline.
import * as z from 'zod'
import type { Kind } from './kind.ts'
import { longestName } from './name.ts'
import { isRecord } from './record.ts'
import { characters } from './schema.ts'

export interface Judged {
  readonly metadata?: { readonly name?: string }
  readonly spec?: unknown
}

// Complaints, each with the place it is about. None: it is accepted.
export function judge(kind: Kind, { metadata, spec }: Judged): readonly string[] {
  const named =
    characters(metadata?.name ?? '') > longestName
      ? [`metadata.name: has more than ${longestName} characters: choose a shorter one`]
      : []
  const schema = kind.spec()
  const parsed = schema.safeParse(withoutNulls(schema, spec ?? undefined))
  return parsed.success ? named : [...named, ...parsed.error.issues.map(tell)]
}

// The API server drops a field that is null where the schema allows no null, before it looks any further.
function withoutNulls(schema: z.core.$ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return withoutNulls(schema.unwrap(), value)
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.map((item) => withoutNulls(schema.element, item))
  if (!isRecord(value)) return value
  if (schema instanceof z.ZodRecord) return mapFields(value, () => schema.valueType)
  if (schema instanceof z.ZodObject) {
    const shape: Readonly<Record<string, z.core.$ZodType>> = schema.shape
    return mapFields(value, (name) => shape[name])
  }
  return value
}

function mapFields(value: object, schemaOf: (name: string) => z.core.$ZodType | undefined): object {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]: [string, unknown]) => {
      const schema = schemaOf(name)
      if (field === null && !(schema instanceof z.ZodUnknown)) return []
      return [[name, schema ? withoutNulls(schema, field) : field]]
    }),
  )
}

function tell({ path, message }: z.core.$ZodIssue): string {
  return `${['spec', ...path].join('.')}: ${message}`
}
