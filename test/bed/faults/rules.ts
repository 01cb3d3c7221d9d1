// When a fault strikes: which requests, how many of them, with what probability. Seeded, so that a run can be repeated.
import type { Fault } from './fault.ts'
import type { Verb } from './verb.ts'

interface Often {
  readonly after?: number // lets so many pass first
  readonly times?: number // then strikes so often; without it, always
  readonly probability?: number // of striking, for each that could be struck
}

export interface RequestOccasion extends Often {
  readonly verb?: Verb
  readonly path?: RegExp // tried on path and query
}

// A new connection, before anything is said on it.
export interface ConnectOccasion extends Often {
  readonly verb: 'connect'
}

export type Occasion = RequestOccasion | ConnectOccasion

export interface Moment {
  readonly verb: Verb | 'connect'
  readonly path: string
}

export interface Rule {
  readonly occasion: Occasion
  readonly fault: Fault
  readonly strikes: readonly Moment[] // what it has struck
}

export interface Rules {
  add(occasion: Occasion, fault: Fault): Rule
  clear(): void
  // The fault that strikes now, of the first rule that does.
  strike(moment: Moment): Fault | undefined
}

export function rulesWithSeed(seed: number): Rules {
  const random = seededRandom(seed)
  let rules: { readonly rule: Rule & { strikes: Moment[] }; passed: number }[] = []
  return {
    add(occasion, fault) {
      const rule = { occasion, fault, strikes: [] }
      rules.push({ rule, passed: 0 })
      return rule
    },
    clear() {
      rules = []
    },
    strike(moment) {
      for (const entry of rules) {
        const { occasion, fault, strikes } = entry.rule
        if (!isMeant(occasion, moment)) continue
        if (entry.passed < (occasion.after ?? 0)) {
          entry.passed++
          continue
        }
        if (strikes.length >= (occasion.times ?? Number.POSITIVE_INFINITY)) continue
        if (occasion.probability !== undefined && random() >= occasion.probability) continue
        strikes.push(moment)
        return fault
      }
      return undefined
    },
  }
}

function isMeant(occasion: Occasion, moment: Moment): boolean {
  if (occasion.verb === 'connect' || moment.verb === 'connect') return occasion.verb === moment.verb
  const { verb, path } = occasion
  return (verb === undefined || verb === moment.verb) && (path === undefined || path.test(moment.path))
}

// mulberry32: 32 bits of state are plenty for throwing dice.
function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
