// The Secret `<apply>-state`, in which a state travels when clusterctl moves its apply to another cluster: how it is packed, and what
// can be told of it unread. The manager makes it, and the engine fills it, or says in it where the state is. Pure.
import { annotations } from '../api/keys.ts'
import type { Secret } from '../api/neighbours.ts'
import { isRecord, readJson } from '../api/record.ts'
import type { ObjectMeta } from '../api/resource.ts'
import { isSerial } from './state.ts'

// What is told of it on the Secret itself. Nothing at all: it was never packed.
export interface Luggage {
  readonly backend: 'kubernetes' | 'other' // kubernetes: in the cluster that the engine serves, so it must come along
  readonly group: string // of the Workspace
  readonly externalName: string
  readonly of?: string // <namespace>/<name> of the Secret that the state is in
  readonly place?: string // of one that is elsewhere, and Crossplane runs Terraform: src/terraform/statehome.ts
  readonly home?: string // of a state elsewhere: which backend, and a fingerprint of where in it
  readonly lineage?: string // of the state that is packed
  readonly serial?: number
  readonly by?: string // the uid of the Workspace that has applied it, or found nothing to apply
  readonly revision?: string // that was applied then
  readonly cli?: string // by which the state was written: tofu 1.12.6
}

export interface Packed {
  readonly metadata: Pick<ObjectMeta, 'annotations'>
  readonly data: Readonly<Record<string, string | null>>
}

// As a merge patch. Without bytes there is no state in it.
export function packed(luggage: Luggage, bytes: Buffer | undefined): Packed {
  return {
    metadata: { annotations: { [annotations.state]: JSON.stringify(luggage) } },
    data: {
      backend: Buffer.from(luggage.backend).toString('base64'),
      tfstate: bytes ? bytes.toString('base64') : null,
    },
  }
}

export function luggageOn({ annotations: notes }: Pick<ObjectMeta, 'annotations'>): Luggage | undefined {
  const note = readJson(notes?.[annotations.state] ?? '')
  if (!isRecord(note) || (note['backend'] !== 'kubernetes' && note['backend'] !== 'other')) return undefined
  const { backend, group, externalName, of, place, home, lineage, serial, by, revision, cli } = note
  return {
    backend,
    group: typeof group === 'string' ? group : '',
    externalName: typeof externalName === 'string' ? externalName : '',
    ...(typeof of === 'string' && { of }),
    ...(typeof place === 'string' && { place }),
    ...(typeof home === 'string' && { home }),
    ...(typeof lineage === 'string' && { lineage }),
    ...(isSerial(serial) && { serial }),
    ...(typeof by === 'string' && { by }),
    ...(typeof revision === 'string' && { revision }),
    ...(typeof cli === 'string' && { cli }),
  }
}

// The gzipped JSON of the state; undefined when there is none, or it is that of another Workspace.
export function bytesIn(
  { metadata, data = {} }: Secret,
  whose: Pick<Luggage, 'group' | 'externalName'>,
): Buffer | undefined {
  const { group, externalName } = luggageOn(metadata) ?? {}
  const isIts = group === whose.group && externalName === whose.externalName
  return isIts && data['tfstate'] ? Buffer.from(data['tfstate'], 'base64') : undefined
}
