// How an API server is reached and as whom. `kubeconfig.ts` and `incluster.ts` make one of these.
import type { Sealed } from '../api/sealed.ts'

export interface Access {
  readonly server: URL
  readonly ca?: string // PEM; none: the system's
  readonly serverName?: string // what its certificate must name, when that is not the host
  readonly isUnchecked?: true // insecure-skip-tls-verify
  readonly proxy?: URL
  readonly namespace: string // where one is when one does not say
  // The credentials as they are now: re-read or asked for anew where they expire. Throws a sentence.
  credentials(): Promise<Credentials>
  // They were refused (401): the next call must not give the same ones again if others can be had.
  forget(): void
}

// As much of it as a connection needs: whom to call, and what to show when TLS asks.
export type Way = Pick<Access, 'server' | 'ca' | 'serverName' | 'isUnchecked' | 'proxy'> &
  Partial<Pick<Access, 'credentials'>>

export interface Credentials {
  readonly token?: Sealed
  readonly certificate?: string // PEM
  readonly key?: Sealed // PEM
  readonly basic?: Sealed // user:password
}
