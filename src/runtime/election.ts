// Which of several processes leads: the one that holds a Lease. What leading is good for is the caller's.
//
// Flow. A candidate looks at the Lease every retry period and takes it when it may; then it renews it every retry period.
// `holds()` is asked before each write is sent. Once lost, leading never comes back: the process exits and starts anew.
//
// Guarantees. `holds()` is true of one process at a time, whatever wall clocks say, and however long a process was
// stopped: it counts from when the last renewal that succeeded was sent, and others count a longer time from when they
// saw it. So a last write has `leaseDurationMs - renewDeadlineMs` to arrive before anybody else begins.
//
// Assumptions. An identity is used for one life. The client is not guarded by `holds()`. Who calls `stop()` has waited for
// the writes it sent: another may lead a moment later.
//
// Caveats. Time here is CLOCK_MONOTONIC: it goes on while a process is stopped, but not while the machine is suspended.
// Woken from that, or with a write that lay in a network for long, a process may write once too often; then the
// resourceVersion or uid in each write protects. So it does when a Lease is deleted by hand while another process starts,
// or is just creating it: that one finds no Lease, as on the day of installation, and does not wait.
import { Lease } from '../api/neighbours.ts'
import { tellRef } from '../api/resource.ts'
import type { Client } from '../kube/client.ts'
import { isAlreadyThere, isConflict, isNotFound } from '../kube/errors.ts'
import type { Clock } from './clock.ts'
import { within } from './deadline.ts'
import { type Claim, newLease, readClaim, toHold, toRelease } from './lease.ts'

export interface Standing {
  readonly role: 'waiting' | 'leading' | 'lost' | 'stopped'
  readonly holder: string // whom we saw hold the Lease; empty: nobody
  readonly transitions: number
}

export interface Election {
  start(): void
  holds(): boolean
  standing(): Standing
  // Holds no longer from the call on, and lets go of the Lease, so that another leads within a retry period.
  stop(): Promise<void>
}

export interface ElectionOptions {
  readonly name: string
  readonly namespace: string
  readonly identity: string
  readonly client: Pick<Client, 'get' | 'create' | 'patch'>
  readonly clock: Clock
  readonly random?: () => number // from 0 up to 1
  readonly date?: () => Date
  readonly leaseDurationMs?: number
  readonly renewDeadlineMs?: number
  readonly retryPeriodMs?: number
  onChange(standing: Standing): void // another role or another holder
  onTrouble(error: unknown): void // not again while it stays the same
}

const releaseDeadlineMs = 2000

