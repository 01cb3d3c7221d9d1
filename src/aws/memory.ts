// Remembers credentials until shortly before they end. Who asks while they are being asked for waits for the same answer. A
// failure is not remembered.
import type { Credentials } from './signature.ts'

export interface Memory {
  recall(of: string, ask: () => Promise<Credentials>): Promise<Credentials>
  forget(of: string): void
  readonly size: number
}

const aheadMs = 5 * 60_000 // what is signed with them must be of use for a while

export function createMemory(now: () => number): Memory {
  const kept = new Map<string, Credentials>()
  const asked = new Map<string, Promise<Credentials>>()
  const lasts = ({ expires }: Credentials) => expires !== undefined && now() < expires.getTime() - aheadMs
  const learn = async (of: string, ask: () => Promise<Credentials>) => {
    try {
      const credentials = await ask()
      for (const [other, old] of kept) if (!lasts(old)) kept.delete(other)
      kept.set(of, credentials)
      return credentials
    } finally {
      asked.delete(of)
    }
  }
  return {
    async recall(of, ask) {
      const known = kept.get(of)
      if (known && lasts(known)) return known
      const asking = asked.get(of) ?? learn(of, ask)
      asked.set(of, asking)
      return asking
    },
    forget(of) {
      kept.delete(of)
    },
    get size() {
      return kept.size
    },
  }
}
