// Reads what `variablesFrom` names: outputs of other applies, Secrets and ConfigMaps, all of the same namespace.
import { ConfigMap, Secret } from '../../api/neighbours.ts'
import { readJson } from '../../api/record.ts'
import { beside, type Resource, tellRef } from '../../api/resource.ts'
import { type Workspace, workspaceAPIs } from '../../api/workspace.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { getIfThere } from '../../kube/ifthere.ts'
import type { Read } from '../../runtime/cache.ts'
import type { Live } from '../../runtime/controller.ts'
import { recordedOn } from '../../terraform/identity.ts'
import { pick, pickConnection } from '../../terraform/outputs.ts'
import type { Found } from '../../terraform/render.ts'
import { dependencyOnApply } from './dependencies.ts'
import { workspaceKey } from './relations.ts'
import type { Source } from './seen.ts'

type Apply = WorkspaceTemplateApply

interface Values {
  readonly found: ReadonlyMap<string, Found>
  readonly sources: readonly Source[]
}

export async function valuesOf(read: Read, apply: Apply, live: Live): Promise<Values> {
  const found = new Map<string, Found>()
  const sources = new Map<string, Source | undefined>()
  // Each once, however many variables come from it.
  const from = async (resource: Resource<Secret | ConfigMap>, name: string) => {
    const id = tellRef(resource, { name })
    if (!sources.has(id)) {
      const object = await getIfThere(live, resource, beside(apply, name))
      sources.set(id, object && { resource, object })
    }
    return sources.get(id)?.object.data
  }
  for (const { name, apply: other, secret, configMap } of apply.spec.variablesFrom ?? []) {
    if (other) found.set(name, await outputOf(read, apply, live, other))
    if (secret) {
      const data = await from(Secret, secret.name)
      found.set(name, valueIn(`Secret ${secret.name}`, secret, data && decoded(data), true))
    }
    if (configMap) {
      const data = await from(ConfigMap, configMap.name)
      found.set(name, valueIn(`ConfigMap ${configMap.name}`, configMap, data, false))
    }
  }
  return { found, sources: [...sources.values()].filter((each) => each !== undefined) }
}

interface Ref {
  readonly key: string
  readonly format: 'Text' | 'JSON'
}

type Texts = Readonly<Record<string, string | undefined>>

function valueIn(what: string, { key, format }: Ref, data: Texts | undefined, isSensitive: boolean): Found {
  if (!data) return missing(`${what} is not there`)
  if (!Object.hasOwn(data, key)) return missing(`${what} has no key ${key}`)
  const text = data[key]
  if (text === undefined) return missing(`key ${key} of ${what} is not UTF-8 text`)
  const value = format === 'JSON' ? readJson(text) : text
  return value === undefined ? missing(`key ${key} of ${what} is not JSON`) : { is: 'known', value, isSensitive }
}

function missing(why: string): Found {
  return { is: 'missing', why }
}

function decoded(data: Readonly<Record<string, string>>): Texts {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, textOf(value)]))
}

function textOf(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'))
  } catch {
    return undefined
  }
}

// What is not told in its status is sensitive, or too large, and is in its connection Secret.
async function outputOf(
  read: Read,
  apply: Apply,
  live: Live,
  { name, output }: { readonly name: string; readonly output: string },
): Promise<Found> {
  const other = read.get(WorkspaceTemplateApply, beside(apply, name))
  if (!other || dependencyOnApply(name, other).is !== 'ready') return missing(`apply ${name} has not converged`)
  const plain = pick(other.status?.outputs, output)
  if (plain !== undefined) return { is: 'known', value: plain, isSensitive: false }
  const { name: secret, namespace } = workspaceOf(read, other)?.spec.writeConnectionSecretToRef ?? {}
  const isHere = namespace === undefined || namespace === apply.metadata.namespace
  const connection = secret && isHere ? await getIfThere(live, Secret, beside(apply, secret)) : undefined
  const picked = pickConnection(connection?.data ?? {}, output)
  return picked ? { is: 'known', ...picked, isSensitive: true } : missing(`apply ${name} has no output ${output}`)
}

// The Workspace it has, as far as that is written down.
export function workspaceOf(read: Read, apply: Apply): Workspace | undefined {
  const recorded = recordedOn(apply)
  if (!recorded) return undefined
  const api = workspaceAPIs[recorded.group]
  return read.get(api.workspace, workspaceKey(api, apply, recorded.name))
}
