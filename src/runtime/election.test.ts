import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type VirtualClock, virtualClock } from '../../test/clock.ts'
import { badWorld, liveThrough } from '../../test/elections.ts'
import { type LeaseRequest, type LeaseStore, leaseClient, leaseStore } from '../../test/leases.ts'
import type { Lease } from '../api/neighbours.ts'
import { ApiError } from '../kube/errors.ts'
import type { Clock } from './clock.ts'
import { createElection, type ElectionOptions } from './election.ts'

const worlds = Number(process.env['CAPT_FUZZ_ELECTIONS'] ?? 300)

type Way = (request: LeaseRequest) => Promise<Lease>

const straight: Way = async ({ apply }) => apply()
const silent: Way = async () => new Promise(() => {})
const away: Way = async ({ verb }) => {
  throw new ApiError({ doing: `${verb} Lease capt/demo`, message: 'connection refused' })
}
const answerLost: Way = async (request) => {
  request.apply()
  return silent(request)
}

function once(call: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) call()
    isDone = true
  }
}

const slow =
  (clock: VirtualClock, ms: number): Way =>
  async ({ apply }) => {
    const lease = apply()
    await clock.sleep(ms)
    return lease
  }

// A candidate whose requests go whichever way they are told to.
function aCandidate(clock: VirtualClock, store: LeaseStore, identity: string, timing: Partial<ElectionOptions> = {}) {
  const candidate = {
    way: straight,
    stoppedMs: 0, // time that went by without its timers
    timers: 0,
    says: [] as string[],
    asked: [] as string[],
    troubles: [] as string[],
  }
  const ownClock: Clock = {
    now: () => clock.now() + candidate.stoppedMs,
    wakeAt(at, call) {
      candidate.timers += 1
      const isOver = once(() => {
        candidate.timers -= 1
      })
      const callOff = clock.wakeAt(at - candidate.stoppedMs, () => {
        isOver()
        call()
      })
      return () => {
        isOver()
        callOff()
      }
    },
  }
  const election = createElection({
    name: 'demo',
    namespace: 'capt',
    identity,
    client: leaseClient(store, async (request) => {
      candidate.asked.push(request.verb)
      return candidate.way(request)
    }),
    clock: ownClock,
    random: () => 1,
    onChange: ({ role, holder, transitions }) => candidate.says.push(`${role} ${holder || 'nobody'} ${transitions}`),
    onTrouble: (error) => candidate.troubles.push(String(error)),
    ...timing,
  })
  return Object.assign(candidate, election)
}

async function aLeaderAndAnother() {
  const clock = virtualClock()
  const store = leaseStore('demo')
  const leader = aCandidate(clock, store, 'old')
  leader.start()
  await clock.advance(0)
  const another = aCandidate(clock, store, 'new')
  another.start()
  await clock.advance(0)
  return { clock, store, leader, another }
}

test('where there is no Lease, the first who comes makes it and leads; the next one waits', async () => {
  const { clock, leader, another } = await aLeaderAndAnother()
  await clock.advance(60_000)
  expect([leader.says, another.says]).toEqual([['leading old 0'], ['waiting old 0']])
  expect([leader.holds(), another.holds()]).toEqual([true, false])
})

test('a leader only renews: it reads nothing', async () => {
  const { clock, leader } = await aLeaderAndAnother()
  leader.asked.length = 0
  await clock.advance(10_000)
  expect(leader.asked).toEqual(['patch', 'patch', 'patch', 'patch', 'patch'])
})

test('a leader that cannot renew stops ten seconds after it sent its last renewal, for ever', async () => {
  const { clock, leader } = await aLeaderAndAnother()
  leader.way = silent
  await clock.advance(9999)
  expect(leader.holds()).toBe(true)
  await clock.advance(1)
  expect([leader.holds(), leader.says]).toEqual([false, ['leading old 0', 'lost old 0']])
  leader.way = straight
  await clock.advance(60_000)
  expect([leader.holds(), leader.says]).toEqual([false, ['leading old 0', 'lost old 0']])
})

test('what counts is when a renewal was sent, not when it was answered', async () => {
  const { clock, leader } = await aLeaderAndAnother()
  leader.way = async ({ apply }) => {
    await clock.sleep(4000)
    return apply()
  }
  await clock.advance(6000) // sent at 2000, answered at 6000
  leader.way = silent
  await clock.advance(5999)
  expect(leader.holds()).toBe(true)
  await clock.advance(1)
  expect(leader.holds()).toBe(false)
})

test('another leads when it saw the Lease unchanged for its fifteen seconds, and not before', async () => {
  const { clock, leader, another } = await aLeaderAndAnother()
  leader.way = silent
  await clock.advance(14_999)
  expect(another.holds()).toBe(false)
  await clock.advance(2001)
  expect([another.holds(), another.says]).toEqual([true, ['waiting old 0', 'leading new 1']])
})

