// The bed's own certificate authority (docs/decisions/0003-certificates-by-hand.md).
import { type Extension, type KeyPair, type Name, newKeyPair, signed } from '../../src/runtime/x509.ts'

export interface Certified {
  readonly cert: string // PEM
  readonly key: string // PEM
}

export interface Authority extends Certified {
  issueServer(name: string, hosts: readonly string[]): Certified
  issueClient(user: string, groups?: readonly string[]): Certified
}

const daysValid = 30

export function anAuthority(name: string): Authority {
  // A leaf of its authority's own name would pass for self-signed.
  const issuer = { commonName: `${name} authority` }
  const root = newKeyPair()
  const issue = (subject: Name, { publicKey, privateKey }: KeyPair, ...extensions: readonly Extension[]): Certified => {
    const [from, to] = [Date.now() - 60_000, Date.now() + daysValid * 86_400_000]
    return {
      cert: signed({ subject, issuer, from, to, publicKey, extensions }, root.privateKey),
      key: privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
    }
  }
  return {
    ...issue(issuer, root, { is: 'authority' }),
    issueServer: (commonName, names) => issue({ commonName }, newKeyPair(), { is: 'leaf' }, { is: 'server', names }),
    issueClient: (commonName, organizations = []) =>
      issue({ commonName, organizations }, newKeyPair(), { is: 'leaf' }, { is: 'client' }),
  }
}

// The pair that signs and checks service account tokens.
export function aTokenKey(): { readonly publicKey: string; readonly privateKey: string } {
  const { publicKey, privateKey } = newKeyPair()
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privateKey: privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
  }
}
