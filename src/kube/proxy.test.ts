import { describe, expect, test } from 'vitest'
import { chooseProxy } from './proxy.ts'

const proxy = 'http://proxy.example:3128'

function chosen(server: string, env: NodeJS.ProcessEnv, told?: string): string {
  return chooseProxy(new URL(server), env, told)?.href ?? 'none'
}

describe('which proxy', () => {
  test.each<[string, string, NodeJS.ProcessEnv, string | undefined, string]>([
    ['none is named', 'https://api.example', {}, undefined, 'none'],
    ['the environment names one for https', 'https://api.example', { HTTPS_PROXY: proxy }, undefined, `${proxy}/`],
    ['in small letters', 'https://api.example', { https_proxy: proxy }, undefined, `${proxy}/`],
    ['capitals come first', 'https://api.example', { https_proxy: 'a', HTTPS_PROXY: proxy }, undefined, `${proxy}/`],
    ['an empty one is none', 'https://api.example', { HTTPS_PROXY: '', https_proxy: '' }, undefined, 'none'],
    ['one for http is not for https', 'https://api.example', { HTTP_PROXY: proxy }, undefined, 'none'],
    ['one for https is not for http', 'http://api.example', { HTTPS_PROXY: proxy }, undefined, 'none'],
    ['one for http', 'http://api.example', { HTTP_PROXY: proxy }, undefined, `${proxy}/`],
    [
      'without a scheme it is http',
      'https://api.example',
      { HTTPS_PROXY: 'p.example:3128' },
      undefined,
      'http://p.example:3128/',
    ],
    ['itself behind TLS', 'https://api.example', { HTTPS_PROXY: 'https://p.example' }, undefined, 'https://p.example/'],
    ['the kubeconfig comes first', 'https://api.example', { HTTPS_PROXY: 'http://other' }, proxy, `${proxy}/`],
    ['the kubeconfig knows no exception', 'https://localhost', { NO_PROXY: '*' }, proxy, `${proxy}/`],
  ])('%s', (_, server, env, told, expected) => {
    expect(chosen(server, env, told)).toBe(expected)
  })
})

// Compared once with golang.org/x/net/http/httpproxy over ten thousand pairs of these forms.
describe('what NO_PROXY exempts', () => {
  test.each<[string, string, boolean]>([
    ['example.com', 'https://example.com', true],
    ['example.com', 'https://api.example.com', true],
    ['example.com', 'https://myexample.com', false],
    ['.example.com', 'https://example.com', false],
    ['.example.com', 'https://a.b.example.com', true],
    ['*.example.com', 'https://a.example.com', true],
    ['*.example.com', 'https://example.com', false],
    [' EXAMPLE.com ', 'https://example.COM', true],
    ['other.org, example.com', 'https://example.com', true],
    ['other.org,,', 'https://example.com', false],
    ['example.com:6443', 'https://example.com:6443', true],
    ['example.com:6443', 'https://example.com', false],
    ['example.com:443', 'https://example.com', true],
    ['example.com:80', 'http://example.com', true],
    [':443', 'https://example.com', false],
    ['*', 'https://example.com', true],
    ['*', 'https://10.0.0.1', true],
    ['10.0.0.1', 'https://10.0.0.1:6443', true],
    ['10.0.0.1:6443', 'https://10.0.0.1:6443', true],
    ['10.0.0.1:6443', 'https://10.0.0.1', false],
    ['10.0.0.0/8', 'https://10.200.3.4', true],
    ['10.0.0.0/8', 'https://11.0.0.1', false],
    ['10.0.0.0/99', 'https://10.0.0.1', false],
    ['0.0.0.0/0', 'https://10.0.0.1', true],
    ['::/0', 'https://10.0.0.1', false],
    ['fd00::/8', 'https://[fd00::1]:6443', true],
    ['fd00::1', 'https://[fd00::1]:6443', true],
    ['[fd00::1]:6443', 'https://[fd00::1]:6443', true],
    ['[fd00::1]:6443', 'https://[fd00::1]', false],
    ['.1', 'https://10.0.0.1', false],
    ['', 'https://localhost:6443', true],
    ['', 'https://127.5.0.1', true],
    ['', 'https://[::1]:6443', true],
    ['', 'https://localhost.example', false],
    ['', 'https://example.com.', false],
  ])('%s exempts %s: %s', (noProxy, server, isExempt) => {
    for (const name of ['NO_PROXY', 'no_proxy']) {
      const env = { HTTPS_PROXY: proxy, HTTP_PROXY: proxy, [name]: noProxy }
      expect(chosen(server, env)).toBe(isExempt ? 'none' : `${proxy}/`)
    }
  })
})

describe('what will not do is told without its password', () => {
  test.each<[string, NodeJS.ProcessEnv, string | undefined, string]>([
    [
      'SOCKS',
      {},
      'socks5://me:hush@p',
      'proxy-url of the kubeconfig is a SOCKS proxy: only http://host:port and https:// will do',
    ],
    [
      'SOCKS',
      { HTTPS_PROXY: 'socks5://me:hush@p' },
      undefined,
      'HTTPS_PROXY is a SOCKS proxy: only http://host:port and https:// will do',
    ],
    ['no URL', {}, 'me:hush@p', 'proxy-url of the kubeconfig is not a URL: only http://host:port and https:// will do'],
    [
      'no URL',
      { https_proxy: 'http://hush:hush:hush' },
      undefined,
      'HTTPS_PROXY is not a URL: only http://host:port and https:// will do',
    ],
  ])('%s', (_, env, told, says) => {
    expect(() => chosen('https://api.example', env, told)).toThrow(new Error(says))
  })
})
