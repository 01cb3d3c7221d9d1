// Candidates for one Lease in a bad world, simulated: requests and answers late or lost, processes stopped for a while,
// killed and started anew, the Lease deleted by hand. Time is a list of what happens next; no real time passes.
import fc from 'fast-check'
import type { Lease } from '../src/api/neighbours.ts'
import { ApiError } from '../src/kube/errors.ts'
import type { Clock } from '../src/runtime/clock.ts'
import { createElection, type Election } from '../src/runtime/election.ts'
import { type LeaseRequest, leaseClient, leaseStore } from './leases.ts'

export interface Passage {
  readonly there: number // ms
  readonly back: number
  readonly stopsMs: number // so long the sender is stopped as soon as it has sent
  readonly fate: 'answered' | 'refused' | 'swallowed' | 'answer lost' | 'answer broken'
}

export type Fault = { readonly at: number; readonly who: number } & (
  | { readonly do: 'pause'; readonly ms: number; readonly answersFirst: boolean }
  | { readonly do: 'kill' | 'stop'; readonly backAfterMs: number }
  | { readonly do: 'delete Lease' | 'touch Lease' }
)

export interface BadWorld {
  readonly candidates: readonly { readonly monotonic: number; readonly wall: number; readonly random: number }[]
  readonly passages: readonly Passage[] // of the first request, the second, and so on, over and over
  readonly faults: readonly Fault[]
}

const smooth: Passage = { there: 5, back: 5, stopsMs: 0, fate: 'answered' }
const lastFaultAt = 30_000
const longestStopMs = 20_000
const faultsEndAt = lastFaultAt + longestStopMs
const quietMs = 30_000 // a request still on its way, then a whole lease

const delay = fc.oneof({ weight: 12, arbitrary: fc.nat(20) }, { weight: 1, arbitrary: fc.nat(9000) })
const anyFate = fc.oneof(
  { weight: 10, arbitrary: fc.constant('answered' as const) },
  { weight: 1, arbitrary: fc.constantFrom('refused', 'swallowed', 'answer lost', 'answer broken') },
)
const stops = fc.oneof({ weight: 25, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(longestStopMs) })
const where = { at: fc.nat(lastFaultAt), who: fc.nat(2) }
const anyFault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ ...where, do: fc.constant('pause' as const), ms: fc.nat(longestStopMs), answersFirst: fc.boolean() }),
  fc.record({ ...where, do: fc.constantFrom('kill', 'stop'), backAfterMs: fc.nat(10_000) }),
  fc.record({ ...where, do: fc.constantFrom('delete Lease', 'touch Lease') }),
)

export const badWorld: fc.Arbitrary<BadWorld> = fc.record({
  candidates: fc.array(
    fc.record({ monotonic: fc.nat(1_000_000), wall: fc.integer({ min: -100_000, max: 100_000 }), random: fc.nat(99) }),
    { minLength: 3, maxLength: 3 },
  ),
  passages: fc.array(fc.record({ there: delay, back: delay, stopsMs: stops, fate: anyFate }), {
    minLength: 1,
    maxLength: 40,
  }),
  faults: fc.array(anyFault, { maxLength: 8 }),
})

interface Call {
  readonly kind: 'timer' | 'answer'
  readonly run: () => void
}

// One life of a candidate, from its start until it exits or is killed.
interface Life {
  readonly election: Election
  readonly who: number
  isAlive: boolean
  held: 'not yet' | 'now' | 'before'
  pausedUntil: number
  answersFirst: boolean
  inbox: Call[] // what came while it was paused
}

export interface Outcome {
  readonly together: readonly string[] // who held at the same time as another
  readonly again: readonly string[] // who held again after it had held no longer
  readonly leads: readonly string[] // in the end
}

