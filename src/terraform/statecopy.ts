// The copy of a state, as Secrets: what the engine writes before an apply, and what a command restores from. A copy is named
// by what is in it, so that writing it twice writes it once; its first part is written last and says how many there are. Pure.
import { hash } from 'node:crypto'
import { annotations, labels } from '../api/keys.ts'
import type { Secret } from '../api/neighbours.ts'
import { isRecord, readJson } from '../api/record.ts'
import type { KubeObject, ObjectMeta } from '../api/resource.ts'
import type { StateHead } from './state.ts'

export interface StateCopy {
  readonly id: string // a hash of its bytes
  readonly lineage: string
  readonly serial: number
  readonly takenAt: string
  readonly revision: string // of what was to be applied next, or was applied last
  readonly taken?: 'after' // that was applied; none: before
  readonly resources?: number // in it; none: that cannot be seen
  readonly of?: string // <namespace>/<name> of the Secret that it is a copy of
  readonly parts: number
}

export interface Copied extends Pick<StateCopy, 'takenAt' | 'revision' | 'taken' | 'resources' | 'of'> {
  readonly bytes: Buffer // the state's JSON, gzipped
  readonly head: StateHead
}

const partBytes = 1_000_000 // a Secret holds 1 MiB
export const mostParts = 16

export function partsOf(bytes: Buffer): number {
  return Math.max(1, Math.ceil(bytes.length / partBytes))
}

// In the order to write them. `about` is what all of them carry: namespace, labels, annotations; `recordOf` among the labels.
export function copySecrets(copied: Copied, about: Omit<ObjectMeta, 'name'>): readonly Secret[] {
  const { bytes, head, ...more } = copied
  const parts = partsOf(bytes)
  const copy = { id: idOf(bytes), lineage: head.lineage, serial: head.serial, ...more, parts }
  return Array.from({ length: parts }, (_, part) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      ...about,
      name: partName(about.labels?.[labels.recordOf] ?? '', copy.id, part),
      labels: { ...about.labels, [labels.record]: 'state' },
      annotations: { ...about.annotations, ...(part === 0 && { [annotations.state]: JSON.stringify(copy) }) },
    },
    immutable: true,
    data: { tfstate: bytes.subarray(part * partBytes, (part + 1) * partBytes).toString('base64') },
  })).toReversed()
}

export function idOf(bytes: Buffer): string {
  return hash('sha256', bytes, 'hex').slice(0, 12)
}

// The whole copies among these objects, which may be metadata only, the newest first.
export function readCopies(objects: readonly Pick<KubeObject, 'metadata'>[]): readonly StateCopy[] {
  const names = new Set(objects.map(({ metadata }) => metadata.name))
  return objects
    .flatMap(({ metadata }) => {
      const copy = readJson(metadata.annotations?.[annotations.state] ?? '')
      return isCopy(copy) && namesOf(metadata, copy).every((name) => names.has(name)) ? [copy] : []
    })
    .toSorted((a, b) => compare(b.takenAt, a.takenAt) || b.serial - a.serial)
}

// What of these objects belongs to none of these copies, a first part before its others.
export function strayOf<T extends Pick<KubeObject, 'metadata'>>(
  objects: readonly T[],
  copies: readonly StateCopy[],
): readonly T[] {
  const kept = new Set(objects.flatMap(({ metadata }) => copies.flatMap((copy) => namesOf(metadata, copy))))
  return objects
    .filter(({ metadata }) => !kept.has(metadata.name))
    .toSorted((a, b) => compare(a.metadata.name, b.metadata.name))
}

// Its gzipped JSON, from the Secrets of a Workspace; undefined when a part of it is missing.
export function openCopy(secrets: readonly Secret[], copy: StateCopy): Buffer | undefined {
  const head = secrets.find(({ metadata }) => metadata.name.endsWith(`-${copy.id}`))
  const parts = head
    ? namesOf(head.metadata, copy).map((name) => secrets.find(({ metadata }) => metadata.name === name))
    : []
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part?.data?.['tfstate'] ?? '', 'base64')))
  return idOf(bytes) === copy.id ? bytes : undefined
}

function namesOf({ labels: of }: ObjectMeta, { id, parts }: StateCopy): readonly string[] {
  return Array.from({ length: parts }, (_, part) => partName(of?.[labels.recordOf] ?? '', id, part))
}

function partName(recordOf: string, id: string, part: number): string {
  return `state-${recordOf}-${id}${part === 0 ? '' : `-${part}`}`
}

function isCopy(value: unknown): value is StateCopy {
  if (!isRecord(value)) return false
  const { id, lineage, serial, takenAt, revision, taken = 'after', resources = 0, of = '', parts } = value
  const isText = [id, lineage, takenAt, revision, of].every((each) => typeof each === 'string') && taken === 'after'
  const isCounted = [serial, resources, parts].every((each) => typeof each === 'number')
  return isText && isCounted && Number(parts) >= 1 && Number(parts) <= mostParts
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
