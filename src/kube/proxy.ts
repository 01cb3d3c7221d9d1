// Which proxy stands between us and an API server, chosen as Go's httpproxy chooses. Going through it is `dial.ts`'s.
import { BlockList, isIP } from 'node:net'

// `told` is the kubeconfig's proxy-url: with it neither the environment nor NO_PROXY is asked.
export function chooseProxy(server: URL, env: NodeJS.ProcessEnv, told?: string): URL | undefined {
  if (told) return readProxy(told, 'proxy-url of the kubeconfig')
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const said = either(env, name)
  if (!said || isExempt(server, either(env, 'NO_PROXY'))) return undefined
  return readProxy(/^[a-z][a-z\d+.-]*:\/\//i.test(said) ? said : `http://${said}`, name)
}

function either(env: NodeJS.ProcessEnv, name: string): string {
  return env[name] || env[name.toLowerCase()] || ''
}

// The value stays out of the sentence: it may hold a password.
function readProxy(value: string, where: string): URL {
  const proxy = URL.parse(value)
  if (proxy && ['http:', 'https:'].includes(proxy.protocol)) return proxy
  const isSocks = proxy?.protocol.startsWith('socks')
  throw new Error(
    `${where} ${isSocks ? 'is a SOCKS proxy' : 'is not a URL'}: only http://host:port and https:// will do`,
  )
}

function isExempt(server: URL, noProxy: string): boolean {
  const host = server.hostname.replace(/^\[|\]$/g, '')
  const port = server.port || (server.protocol === 'https:' ? '443' : '80')
  if (host === 'localhost' || isWithin(host, '127.0.0.0', 8) || isWithin(host, '::1')) return true
  return noProxy.split(',').some((entry) => isCovered(host, port, entry.trim().toLowerCase()))
}

// An entry is *, a range of addresses, an address or a domain; the last two with or without a port.
function isCovered(host: string, port: string, entry: string): boolean {
  if (entry === '*') return true
  const [, base = '', bits] = /^(.+)\/(\d+)$/.exec(entry) ?? []
  if (isIP(base)) return isWithin(host, base, Number(bits))
  const [, bracketed, plain, onlyPort = ''] = /^(?:\[([^\]]*)\]|([^:]*)):([^:]*)$/.exec(entry) ?? []
  if (onlyPort && onlyPort !== port) return false
  const name = bracketed ?? plain ?? entry
  if (isIP(name)) return isWithin(host, name)
  const domain = name.replace(/^\*?\./, '')
  return !isIP(host) && domain !== '' && (host === name || host.endsWith(`.${domain}`))
}

// Asked as an address of the range's own family: else Node finds every IPv4 address in ::/0, where Go finds none.
function isWithin(host: string, base: string, bits?: number): boolean {
  const [family, width] = isIP(base) === 4 ? (['ipv4', 32] as const) : (['ipv6', 128] as const)
  if (bits !== undefined && bits > width) return false
  const list = new BlockList()
  list.addSubnet(base, bits ?? width, family)
  return list.check(host, family)
}