test('the fifteen seconds count from when the Lease was seen, not from when it was asked for', async () => {
  const { clock, leader, another } = await aLeaderAndAnother()
  another.way = async ({ apply }) => {
    await clock.sleep(4500)
    return apply()
  }
  await clock.advance(6499) // asked at 2000, seen at 6500
  leader.way = silent
  await clock.advance(1)
  another.way = straight
  await clock.advance(14_999)
  expect(another.holds()).toBe(false)
  await clock.advance(2001)
  expect(another.holds()).toBe(true)
})

test('the Lease of a stranger is waited for as long as the stranger wrote', async () => {
  const { clock, store, another } = await aLeaderAndAnother()
  store.patch({ spec: { holderIdentity: 'stranger', leaseDurationSeconds: 40 } })
  await clock.advance(40_000)
  expect(another.holds()).toBe(false)
  await clock.advance(4000)
  expect(another.holds()).toBe(true)
})

test('a leader that stops lets go, and another leads within a retry period', async () => {
  const { clock, store, leader, another } = await aLeaderAndAnother()
  const stopped = leader.stop()
  expect(leader.holds()).toBe(false)
  await stopped
  expect(store.lease()?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 })
  await clock.advance(2000)
  expect([another.holds(), another.says.at(-1)]).toEqual([true, 'leading new 1'])
  await clock.advance(60_000)
  expect([leader.holds(), leader.says]).toEqual([false, ['leading old 0', 'stopped old 0']])
})

test('a leader that stops while it renews lets go of what that renewal left', async () => {
  const { clock, leader, another } = await aLeaderAndAnother()
  leader.way = slow(clock, 500)
  await clock.advance(2100)
  const stopped = leader.stop()
  await clock.advance(1000)
  await stopped
  expect(leader.timers).toBe(0)
  await clock.advance(1500)
  expect(another.holds()).toBe(true)
})

test('a candidate that stops while it looks takes nothing', async () => {
  const clock = virtualClock()
  const candidate = aCandidate(clock, leaseStore('demo'), 'us')
  candidate.way = slow(clock, 500)
  candidate.start()
  await Promise.all([candidate.stop(), clock.advance(60_000)])
  expect([candidate.asked, candidate.says]).toEqual([['get'], ['stopped nobody 0']])
})

test('a candidate that stops while it takes the Lease does not lead, and lets go', async () => {
  const clock = virtualClock()
  const store = leaseStore('demo')
  const candidate = aCandidate(clock, store, 'us')
  candidate.way = slow(clock, 500)
  candidate.start()
  await clock.advance(100)
  await Promise.all([candidate.stop(), clock.advance(2000)])
  expect([candidate.says, store.lease()?.spec?.holderIdentity]).toEqual([['stopped nobody 0'], ''])
})

test('stopping does not wait for an API server that is silent', async () => {
  const { clock, leader } = await aLeaderAndAnother()
  leader.way = silent
  const stopped = leader.stop()
  await clock.advance(2000)
  await stopped
  expect(leader.troubles).toEqual(['Error: cannot release Lease capt/demo: no answer within 2 s'])
})

test('who does not lead, or no longer, lets go of nothing', async () => {
  const { clock, store, leader, another } = await aLeaderAndAnother()
  await another.stop()
  leader.way = silent
  await clock.advance(10_000)
  leader.way = straight
  await leader.stop()
  await clock.advance(10_000)
  expect(store.lease()?.spec?.holderIdentity).toBe('old')
})

test('a leader whose Lease was deleted stops at its next renewal, and another waits as long as if it were there', async () => {
  const { clock, store, leader, another } = await aLeaderAndAnother()
  await clock.advance(1000)
  store.remove()
  await clock.advance(1000)
  expect([leader.holds(), leader.says.at(-1)]).toEqual([false, 'lost nobody 0'])
  await clock.advance(14_999)
  expect(another.holds()).toBe(false)
  await clock.advance(2001)
  expect(another.holds()).toBe(true)
})

test('a leader whose Lease was taken by force stops at its next renewal', async () => {
  const { clock, store, leader } = await aLeaderAndAnother()
  store.patch({ spec: { holderIdentity: 'bully', leaseTransitions: 1 } })
  await clock.advance(2000)
  expect([leader.holds(), leader.says.at(-1)]).toEqual([false, 'lost bully 1'])
})

test.each<[string, (leader: { way: Way }, store: LeaseStore) => void]>([
  ['its Lease was touched by another hand', (_, store) => store.patch({})],
  ['the answer to a renewal was lost', (leader) => (leader.way = answerLost)],
  ['a request hung', (leader) => (leader.way = silent)],
  ['the API server was away', (leader) => (leader.way = away)],
])('a leader goes on when for a moment %s', async (_, befalls) => {
  const { clock, store, leader } = await aLeaderAndAnother()
  befalls(leader, store)
  await clock.advance(2001)
  leader.way = straight
  await clock.advance(60_000)
  expect([leader.holds(), leader.says]).toEqual([true, ['leading old 0']])
})

