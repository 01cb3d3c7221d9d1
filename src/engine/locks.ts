// Who holds the lock of a state, and whether we may release it. A lock that is somebody's is never broken without the word of a
// user; one that a killed life of ourselves left behind is. Pure.
import { annotations } from '../api/keys.ts'
import type { Lease } from '../api/neighbours.ts'
import { isRecord, readJson } from '../api/record.ts'
import type { Machine } from './life.ts'
import type { Run } from './memory.ts'

export interface Lock {
  readonly id: string
  readonly who: string // user@host
  readonly operation: string
  readonly created: string
}

// Of the `kubernetes` backend.
export function readLock(lease: Lease | undefined): Lock | undefined {
  const id = lease?.spec?.holderIdentity
  if (!id) return undefined
  const info = readJson(lease.metadata.annotations?.['app.terraform.io/lock-info'] ?? '')
  const field = (name: string) => {
    const value = isRecord(info) ? info[name] : undefined
    return typeof value === 'string' ? value : ''
  }
  return { id, who: field('Who'), operation: field('Operation'), created: field('Created') }
}

// Of any backend, from what a command says when it cannot have the lock.
export function readLockError(text: string): Lock | undefined {
  const at = text.indexOf('Error acquiring the state lock')
  if (at < 0) return undefined
  const field = (name: string) => text.slice(at).match(new RegExp(`^[│\\s]*${name}:[ \\t]*(.*?)\\s*$`, 'm'))?.[1] ?? ''
  const id = field('ID')
  if (id === '') return undefined
  const created = field('Created').replace(/^(\S+) (\S+) \+0000 UTC$/, '$1T$2Z')
  return { id, who: field('Who'), operation: field('Operation'), created }
}

export interface LockQuestion {
  readonly lock: Lock | undefined
  readonly run: Run | undefined // the one that did not end, of the engine's memory
  readonly me: Machine
  readonly isAlive: boolean | undefined // the process of that run; undefined: not known
  readonly unlock: string | undefined // the user's word on the Workspace
}

export type LockVerdict =
  | { readonly is: 'free' }
  | { readonly is: 'ours'; readonly lock: Lock; readonly message: string } // a process of ours still works: wait for it
  | { readonly is: 'releasable'; readonly lock: Lock; readonly why: 'leftBehind' | 'asked' }
  | { readonly is: 'somebodys'; readonly lock: Lock; readonly message: string }

export function judgeLock({ lock, run, me, isAlive, unlock }: LockQuestion): LockVerdict {
  if (!lock) return { is: 'free' }
  const held = `the state is locked by ${lock.who || 'somebody'} since ${lock.created || 'an unknown time'} (${lock.operation || 'unknown operation'}, lock ${lock.id})`
  if (isOfRun(lock, run, me)) {
    // Two would write the state: not even a user may want that.
    if (isAlive)
      return { is: 'ours', lock, message: `${held}: a ${run?.operation} begun earlier still runs; it is waited for` }
    if (isAlive === false) return { is: 'releasable', lock, why: 'leftBehind' }
  }
  if (unlock === lock.id) return { is: 'releasable', lock, why: 'asked' }
  return {
    is: 'somebodys',
    lock,
    message: `${held}: wait for it to end, or, if it never will, annotate ${annotations.unlock}=${lock.id}`,
  }
}

// Taken on this machine, since it was last started, after that run began. A user's name may be missing in a container.
function isOfRun(lock: Lock, run: Run | undefined, me: Machine): boolean {
  return (
    run !== undefined &&
    me.bootId !== '' &&
    run.host === me.host &&
    run.bootId === me.bootId &&
    lock.who.endsWith(`@${me.host}`) &&
    Date.parse(lock.created) >= Date.parse(run.startedAt)
  )
}