export async function liveThrough(world: BadWorld): Promise<Outcome> {
  const store = leaseStore('demo')
  const lives: Life[] = []
  const agenda: { at: number; run: () => void | Promise<void> }[] = []
  const together = new Set<string>()
  const again = new Set<string>()
  let time = 0
  let requests = 0

  function plan(at: number, run: () => void | Promise<void>): void {
    let place = agenda.length
    while (place > 0 && (agenda[place - 1]?.at ?? 0) > at) place -= 1
    agenda.splice(place, 0, { at, run })
  }

  async function deliver(life: Life, call: Call): Promise<void> {
    if (!life.isAlive) return
    if (time < life.pausedUntil) {
      life.inbox.push(call)
      return
    }
    call.run()
    await settle()
    watch()
  }

  // Those who are stopped are asked too: it could be their first question when they go on.
  function watch(): void {
    for (const life of lives) {
      const holds = life.election.holds()
      if (holds && life.held === 'before') again.add(`#${life.who} at ${time}`)
      if (holds) life.held = 'now'
      else if (life.held === 'now') life.held = 'before'
    }
    if (holders().length > 1) for (const holder of holders()) together.add(`${holder} at ${time}`)
  }

  const holders = () => lives.flatMap(({ election, who }) => (election.holds() ? `#${who}` : []))

  function start(who: number): void {
    const { monotonic = 0, wall = 0, random = 0 } = world.candidates[who] ?? {}
    // Somebody who never saw the Lease cannot know that it was deleted; election.ts says so.
    if (!store.lease() && time > 0 && lives.some(({ isAlive }) => isAlive)) {
      plan(time + 500, () => start(who))
      return
    }
    const clock: Clock = {
      now: () => time + monotonic,
      wakeAt(at, call) {
        let isOff = false
        const run = () => (isOff ? undefined : call())
        plan(Math.max(time, at - monotonic), async () => (isOff ? undefined : deliver(life, { kind: 'timer', run })))
        return () => {
          isOff = true
        }
      },
    }
    const election = createElection({
      name: 'demo',
      namespace: 'capt',
      identity: `#${who} life ${lives.length}`,
      client: leaseClient(store, async (request) => carry(life, request)),
      clock,
      random: () => random / 100,
      date: () => new Date(1_800_000_000_000 + time + wall),
      onChange({ role }) {
        if (role === 'lost') exit(life, 1000)
      },
      onTrouble() {},
    })
    const life: Life = {
      election,
      who,
      isAlive: true,
      held: 'not yet',
      pausedUntil: 0,
      answersFirst: false,
      inbox: [],
    }
    lives.push(life)
    election.start()
  }

  function exit(life: Life, backAfterMs: number): void {
    if (!life.isAlive) return
    life.isAlive = false
    lives.splice(lives.indexOf(life), 1)
    plan(time + backAfterMs, () => start(life.who))
  }

  async function carry(life: Life, { apply }: LeaseRequest): Promise<Lease> {
    const drawn = world.passages[requests++ % world.passages.length]
    const { there, back, stopsMs, fate } = time < faultsEndAt && drawn ? drawn : smooth
    if (stopsMs > 0 && time < lastFaultAt) pause(life, stopsMs, true)
    return new Promise((resolve, reject) => {
      const answer = (run: () => void) => plan(time + back, async () => deliver(life, { kind: 'answer', run }))
      const broken = () => reject(new ApiError({ doing: 'ask', message: `connection reset ${requests}` }))
      plan(time + there, () => {
        if (fate === 'swallowed') return
        if (fate === 'refused') return answer(broken)
        const outcome = new Promise<Lease>((done) => {
          done(apply())
        })
        outcome.catch(() => {}) // it may be nobody's
        if (fate === 'answered') answer(() => resolve(outcome))
        if (fate === 'answer broken') answer(broken)
      })
    })
  }

  async function befall(fault: Fault): Promise<void> {
    if (fault.do === 'touch Lease' && store.lease()) store.patch({})
    if (fault.do === 'delete Lease' && lives.every(({ election }) => election.standing().holder)) store.remove()
    const life = lives.find(({ who }) => who === fault.who)
    if (!life) return
    if (fault.do === 'kill') exit(life, fault.backAfterMs)
    if (fault.do === 'pause') pause(life, fault.ms, fault.answersFirst)
    if (fault.do === 'stop' && time >= life.pausedUntil) {
      void life.election.stop().then(() => exit(life, fault.backAfterMs))
      await settle()
    }
  }

  function pause(life: Life, ms: number, answersFirst: boolean): void {
    life.pausedUntil = Math.max(life.pausedUntil, time + ms)
    life.answersFirst = answersFirst
    plan(life.pausedUntil, async () => wake(life))
  }

  async function wake(life: Life): Promise<void> {
    if (time < life.pausedUntil) return
    const rank = ({ kind }: Call) => Number((kind === 'answer') !== life.answersFirst)
    for (const call of life.inbox.splice(0).toSorted((a, b) => rank(a) - rank(b))) await deliver(life, call)
  }

  for (const who of world.candidates.keys()) plan(0, () => start(who))
  for (const fault of world.faults) plan(fault.at, async () => befall(fault))
  for (let next = agenda.shift(); next && next.at < faultsEndAt + quietMs; next = agenda.shift()) {
    time = next.at
    await next.run()
  }
  return { together: [...together], again: [...again], leads: holders() }
}

// Everything that can run without time passing runs. Counted turns, because a real pause costs more than a whole life here.
async function settle(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await Promise.resolve()
}
