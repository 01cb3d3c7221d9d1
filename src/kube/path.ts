// Where the API server serves what: paths and queries. Pure.
import type { Resource } from '../api/resource.ts'
import type { Scope } from './client.ts'

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

interface Place {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly subresource?: string | undefined
}

export function pathOf(resource: Resource, { namespace, name, subresource }: Place, query: Query = {}): string {
  const parts = [
    resource.group ? `/apis/${resource.group}/${resource.version}` : `/api/${resource.version}`,
    ...(namespace === undefined || resource.isClusterScoped ? [] : ['namespaces', encodeURIComponent(namespace)]),
    resource.plural,
    ...(name === undefined ? [] : [encodeURIComponent(name)]),
    ...(subresource === undefined ? [] : [subresource]),
  ]
  const asked = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([field, value]) => `${field}=${encodeURIComponent(String(value))}`)
  return parts.join('/') + (asked.length > 0 ? `?${asked.join('&')}` : '')
}

export function selectorsOf({ labels, fields }: Scope): Query {
  return { labelSelector: labels, fieldSelector: fields }
}
