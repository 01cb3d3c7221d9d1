// The Secret in which Terraform's `kubernetes` backend keeps a state, and the Lease by which it locks it, as both families of
// command lines write them. Who reads and writes is given, nothing is decided here.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Lease, Secret } from '../api/neighbours.ts'
import { isRecord, readJson } from '../api/record.ts'
import { apiVersionOf, type Key, tellRef } from '../api/resource.ts'
import { readStateHead, type StateFound } from './state.ts'

// Where the engine keeps states unless a ProviderConfig says otherwise, and what it keeps beside them.
export const stateNamespace = 'capt-terraform-state'
export const ownBackend = { namespace: stateNamespace, suffix: 'capt' }

export function stateKey({ namespace, suffix }: { namespace: string; suffix: string }, workspace: string): Key {
  return { namespace, name: `tfstate-${workspace}-${suffix}` }
}

const largest = 256 * 2 ** 20 // unpacked

export interface State extends StateFound {
  readonly bytes: Buffer // its JSON, gzipped; empty when it is absent
  readonly text: string // its JSON; empty when it is absent or damaged
}

// A state that is too large for a Secret goes on in `…-1`, `…-2` (Terraform does that since 1.6, OpenTofu refuses).
export async function readState(read: (key: Key) => Promise<Secret | undefined>, key: Key): Promise<State> {
  const where = tellRef(Secret, key)
  let bytes = Buffer.alloc(0)
  for (let part = 0; ; part++) {
    const secret = await read(part === 0 ? key : { ...key, name: `${key.name}-${part}` })
    const more = secret?.data?.['tfstate']
    if (more === undefined) return { where, head: part === 0 ? 'absent' : 'damaged', bytes, text: '' }
    bytes = Buffer.concat([bytes, Buffer.from(more, 'base64')])
    const text = await textOf(bytes)
    if (text === 'cut') continue
    const head = readStateHead(text)
    return head ? { where, head, bytes, text } : { where, head: 'damaged', bytes, text: '' }
  }
}

// What is no state unpacks to nothing.
export async function textOf(bytes: Buffer): Promise<string> {
  try {
    return (await promisify(gunzip)(bytes, { maxOutputLength: largest })).toString()
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR' ? 'cut' : ''
  }
}

const mostBytes = 1_000_000 // a Secret holds 1 MiB

export function fitsOneSecret(bytes: Buffer): boolean {
  return bytes.length <= mostBytes
}

// A state that a backend takes for its own; undefined when it does not fit into one Secret, or the key is not of that workspace.
export function stateSecretOf(key: Key, workspace: string, bytes: Buffer): Secret | undefined {
  const labels = labelsOf(key, workspace)
  if (!labels || !fitsOneSecret(bytes)) return undefined
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...key, labels, annotations: { encoding: 'gzip' } },
    type: 'Opaque',
    data: { tfstate: bytes.toString('base64') },
  }
}

// By them a backend finds its workspaces.
function labelsOf({ name }: Key, workspace: string): Readonly<Record<string, string>> | undefined {
  const prefix = `tfstate-${workspace}-`
  if (!name.startsWith(prefix) || name.length === prefix.length) return undefined
  return {
    'app.kubernetes.io/managed-by': 'terraform',
    tfstate: 'true',
    tfstateSecretSuffix: name.slice(prefix.length),
    tfstateWorkspace: workspace,
  }
}

export interface Lock {
  readonly id: string
  readonly who: string // user@host
  readonly operation: string
  readonly created: string
}

export const lockInfo = 'app.terraform.io/lock-info'

export function lockKey({ name, ...where }: Key): Key {
  return { ...where, name: `lock-${name}` }
}

// Who holds it; undefined: nobody.
export function lockOf({ metadata, spec }: Lease): Lock | undefined {
  const info = readJson(metadata.annotations?.[lockInfo] ?? '')
  if (!spec?.holderIdentity || !isRecord(info)) return undefined
  const text = (field: string) => (typeof info[field] === 'string' ? info[field] : '')
  return { id: spec.holderIdentity, who: text('Who'), operation: text('Operation'), created: text('Created') }
}

// The Lease of a state that is held so.
export function heldLease(state: Key, workspace: string, { id, who, operation, created }: Lock): Lease {
  const info = { ID: id, Operation: operation, Info: '', Who: who, Version: '', Created: created, Path: '' }
  return {
    apiVersion: apiVersionOf(Lease),
    kind: Lease.kind,
    metadata: {
      ...lockKey(state),
      labels: labelsOf(state, workspace) ?? {},
      annotations: { [lockInfo]: JSON.stringify(info) },
    },
    spec: { holderIdentity: id },
  }
}
