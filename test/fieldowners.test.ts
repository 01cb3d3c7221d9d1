import { expect, test } from 'vitest'
import { cases, play } from './fieldowners.cases.ts'
import { objectsInMemory } from './objects.ts'

test.each(cases)('when $when, it is written down who owns what', async ({ writes, owners }) => {
  expect(await play(objectsInMemory().client, { namespace: 'demo', name: 'demo' }, writes)).toEqual(owners)
})
