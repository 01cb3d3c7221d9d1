// The address of an API server, as templates write it and as Cluster API wants it: a host and a port, no scheme, no path. Pure.
import { isIPv4, isIPv6 } from 'node:net'

export interface Endpoint {
  readonly host: string
  readonly port: number
}

// A URL, a host with or without a port, an address of either kind. Undefined: it is none of these.
export function readEndpoint(text: string): Endpoint | undefined {
  const written = text.trim()
  const bare = isIPv6(written) ? `[${written}]` : written
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(bare) ? bare : `https://${bare}`)
  if (url?.protocol !== 'https:' || url.username || url.password || url.search || url.hash) return undefined
  const host = url.hostname.replace(/^\[(?<address>.*)\]$/, '$<address>')
  const port = url.port === '' ? 443 : Number(url.port)
  if (isIPv4(host) && !written.includes(host)) return undefined // a URL may say 443 and mean 0.0.1.187
  return /^[A-Za-z0-9.:-]+$/.test(host) && host.length <= 512 && port > 0 ? { host, port } : undefined
}

export function tellEndpoint({ host, port }: Endpoint): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

export function urlOf(endpoint: Endpoint): string {
  return `https://${tellEndpoint(endpoint)}`
}
