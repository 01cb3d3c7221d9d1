// Whether who holds a token may have a page of ours: the API server is asked, and its word kept for a while. No token is
// kept, only what it hashes to.
import { createHash } from 'node:crypto'
import { SubjectAccessReview, TokenReview } from '../api/neighbours.ts'
import { apiVersionOf } from '../api/resource.ts'
import type { Sealed } from '../api/sealed.ts'
import type { Client } from '../kube/client.ts'
import type { Clock } from './clock.ts'

export type Verdict = 'allowed' | 'denied' | 'unknown' // unknown: the token is nobody's

export interface Reviews {
  // Throws when the API server cannot be asked; that is not kept.
  review(token: Sealed, asked: { readonly verb: string; readonly path: string }): Promise<Verdict>
}

const keptMs: Readonly<Record<Verdict, number>> = { allowed: 60_000, denied: 10_000, unknown: 10_000 }
const mostKept = 1000

export function createReviews(client: Pick<Client, 'create'>, clock: Clock): Reviews {
  const kept = new Map<string, { readonly verdict: Promise<Verdict>; until: number }>()

  async function ask(token: Sealed, asked: { readonly verb: string; readonly path: string }): Promise<Verdict> {
    // The API server refuses an access review whose metadata says anything.
    const metadata = { name: '' }
    const { status } = await client.create(TokenReview, {
      apiVersion: apiVersionOf(TokenReview),
      kind: TokenReview.kind,
      metadata,
      spec: { token: token.open() },
    })
    if (!status?.authenticated) return 'unknown'
    const { username: user = '', groups = [] } = status.user ?? {}
    const access = await client.create(SubjectAccessReview, {
      apiVersion: apiVersionOf(SubjectAccessReview),
      kind: SubjectAccessReview.kind,
      metadata,
      spec: { user, groups, nonResourceAttributes: asked },
    })
    return access.status?.allowed ? 'allowed' : 'denied'
  }

  return {
    async review(token, asked) {
      const key = createHash('sha256').update(`${asked.verb} ${asked.path} ${token.open()}`).digest('base64')
      const before = kept.get(key)
      if (before && before.until > clock.now()) return before.verdict
      kept.delete(key)
      const [oldest] = kept.keys()
      if (oldest !== undefined && kept.size >= mostKept) kept.delete(oldest)
      // Who asks while it is being asked waits for the same answer.
      const entry = { verdict: ask(token, asked), until: Number.POSITIVE_INFINITY }
      kept.set(key, entry)
      try {
        const verdict = await entry.verdict
        entry.until = clock.now() + keptMs[verdict]
        return verdict
      } catch (error) {
        kept.delete(key)
        throw error
      }
    },
  }
}
