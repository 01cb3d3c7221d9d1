// What the engine remembers of a Workspace from one life to the next, as the data of a Secret. Only the engine writes it; what
// another version of it wrote otherwise is as if it were not there. Pure.
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { isRecord, isTexts, readJson } from '../api/record.ts'
import type { StateHead } from '../terraform/state.ts'
import type { Inputs } from './inputs.ts'

// An apply or a destroy, written down before it begins.
export interface Run {
  readonly operation: 'apply' | 'destroy'
  readonly revision: string
  readonly startedAt: string
  readonly since?: string // when an earlier one began in the same folder whose lock may still be there
  readonly host: string
  readonly bootId: string // of the machine since it was last started
  readonly creates: readonly string[] | 'many' // addresses that the plan would create or replace
}

export interface Memory {
  readonly run?: Run // one that did not end, or is still under way
  readonly state?: StateHead // as the last apply left it
  readonly inputs?: Inputs // of the last apply
  readonly home?: string // where the state is: <namespace>/<name> of its Secret, or of another backend what it is known by
  readonly moved?: string // that it may be moved, in the words by which that was asked for
}

// All of it fits into one Secret, which holds 1 MiB.
const createsBytes = 100_000
const inputsBytes = 900_000

export function packRun(run: Run): string {
  const isTooLong = Buffer.byteLength(JSON.stringify(run.creates)) > createsBytes
  return packed({ ...run, ...(isTooLong && { creates: 'many' }) })
}

export function packState(state: StateHead): string {
  return packed(state)
}

export function packText(text: string): string {
  return packed(text)
}

// Undefined when they are too large.
export async function packInputs(inputs: Inputs): Promise<string | undefined> {
  const bytes = await promisify(gzip)(JSON.stringify(inputs))
  return bytes.length > inputsBytes ? undefined : bytes.toString('base64')
}

export async function readMemory(data: Readonly<Record<string, string>>): Promise<Memory> {
  const { run, state, home, moved, inputs } = {
    run: unpacked(data['run']),
    state: unpacked(data['state']),
    home: unpacked(data['home']),
    moved: unpacked(data['moved']),
    inputs: await unzipped(data['inputs']),
  }
  return {
    ...(isRun(run) && { run }),
    ...(isHead(state) && { state }),
    ...(isInputs(inputs) && { inputs }),
    ...(typeof home === 'string' && { home }),
    ...(typeof moved === 'string' && { moved }),
  }
}

function packed(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}

function unpacked(base64 = ''): unknown {
  return readJson(Buffer.from(base64, 'base64').toString())
}

async function unzipped(base64 = ''): Promise<unknown> {
  try {
    return readJson((await promisify(gunzip)(Buffer.from(base64, 'base64'))).toString())
  } catch {
    return undefined
  }
}

function isRun(value: unknown): value is Run {
  if (!isRecord(value)) return false
  const { operation, revision, startedAt, since = '', host, bootId, creates } = value
  return (
    (operation === 'apply' || operation === 'destroy') &&
    isTexts([revision, startedAt, since, host, bootId]) &&
    (creates === 'many' || isTexts(creates))
  )
}

function isHead(value: unknown): value is StateHead {
  if (!isRecord(value)) return false
  const { lineage, serial, isEmpty } = value
  return typeof lineage === 'string' && typeof serial === 'number' && typeof isEmpty === 'boolean'
}

function isInputs(value: unknown): value is Inputs {
  if (!isRecord(value)) return false
  const { files, env, varArgs, hasBackendFile, usesPluginCache, isLogged, secrets } = value
  return (
    [files, env].every((each) => isRecord(each) && isTexts(Object.values(each))) &&
    [varArgs, secrets].every(isTexts) &&
    [hasBackendFile, usesPluginCache, isLogged].every((each) => typeof each === 'boolean')
  )
}
