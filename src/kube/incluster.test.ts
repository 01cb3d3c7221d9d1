import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aFolder } from '../../test/folder.ts'
import { accessInCluster } from './incluster.ts'

const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' }
const files = { token: 'one\n', 'ca.crt': 'PEM\n', namespace: 'capt-system' }

test('a pod finds the API server, the authority and its namespace', () => {
  expect(accessInCluster(env, () => 0, aFolder(files))).toMatchObject({
    server: new URL('https://10.96.0.1'),
    ca: 'PEM',
    namespace: 'capt-system',
  })
})

test('an IPv6 address stands in brackets, and the port is told', () => {
  const elsewhere = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' }
  expect(accessInCluster(elsewhere, () => 0, aFolder(files))?.server.href).toBe('https://[fd00::1]:6443/')
})

test('a proxy of the environment holds here too', () => {
  const access = accessInCluster({ ...env, HTTPS_PROXY: 'http://proxy.example' }, () => 0, aFolder(files))
  expect(access?.proxy?.href).toBe('http://proxy.example/')
})

test.each<[string, NodeJS.ProcessEnv, Record<string, string>]>([
  ['no host', { KUBERNETES_SERVICE_PORT: '443' }, files],
  ['no port', { KUBERNETES_SERVICE_HOST: '10.96.0.1' }, files],
  ['no token', env, { 'ca.crt': 'PEM' }],
])('without it there is no such access: %s', (_, around, has) => {
  expect(accessInCluster(around, () => 0, aFolder(has))).toBeUndefined()
})

test('without a namespace it is default; without an authority it is an error', () => {
  expect(accessInCluster(env, () => 0, aFolder({ token: 'one', 'ca.crt': 'PEM' }))?.namespace).toBe('default')
  expect(() => accessInCluster(env, () => 0, aFolder({ token: 'one' }))).toThrow(
    /^cannot read the service account's ca.crt: ENOENT/,
  )
})

test('a renewed token is used, and a refused one is read anew', async () => {
  const folder = aFolder(files)
  const access = accessInCluster(env, () => 0, folder)
  const token = async () => (await access?.credentials())?.token?.open()
  expect(await token()).toBe('one')
  writeFileSync(join(folder, 'token'), 'renewed')
  expect(await token()).toBe('renewed')
  writeFileSync(join(folder, 'token'), '')
  expect(await token()).toBe('renewed')
  access?.forget()
  await expect(token()).rejects.toThrow(/^cannot read the service account's token: .* is empty$/)
})
