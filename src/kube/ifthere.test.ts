import { expect, test } from 'vitest'
import { objectsInMemory } from '../../test/objects.ts'
import { Namespace } from '../api/neighbours.ts'
import { ApiError } from './errors.ts'
import { getIfThere } from './ifthere.ts'

const key = { name: 'demo' }

test('what is there is read, and what is not is undefined', async () => {
  const { client, put } = objectsInMemory()
  expect(await getIfThere(client, Namespace, key)).toBeUndefined()
  put(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: key })
  expect(await getIfThere(client, Namespace, key)).toMatchObject({ metadata: key })
})

test.each([
  { code: 500, message: 'away' },
  { code: 404, reason: 'NotFound', message: 'the kind is not served' },
])('what cannot be known is no absence: $code $message', async (trouble) => {
  const get = async () => {
    throw new ApiError({ doing: 'read it', ...trouble })
  }
  await expect(getIfThere({ get }, Namespace, key)).rejects.toThrow(trouble.message)
})
