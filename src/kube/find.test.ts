import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { aFolder } from '../../test/folder.ts'
import { findAccess } from './find.ts'

// A kubeconfig whose contexts lead to servers of their names; the first is the current one.
function leadingTo(...servers: readonly string[]): string {
  return stringify({
    clusters: servers.map((name) => ({ name, cluster: { server: `https://${name}.example` } })),
    contexts: servers.map((name) => ({ name, context: { cluster: name } })),
    'current-context': servers[0],
  })
}

// Kubeconfigs a and b, and one in the home.
function aPlace() {
  const folder = aFolder({ a: leadingTo('a', 'a2'), b: leadingTo('b', 'b2') })
  mkdirSync(join(folder, '.kube'))
  writeFileSync(join(folder, '.kube/config'), leadingTo('home', 'home2'))
  return folder
}

describe('which cluster is meant', () => {
  test.each<[string, { kubeconfig?: string; context?: string; list?: string }, string]>([
    ['nothing is said', {}, 'home'],
    ['a context is said', { context: 'home2' }, 'home2'],
    ['KUBECONFIG names files', { list: 'F/a:F/b' }, 'a'],
    ['and a context of the second', { list: 'F/a:F/b', context: 'b2' }, 'b2'],
    ['and some are not there', { list: ':F/gone:F/b:' }, 'b'],
    ['it is empty', { list: '' }, 'home'],
    ['a file is said', { list: 'F/a', kubeconfig: 'F/b' }, 'b'],
    ['a file and a context', { list: 'F/a', kubeconfig: 'F/b', context: 'b2' }, 'b2'],
  ])('%s', (_, { kubeconfig, context, list }, expected) => {
    const folder = aPlace()
    const { server } = findAccess({
      ...(kubeconfig && { kubeconfig: kubeconfig.replace('F', folder) }),
      ...(context && { context }),
      env: { HOME: folder, ...(list !== undefined && { KUBECONFIG: list.replaceAll('F', folder) }) },
    })
    expect(server.host).toBe(`${expected}.example`)
  })
})

describe('in a pod', () => {
  const pod = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' }
  const host = (how: { context?: string; KUBECONFIG?: string; HOME?: string }, account: Record<string, string>) => {
    const { context, ...env } = how
    const serviceAccount = aFolder(account)
    return findAccess({ ...(context && { context }), env: { ...pod, ...env }, serviceAccount }).server.host
  }
  const account = { token: 'hush', 'ca.crt': 'PEM' }

  test('it is the cluster of the pod, though there be a kubeconfig at home', () => {
    expect(host({ HOME: aPlace() }, account)).toBe('10.96.0.1')
  })

  test('unless KUBECONFIG or a context is named, or there is no token', () => {
    const home = aPlace()
    expect(host({ HOME: home, KUBECONFIG: join(home, 'a') }, account)).toBe('a.example')
    expect(host({ HOME: home, context: 'home2' }, account)).toBe('home2.example')
    expect(host({ HOME: home }, {})).toBe('home.example')
  })
})

describe('where nothing is found, a sentence says what to do', () => {
  test('a file that was named', () => {
    expect(() => findAccess({ kubeconfig: '/no/such', env: { HOME: aPlace() } })).toThrow(
      /^cannot read kubeconfig \/no\/such: ENOENT/,
    )
  })

  test('a list of files', () => {
    expect(() => findAccess({ env: { HOME: aPlace(), KUBECONFIG: '/no/such:/nor/such' } })).toThrow(
      new Error('KUBECONFIG names /no/such:/nor/such, where no file is: correct it, or unset it'),
    )
  })

  test('anything at all', () => {
    expect(() => findAccess({ env: { HOME: '/no/such' } })).toThrow(
      new Error(
        'no cluster is known: pass --kubeconfig FILE, set KUBECONFIG or write /no/such/.kube/config; in a pod, mount the token of a service account (automountServiceAccountToken)',
      ),
    )
  })
})
