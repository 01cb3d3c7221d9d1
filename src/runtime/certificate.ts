// One certificate for serving, self-signed. Whoever wants a checked one brings files.
import { type Sealed, seal } from '../api/sealed.ts'
import { newKeyPair, signed } from './x509.ts'

export interface Certificate {
  readonly certificate: string // PEM
  readonly key: Sealed // PEM
}

const validDays = 365

export function selfSigned(names: readonly string[], now: Date): Certificate {
  const { publicKey, privateKey } = newKeyPair()
  const us = { commonName: 'capt' }
  const draft = {
    subject: us,
    issuer: us,
    from: now.getTime() - 3_600_000, // an hour for clocks that are behind
    to: now.getTime() + validDays * 86_400_000,
    publicKey,
    extensions: [{ is: 'leaf' }, { is: 'server', names }],
  } as const
  return {
    certificate: signed(draft, privateKey),
    key: seal(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
  }
}
