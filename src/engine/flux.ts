// Flux's sources as far as a module comes from one: which artifact a GitRepository or an OCIRepository has now.
import { type Key, type KubeObject, type Resource, slim, tellKey } from '../api/resource.ts'
import { InputsError } from './inputserror.ts'

export interface FluxSource extends KubeObject {
  readonly status?: { readonly artifact?: { readonly url: string; readonly digest?: string } }
}

export const fluxSources = [source('GitRepository', 'gitrepositories'), source('OCIRepository', 'ocirepositories')]

function source(kind: string, plural: string): Resource<FluxSource> {
  return { group: 'source.toolkit.fluxcd.io', version: 'v1', kind, plural, keep: slim }
}

// GitRepository::flux-system/modules
export function readFluxRef(module: string): { readonly resource: Resource<FluxSource>; readonly key: Required<Key> } {
  const [, kind = '', namespace = '', name = ''] = /^(\w+)::([^/]+)\/([^/]+)$/.exec(module) ?? []
  const resource = fluxSources.find((each) => each.kind.toLowerCase() === kind.toLowerCase())
  if (resource) return { resource, key: { namespace, name } }
  throw new InputsError('module names no Flux source: write GitRepository::namespace/name, or OCIRepository::…')
}

export function artifactOf({ status }: FluxSource, { kind }: Resource, key: Key) {
  const { url, digest } = status?.artifact ?? {}
  if (url === undefined) throw new InputsError(`${kind} ${tellKey(key)} has no artifact yet: see its conditions`)
  if (!digest?.startsWith('sha256:')) {
    throw new InputsError(`the artifact of ${kind} ${tellKey(key)} has no sha256 digest: it cannot be checked`)
  }
  return { url, digest }
}
