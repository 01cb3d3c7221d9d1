// Where a server listens, as Go's flags spell it. It opens nothing.
import { isIPv6 } from 'node:net'

export interface Address {
  readonly host?: string // none: every interface
  readonly port: number
}

// Undefined: it does not listen at all.
export function readAddress(text: string): Address | undefined {
  if (text === '0') return undefined
  const [, bracketed, bare, digits = ''] = /^(?:\[([^\]]*)\]|([^:[\]]*)):(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  const host = bracketed ?? bare
  if (host === undefined || port > 65_535 || (bracketed !== undefined && !isIPv6(bracketed)))
    throw new Error('is no address: write :8443, 127.0.0.1:8443, [::1]:8443, or 0 for none')
  return host === '' ? { port } : { host, port }
}
