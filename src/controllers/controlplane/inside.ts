// Looks into a cluster that goes, and has removed there what reaches out of it: with the kubeconfig that is kept, or with one made for
// this when there is none that is taken. It decides nothing.
import type { Read } from '../../runtime/cache.ts'
import type { Live } from '../../runtime/controller.ts'
import { isCleanupDue } from './cleanup.ts'
import { anotherWay, keptWay } from './credentials.ts'
import type { Outside } from './outside.ts'
import type { Inside, No, Seen } from './seen.ts'

type Around = Omit<Seen, 'secrets' | 'inside'>

export const unasked: Inside = { is: 'unasked' }

export async function lookInside(read: Read, live: Live, outside: Outside, around: Around): Promise<Inside> {
  if (!isCleanupDue(around)) return unasked
  const kept = await keptWay(read, live, around)
  const first = kept && (await outside.removeLoadBalancers(kept))
  if (first && !isRejected(first)) return told(first)
  const other = await anotherWay(live, outside, around)
  if ('why' in other) return { is: 'unknown', why: other.why }
  return told(await outside.removeLoadBalancers(other))
}

function isRejected(answer: readonly string[] | No): boolean {
  return 'why' in answer && answer.isRejected === true
}

function told(answer: readonly string[] | No): Inside {
  if ('why' in answer) return { is: 'unknown', why: answer.why }
  return answer.length === 0 ? { is: 'clean' } : { is: 'left', services: answer }
}
