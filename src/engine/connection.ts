// The connection Secret of a Workspace: all outputs, as Crossplane's provider writes them. It holds secrets, so nothing here is
// logged and no message names a value.
import { Secret } from '../api/neighbours.ts'
import { apiVersionOf, groupOf, type Key, keyOf, type OwnerReference, tellKey } from '../api/resource.ts'
import { crossplane, type Workspace, type WorkspaceAPI } from '../api/workspace.ts'
import type { Client } from '../kube/client.ts'
import { getIfThere } from '../kube/ifthere.ts'
import { tenantOf } from './tenancy.ts'
import type { Output } from './terraform.ts'

export type Outputs = Readonly<Record<string, Output>>

// It cannot be written, as a sentence that says what to do.
export class ConnectionError extends Error {}

export interface Connections {
  // As it is now; undefined: none is asked for, or there is none.
  versionOf(workspace: Workspace): Promise<string | undefined>
  // Makes it, empty, unless it is there.
  reserve(api: WorkspaceAPI, workspace: Workspace): Promise<void>
  // Fills it with exactly these, and tells which version that made.
  fill(api: WorkspaceAPI, workspace: Workspace, outputs: Outputs): Promise<string | undefined>
}

const fieldManager = 'capt-engine'

export function createConnections(client: Pick<Client, 'get' | 'create' | 'patch'>): Connections {
  async function make(api: WorkspaceAPI, workspace: Workspace, key: Key, data: Secret['data'] = {}): Promise<Secret> {
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...key, ownerReferences: [ownerOf(api, workspace)] },
      type: crossplane.connectionSecretType,
      ...(Object.keys(data).length > 0 && { data }),
    }
    return client.create(Secret, secret, { fieldManager })
  }

  return {
    async versionOf(workspace) {
      const key = connectionKey(workspace)
      return key && (await getIfThere(client, Secret, key))?.metadata.resourceVersion
    },
    async reserve(api, workspace) {
      const key = connectionKey(workspace)
      if (!key) return
      checkTenant(workspace, key)
      const there = await getIfThere(client, Secret, key)
      if (there) checkOurs(there, ownerOf(api, workspace))
      else await make(api, workspace, key)
    },
    async fill(api, workspace, outputs) {
      const key = connectionKey(workspace)
      if (!key) return undefined
      checkTenant(workspace, key)
      const data = Object.fromEntries(Object.entries(outputs).map(([name, output]) => [name, encoded(output)]))
      const there = await getIfThere(client, Secret, key)
      if (!there) return (await make(api, workspace, key, data)).metadata.resourceVersion
      checkOurs(there, ownerOf(api, workspace))
      const { uid, resourceVersion, ownerReferences = [] } = there.metadata
      const owner = ownerOf(api, workspace)
      const others = ownerReferences.filter((each) => !isSame(each, owner))
      const owners = isOwned(there, workspace) ? {} : { ownerReferences: [...others, owner] }
      const gone = Object.keys(there.data ?? {}).filter((name) => !(name in data))
      const news = Object.entries(data).filter(([name, value]) => there.data?.[name] !== value)
      if (gone.length + news.length === 0 && Object.keys(owners).length === 0) return resourceVersion
      const change = {
        metadata: { uid, resourceVersion, ...owners },
        data: { ...Object.fromEntries(gone.map((name) => [name, null])), ...Object.fromEntries(news) },
      }
      return (await client.patch<Secret>(Secret, key, change, { fieldManager })).metadata.resourceVersion
    },
  }
}

function connectionKey({ metadata, spec }: Workspace): Key | undefined {
  const ref = spec.writeConnectionSecretToRef
  const namespace = metadata.namespace ?? ref?.namespace
  return ref && namespace !== undefined ? { name: ref.name, namespace } : undefined
}

// One that was made for an apply writes where the apply is.
function checkTenant(workspace: Workspace, key: Key): void {
  const tenant = tenantOf(workspace)
  if (tenant === undefined || tenant === key.namespace) return
  const where = `spec.writeConnectionSecretToRef leads to namespace ${key.namespace}`
  throw new ConnectionError(`cannot write connection details: ${where}, but the Workspace is for ${tenant}`)
}

function ownerOf(api: WorkspaceAPI, { metadata: { name, uid = '' } }: Workspace): OwnerReference {
  const { workspace: resource } = api
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  }
}

function isOwned({ metadata }: Secret, workspace: Workspace): boolean {
  return metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === workspace.metadata.uid) ?? false
}

// By name: a Workspace that was deleted and made again finds the Secret of its earlier life, until that is collected. The version of its
// API may be another by then.
function isSame(a: OwnerReference, b: OwnerReference): boolean {
  return groupOf(a.apiVersion) === groupOf(b.apiVersion) && a.kind === b.kind && a.name === b.name
}

// Nobody's Secret is taken from them.
function checkOurs(secret: Secret, owner: OwnerReference): void {
  const other = secret.metadata.ownerReferences?.find(({ controller }) => controller)
  if (other ? isSame(other, owner) : secret.type === crossplane.connectionSecretType) return
  const whose = other
    ? `belongs to ${other.kind} ${other.name}`
    : `is of type ${secret.type ?? 'Opaque'}, not one of ours`
  const told = `cannot write connection details: Secret ${tellKey(keyOf(secret))} ${whose}`
  throw new ConnectionError(`${told}; choose another name in spec.writeConnectionSecretToRef`)
}

// A string as it is, everything else as JSON.
function encoded({ value }: Output): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64')
}