test('while the API server is away it is asked once a retry period, and told of once until it changes', async () => {
  const clock = virtualClock()
  const candidate = aCandidate(clock, leaseStore('demo'), 'us')
  candidate.way = away
  candidate.start()
  await clock.advance(59_999)
  expect(candidate.asked).toHaveLength(30)
  candidate.way = silent
  await clock.advance(30_000)
  candidate.way = straight
  await clock.advance(10_000)
  expect(candidate.holds()).toBe(true)
  for (const way of [away, straight, away]) {
    candidate.way = way
    await clock.advance(2000)
  }
  expect(candidate.troubles.map((each) => each.replace(/^\w+: /, ''))).toEqual([
    'cannot get Lease capt/demo: connection refused',
    'cannot read Lease capt/demo: no answer within 5 s',
    'cannot patch Lease capt/demo: connection refused',
    'cannot patch Lease capt/demo: connection refused',
  ])
})

test('candidates part: each waits between half a retry period and a whole one', async () => {
  const clock = virtualClock()
  const [eager, lazy] = [0, 0.999].map((random) =>
    aCandidate(clock, leaseStore('demo'), 'us', { random: () => random }),
  )
  for (const candidate of [eager, lazy]) {
    if (candidate) candidate.way = away
    candidate?.start()
  }
  await clock.advance(11_990)
  expect([eager?.asked.length, lazy?.asked.length]).toEqual([12, 6])
})

test('losing the race for a Lease is no trouble', async () => {
  const clock = virtualClock()
  const store = leaseStore('demo')
  const rivals = ['a', 'b', 'c'].map((identity) => aCandidate(clock, store, identity))
  for (const { start } of rivals) start()
  await clock.advance(5000)
  expect(rivals.map(({ holds, troubles }) => [holds(), troubles])).toEqual([
    [true, []],
    [false, []],
    [false, []],
  ])
})

test('a creation that was under way for long, and came after the Lease was deleted, makes no leader at once', async () => {
  const clock = virtualClock()
  const store = leaseStore('demo')
  const late = aCandidate(clock, store, 'late')
  const onTheWay: LeaseRequest[] = []
  late.way = async (request) => {
    if (request.verb === 'get') return request.apply()
    onTheWay.push(request)
    return silent(request)
  }
  late.start()
  await clock.advance(0)
  const leader = aCandidate(clock, store, 'leader')
  leader.start()
  await clock.advance(6500)
  store.remove()
  onTheWay[0]?.apply()
  late.way = straight
  await clock.advance(1400)
  expect([leader.holds(), late.holds(), late.standing().holder]).toEqual([true, false, 'late'])
  await clock.advance(20_000)
  expect([leader.holds(), late.holds()]).toEqual([false, true])
})

describe('a process that was stopped for a while', () => {
  test('finds at its first question that it holds no longer, and renews no more', async () => {
    const { clock, leader } = await aLeaderAndAnother()
    leader.stoppedMs = 10_000
    leader.asked.length = 0
    expect(leader.holds()).toBe(false)
    await clock.advance(60_000)
    expect([leader.asked, leader.says.at(-1)]).toEqual([[], 'lost old 0'])
  })

  test('does not hold again by a renewal that was under way', async () => {
    const { clock, leader } = await aLeaderAndAnother()
    leader.way = slow(clock, 500)
    await clock.advance(2100)
    leader.stoppedMs = 8000 // past what it held, but not yet past what this renewal is good for
    await clock.advance(400)
    expect([leader.holds(), leader.says.at(-1)]).toEqual([false, 'lost old 0'])
  })

  test('does not lead by an answer that came too late', async () => {
    const clock = virtualClock()
    const candidate = aCandidate(clock, leaseStore('demo'), 'us')
    candidate.way = slow(clock, 500)
    candidate.start()
    await clock.advance(100)
    candidate.stoppedMs = 10_000
    await clock.advance(5000)
    expect([candidate.holds(), candidate.says]).toEqual([false, ['waiting us 0']])
    await clock.advance(20_000)
    expect([candidate.holds(), candidate.says.at(-1)]).toEqual([true, 'leading us 0'])
  })

  test('lets go of nothing when it is told to stop', async () => {
    const { store, leader } = await aLeaderAndAnother()
    leader.stoppedMs = 10_000
    await leader.stop()
    expect([leader.says.at(-1), store.lease()?.spec?.holderIdentity]).toEqual(['lost old 0', 'old'])
  })
})

test('times that leave no room between one leader and the next are refused', () => {
  const elect = () => aCandidate(virtualClock(), leaseStore('demo'), 'us', { renewDeadlineMs: 15_000 })
  expect(elect).toThrow('renewed within 15000 ms, tried every 2000 ms: each must be longer than the next')
})

describe('in a world where requests, answers and processes go astray', () => {
  const patience = 30_000 + worlds * 20
  test('no two hold at once, and somebody leads when it is over', { timeout: patience }, async () => {
    await fc.assert(
      fc.asyncProperty(badWorld, async (world) => {
        expect(await liveThrough(world)).toEqual({ together: [], again: [], leads: [expect.any(String)] })
      }),
      { numRuns: worlds },
    )
  })
})
