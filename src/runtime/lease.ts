// A Lease as client-go writes it, and what election reads from it and changes in it. No clock, no wire.
import { microTime } from '../api/moment.ts'
import { Lease } from '../api/neighbours.ts'
import { apiVersionOf, type Key, keyOf, tellRef } from '../api/resource.ts'

// Who claims the Lease, and which version of it says so.
export interface Claim {
  readonly holder: string // empty: nobody
  readonly durationMs: number | undefined
  readonly transitions: number // how often it went to another holder
  readonly uid: string
  readonly resourceVersion: string
}

export interface Claimant {
  readonly identity: string
  readonly durationMs: number
  readonly now: Date // for people to read; nobody here counts by it
}

export function readClaim({ metadata, spec = {} }: Lease): Claim {
  const { uid, resourceVersion } = metadata
  if (uid === undefined || resourceVersion === undefined)
    throw new Error(`cannot read ${tellRef(Lease, keyOf({ metadata }))}: it has no uid or no resourceVersion`)
  return {
    holder: spec.holderIdentity ?? '',
    durationMs: spec.leaseDurationSeconds === undefined ? undefined : spec.leaseDurationSeconds * 1000,
    transitions: spec.leaseTransitions ?? 0,
    uid,
    resourceVersion,
  }
}

export function newLease(key: Key, by: Claimant): Lease {
  const spec = { ...heldBy(by), acquireTime: microTime(by.now), leaseTransitions: 0 }
  return { apiVersion: apiVersionOf(Lease), kind: Lease.kind, metadata: key, spec }
}

// Acquires it, or renews it when it is the claimant's already.
export function toHold(claim: Claim, by: Claimant): object {
  const acquired = { acquireTime: microTime(by.now), leaseTransitions: claim.transitions + 1 }
  return changing(claim, { ...heldBy(by), ...(claim.holder === by.identity ? {} : acquired) })
}

// One second: a client that counts by the Lease's duration alone need not wait either.
export function toRelease(claim: Claim, now: Date): object {
  const time = microTime(now)
  return changing(claim, { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: time, renewTime: time })
}

function heldBy({ identity, durationMs, now }: Claimant) {
  const leaseDurationSeconds = Math.ceil(durationMs / 1000)
  return { holderIdentity: identity, leaseDurationSeconds, renewTime: microTime(now) }
}

// A merge patch that the API server refuses if the Lease is another one by now, or was changed.
function changing({ uid, resourceVersion }: Claim, spec: Lease['spec']): object {
  return { metadata: { uid, resourceVersion }, spec }
}
