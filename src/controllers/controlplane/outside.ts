// What lies outside of the management cluster, as far as a control plane needs it: AWS, and the cluster's own API server.
import type { Sealed } from '../../api/sealed.ts'
import type { Wanted } from '../../aws/identity.ts'
import type { Way } from '../../secrets/kubeconfig.ts'
import type { Answer, No } from './seen.ts'

export interface Token {
  readonly token: Sealed
  readonly expires: Date
}

export interface Outside {
  // Throws an AwsError.
  awsToken(wanted: Wanted): Promise<Token>
  greet(way: Way): Promise<Answer>
  // A token of our own account in that cluster, which is made if it is not there.
  accountToken(way: Way, seconds: number): Promise<Token | No>
  // Has all Services that have a load balancer deleted there, and tells which are still there then.
  removeLoadBalancers(way: Way): Promise<readonly string[] | No>
}

// As one pass sees it: who is silent is asked once, whatever there is to show. Each time would take as long again, and others wait.
export function inOnePass(outside: Outside): Outside {
  const silences = new Map<string, No>()
  const once = async <T extends object>(way: Way, ask: (way: Way) => Promise<T | No>): Promise<T | No> => {
    const before = silences.get(way.server)
    if (before) return before
    const answer = await ask(way)
    if ('isSilent' in answer && answer.isSilent) silences.set(way.server, answer)
    return answer
  }
  return {
    ...outside,
    greet: async (way) => once(way, outside.greet),
    accountToken: async (way, seconds) => once(way, async () => outside.accountToken(way, seconds)),
    removeLoadBalancers: async (way) => once(way, outside.removeLoadBalancers),
  }
}

// For those who only want to know what the controller may do.
export const nowhere: Outside = {
  awsToken: async () => Promise.reject(new Error('AWS cannot be reached from here')),
  greet: async () => ({ is: 'no', why: 'nothing can be reached from here' }),
  accountToken: async () => Promise.reject(new Error('nothing can be reached from here')),
  removeLoadBalancers: async () => ({ is: 'no', why: 'nothing can be reached from here' }),
}
