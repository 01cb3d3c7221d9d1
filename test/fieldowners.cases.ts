// Writes to a Secret, and who owns which keys of its data and which of its annotations (@) after them: played in memory and on a real API
// server.
import { Secret } from '../src/api/neighbours.ts'
import type { Key } from '../src/api/resource.ts'
import type { Client } from '../src/kube/client.ts'
import { ownedIn } from './fieldowners.ts'

export interface Case {
  readonly when: string
  readonly writes: readonly string[]
  readonly owners: readonly string[]
}

export const cases: readonly Case[] = [
  { when: 'one applies it', writes: ['we apply a=1 b=1'], owners: ['we Apply a b'] },
  { when: 'the same applies less', writes: ['we apply a=1 b=1', 'we apply a=2'], owners: ['we Apply a'] },
  {
    when: 'two say the same',
    writes: ['we apply a=1', 'they apply a=1 b=1'],
    owners: ['they Apply a b', 'we Apply a'],
  },
  {
    when: 'another forces a value',
    writes: ['we apply a=1 b=1', 'they apply a=2'],
    owners: ['they Apply a', 'we Apply b'],
  },
  {
    when: 'somebody patches one key',
    writes: ['we apply a=1 b=1', 'they patch a=2'],
    owners: ['they Update a', 'we Apply b'],
  },
  { when: 'somebody patches nothing new', writes: ['we apply a=1', 'they patch a=1'], owners: ['we Apply a'] },
  { when: 'somebody takes a key away', writes: ['we apply a=1 b=1', 'they patch b='], owners: ['we Apply a'] },
  { when: 'our own patch is not our apply', writes: ['we apply a=1', 'we patch a=2'], owners: ['we Update a'] },
  {
    when: 'we apply again what was changed',
    writes: ['we apply a=1', 'they patch a=2', 'we apply a=1'],
    owners: ['we Apply a'],
  },
  { when: 'it has annotations', writes: ['we apply a=1 @n=1 @m=1'], owners: ['we Apply @m @n a'] },
  {
    when: 'somebody changes an annotation',
    writes: ['we apply a=1 @n=1 @m=1', 'they patch @n=2'],
    owners: ['they Update @n', 'we Apply @m a'],
  },
  {
    when: 'somebody takes an annotation away',
    writes: ['we apply a=1 @n=1 @m=1', 'they patch @n='],
    owners: ['we Apply @m a'],
  },
  {
    when: 'we apply again an annotation that was taken away',
    writes: ['we apply a=1 @n=1', 'they patch @n=', 'we apply a=1 @n=1'],
    owners: ['we Apply @n a'],
  },
]

// Tells who owns what in the end.
export async function play(client: Client, key: Key, writes: Case['writes']): Promise<readonly string[]> {
  for (const each of writes) {
    const [fieldManager = '', verb, ...pairs] = each.split(' ')
    const written = pairs.map((pair) => pair.split('='))
    const gone = verb === 'patch' ? null : undefined
    const fieldsOf = (isNote: boolean, tell: (value: string) => string) =>
      Object.fromEntries(
        written
          .filter(([field = '']) => field.startsWith('@') === isNote)
          .map(([field = '', value = '']) => [field.replace('@', ''), value ? tell(value) : gone] as const),
      )
    const data = fieldsOf(false, (value) => Buffer.from(value).toString('base64'))
    const said = { data, metadata: { annotations: fieldsOf(true, (value) => value) } } as unknown as Secret
    if (verb === 'patch') await client.patch(Secret, key, said, { fieldManager })
    else
      await client.apply<Secret>(
        Secret,
        { ...said, apiVersion: 'v1', kind: 'Secret', metadata: { ...said.metadata, ...key } },
        { fieldManager, force: true },
      )
  }
  const { managedFields = [] } = (await client.get(Secret, key)).metadata
  return managedFields
    .map((entry) => [entry.manager, entry.operation, ...ownedIn(entry)])
    .filter((told) => told.length > 2)
    .map((told) => told.join(' '))
    .toSorted()
}