export function createElection(options: ElectionOptions): Election {
  const { name, namespace, identity, client, clock, random = Math.random, date = () => new Date() } = options
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2000, onChange, onTrouble } = options
  if (!(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryPeriodMs && retryPeriodMs > 0))
    throw new Error(
      `cannot elect a leader with a lease of ${leaseDurationMs} ms, renewed within ${renewDeadlineMs} ms, tried every ` +
        `${retryPeriodMs} ms: each must be longer than the next`,
    )
  const key = { namespace, name }
  const requestDeadlineMs = renewDeadlineMs / 2 // so that a request that hangs leaves time for another
  let standing: Standing = { role: 'waiting', holder: '', transitions: 0 }
  let seen: { readonly resourceVersion: string | undefined; readonly since: number } | undefined
  let written: Claim | undefined // as our last write that was answered left it
  let holdsUntil = 0
  let attempt = Promise.resolve()
  let callOffAttempt = () => {}
  let callOffEnd = () => {}
  let told = ''

  const holds = () => standing.role === 'leading' && clock.now() < holdsUntil
  const isOver = () => standing.role === 'lost' || standing.role === 'stopped'

  function become(role: Standing['role'], claim: Pick<Claim, 'holder' | 'transitions'>): void {
    if (isOver()) return
    const before = standing
    standing = { role, holder: claim.holder, transitions: claim.transitions }
    if (before.role !== role || before.holder !== claim.holder) onChange(standing)
  }

  function end(role: 'lost' | 'stopped', claim: Pick<Claim, 'holder' | 'transitions'> = standing): void {
    callOffAttempt()
    callOffEnd()
    become(role, claim)
  }

  // A process that was stopped may be here, or have its answer, before the timer that should have ended it.
  function endIfLate(): void {
    if (standing.role === 'leading' && !holds()) end('lost')
  }

  async function tryOnce(): Promise<void> {
    endIfLate()
    if (isOver()) return
    try {
      await (standing.role === 'leading' ? renew() : acquire())
      told = ''
    } catch (error) {
      tell(error)
    }
    if (isOver()) return
    // Candidates part by jitter. It only shortens, so that a Lease let go is taken within a period.
    const delay = standing.role === 'leading' ? retryPeriodMs : retryPeriodMs * (0.5 + random() / 2)
    callOffAttempt = clock.wakeAt(clock.now() + delay, begin)
  }

  function begin(): void {
    attempt = tryOnce()
  }

  async function acquire(): Promise<void> {
    const claim = await look()
    become('waiting', claim ?? { holder: '', transitions: 0 })
    if (mayTake(claim)) await write(claim)
  }

  async function renew(): Promise<void> {
    try {
      if (written) return await write(written)
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error, name)) throw error
    }
    // Changed since: by a write of ours whose answer was lost, by a hand that left us the holder, or it is ours no more.
    const claim = await look()
    if (claim?.holder === identity) await write(claim)
    else end('lost', claim ?? { holder: '', transitions: standing.transitions })
  }

  async function look(): Promise<Claim | undefined> {
    const claim = await answered('read', client.get(Lease, key).then(readClaim, absent))
    // Counted from the answer: what it says was so before. A Lease that was never there kept nobody waiting.
    const since = claim || seen ? clock.now() : Number.NEGATIVE_INFINITY
    if (!seen || seen.resourceVersion !== claim?.resourceVersion)
      seen = { resourceVersion: claim?.resourceVersion, since }
    return claim
  }

  function absent(error: unknown): undefined {
    if (!isNotFound(error, name)) throw error
  }

  // Free, or unchanged before our own eyes for as long as its holder may hold it. That goes for one that names us, too:
  // we asked and had no answer, and a creation under way for long may have come after another's Lease was deleted.
  function mayTake(claim: Claim | undefined): boolean {
    if (claim?.holder === '') return true
    return seen !== undefined && clock.now() - seen.since >= (claim?.durationMs ?? leaseDurationMs)
  }

  async function write(claim: Claim | undefined): Promise<void> {
    if (isOver()) return
    const by = { identity, durationMs: leaseDurationMs, now: date() }
    const sentAt = clock.now()
    const sent = claim ? client.patch(Lease, key, toHold(claim, by)) : client.create(Lease, newLease(key, by))
    written = readClaim(await answered(claim?.holder === identity ? 'renew' : 'acquire', sent))
    endIfLate()
    const until = sentAt + renewDeadlineMs
    if (isOver() || clock.now() >= until) return
    holdsUntil = until
    callOffEnd()
    callOffEnd = clock.wakeAt(until, () => end('lost'))
    become('leading', written)
  }

  async function answered<T>(doing: string, answer: Promise<T>, deadlineMs = requestDeadlineMs): Promise<T> {
    return within(clock, deadlineMs, `${doing} ${tellRef(Lease, key)}`, answer)
  }

  function tell(error: unknown): void {
    if (isConflict(error) || isAlreadyThere(error)) return // another was faster
    const message = String(error)
    if (message !== told) onTrouble(error)
    told = message
  }

  return {
    start: begin,
    holds,
    standing: () => standing,
    async stop() {
      endIfLate()
      const wasLost = standing.role === 'lost' // its writes may still be under way
      end('stopped')
      if (wasLost) return
      try {
        await answered('leave', attempt, releaseDeadlineMs)
        if (written?.holder !== identity) return
        await answered('release', client.patch(Lease, key, toRelease(written, date())), releaseDeadlineMs)
      } catch (error) {
        tell(error)
      }
    },
  }
}
