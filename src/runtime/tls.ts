// Go's names for TLS versions and cipher suites, as Node and OpenSSL call them. It opens no connection.
import type { SecureVersion } from 'node:tls'

const versions = { VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3' } as const satisfies Record<string, SecureVersion>
export type TlsVersion = keyof typeof versions

// In Go these are always on.
const ofTls13 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'] as const

const older = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305', // Go's older names
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
}

export const cipherSuites: readonly string[] = [...ofTls13, ...Object.keys(older)]

export interface TlsBounds {
  readonly minVersion: SecureVersion
  readonly ciphers?: string // none: Node's
}

// Suites by Go's names. Those of TLS 1.3 are always added: without any of them Node would speak 1.2 only.
export function tlsBounds(version: TlsVersion, suites: readonly string[]): TlsBounds {
  const asked = new Set(suites)
  const chosen = Object.entries(older).flatMap(([name, openssl]) => (asked.has(name) ? [openssl] : []))
  const minVersion = versions[version]
  return asked.size === 0 ? { minVersion } : { minVersion, ciphers: [...ofTls13, ...chosen].join(':') }
}
