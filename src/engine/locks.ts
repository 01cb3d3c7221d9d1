// Who holds the lock of a state, and whether we may release it. A lock that is somebody's is never broken without the word of a
// user; one that a killed life of ourselves left behind is. Pure.
import type { Lock } from '../terraform/statesecret.ts'
import type { Machine } from './life.ts'
import type { Run } from './memory.ts'
import type { Ran } from './terraform.ts'

// The lock that kept a command from doing anything at all. One that has begun may speak of the lock of something else.
export function refusedBy({ code, out, err }: Ran): Lock | undefined {
  const hasBegun = /: (?:Creating|Modifying|Destroying)\.\.\./.test(out)
  return code === 0 || hasBegun ? undefined : readLockError(err)
}

// Of any backend, from what a command says when it cannot have the lock.
export function readLockError(text: string): Lock | undefined {
  const at = text.search(/Error acquiring the state lock|state is already locked/)
  if (at < 0) return undefined
  const field = (name: string) => text.slice(at).match(new RegExp(`^[│\\s]*${name}:[ \\t]*(.*?)\\s*$`, 'm'))?.[1] ?? ''
  const id = field('ID')
  if (id === '') return undefined
  const created = field('Created').replace(/^(\S+) (\S+) \+0000 UTC$/, '$1T$2Z')
  return { id, who: field('Who'), operation: field('Operation'), created }
}

export interface LockQuestion {
  readonly lock: Lock
  readonly run: Run | undefined // the one that did not end, of the engine's memory
  readonly me: Machine
  readonly bornAt: string // since when this life of the engine is
  readonly ended: readonly Span[] // in which runs of this life had the lock, and came to a bad end
  readonly hasEnded: boolean // that run for sure, in whatever way
  readonly unlock: string | undefined // the user's word on the Workspace
  command(id: string): string // by which the user gives it
}

export interface Span {
  readonly from: string
  readonly to: string
}

export type LockVerdict =
  | { readonly is: 'releasable'; readonly why: 'leftBehind' | 'asked' }
  | { readonly is: 'somebodys'; readonly message: string }

export function judgeLock(question: LockQuestion): LockVerdict {
  const { lock, hasEnded, unlock, command } = question
  const isOfOurs = isBeginning(lock) || (hasEnded && isOfRun(question))
  if (isOfThisLife(question) || (isOfOurs && isOfAnEarlierLife(question)))
    return { is: 'releasable', why: 'leftBehind' }
  if (unlock === lock.id) return { is: 'releasable', why: 'asked' }
  const held = `the state is already locked by ${lock.who || 'somebody'} since ${lock.created || 'an unknown time'} (${lock.operation || 'unknown operation'}, lock ${lock.id})`
  return {
    is: 'somebodys',
    message: `${held}: wait for it to end, or, if it never will, release it with: ${command(lock.id)}`,
  }
}

// The lock under which a backend begins a state that is not there yet: no run is noted for it, nothing but an empty state is
// written under it, and it is held for a moment.
export function isBeginning({ operation }: Lock): boolean {
  return operation === 'init'
}

// Taken since this machine was last started, after that run began, or one that it came after.
function isOfRun({ lock, run, me }: LockQuestion): boolean {
  return (
    run !== undefined &&
    me.bootId !== '' &&
    run.host === me.host &&
    run.bootId === me.bootId &&
    Date.parse(lock.created) >= Date.parse(run.since ?? run.startedAt)
  )
}

// Who took a lock while a run of ours had it, was that run. It may have failed to release it: the API server was away.
function isOfThisLife(question: LockQuestion): boolean {
  const created = Date.parse(question.lock.created)
  const isWithin = ({ from, to }: Span) => created >= Date.parse(from) && created <= Date.parse(to)
  return isHere(question) && question.ended.some(isWithin)
}

// What else is taken while this life is, is somebody else's on this machine.
function isOfAnEarlierLife(question: LockQuestion): boolean {
  return isHere(question) && Date.parse(question.lock.created) < Date.parse(question.bornAt)
}

// A user's name may be missing in a container.
function isHere({ lock, me }: LockQuestion): boolean {
  return lock.who.endsWith(`@${me.host}`)
}
