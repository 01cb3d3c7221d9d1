// Template kinds: what Cluster API makes objects of another kind of.
import type * as z from 'zod'
import { statusBasics, templateMetadata } from './fields.ts'
import { age, type Column, type Kind, kind } from './kind.ts'
import { object } from './schema.ts'

interface Template<Spec extends z.ZodType, About extends z.ZodRawShape> {
  readonly of: Pick<Kind, 'group' | 'kind' | 'plural' | 'readBy'>
  readonly description: string
  readonly spec: () => Spec // of the objects made of it: without what only an object may not change
  readonly about: () => About // fields of the template itself
  readonly columns?: readonly Column[]
}

export function templateOf<Spec extends z.ZodType, About extends z.ZodRawShape>({
  of,
  description,
  spec,
  about,
  columns = [],
}: Template<Spec, About>) {
  return kind({
    group: of.group,
    kind: `${of.kind}Template`,
    plural: of.plural.replace(/s$/, 'templates'),
    description,
    isContract: true,
    spec: () =>
      object({
        ...about(),
        template: object({ metadata: templateMetadata(), spec: spec() }).describe(`The ${of.kind} to make.`),
      }).describe('What to make of it.'),
    status: () => object(statusBasics()).optional().describe('What CAPT says of the template.'),
    words: {},
    columns: [...columns, age],
    readBy: of.readBy,
  })
}
