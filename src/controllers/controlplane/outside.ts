// What lies outside of the management cluster, as far as a control plane needs it: AWS, and the cluster's own API server.
import type { Sealed } from '../../api/sealed.ts'
import type { Wanted } from '../../aws/identity.ts'
import type { Way } from '../../secrets/kubeconfig.ts'
import type { Answer } from './seen.ts'

export interface Token {
  readonly token: Sealed
  readonly expires: Date
}

export interface Outside {
  // Throws an AwsError.
  awsToken(wanted: Wanted): Promise<Token>
  greet(way: Way): Promise<Answer>
  // A token of our own account in that cluster, which is made if it is not there. Throws an ApiError.
  accountToken(way: Way, seconds: number): Promise<Token>
}

// For those who only want to know what the controller may do.
export const nowhere: Outside = {
  awsToken: async () => Promise.reject(new Error('AWS cannot be reached from here')),
  greet: async () => ({ is: 'no', why: 'nothing can be reached from here' }),
  accountToken: async () => Promise.reject(new Error('nothing can be reached from here')),
}
