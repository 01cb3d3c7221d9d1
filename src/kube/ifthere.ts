// Reads an object that need not be there.
import type { Key, KubeObject, Resource } from '../api/resource.ts'
import type { Client } from './client.ts'
import { isNotFound } from './errors.ts'

export async function getIfThere<T extends KubeObject>(
  client: Pick<Client, 'get'>,
  resource: Resource<T>,
  key: Key,
): Promise<T | undefined> {
  try {
    return await client.get(resource, key)
  } catch (error) {
    if (isNotFound(error, key.name)) return undefined
    throw error
  }
}
