import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { virtualClock } from '../../test/clock.ts'
import { aFolder } from '../../test/folder.ts'
import type { KubeObject } from '../api/resource.ts'
import { seal } from '../api/sealed.ts'
import type { Access } from '../kube/access.ts'
import type { Client } from '../kube/client.ts'
import { ApiError } from '../kube/errors.ts'
import type { Log } from '../runtime/log.ts'
import { createStateAccess } from './stateaccess.ts'

const access: Access = {
  server: new URL('https://10.0.0.1:6443'),
  ca: 'a certificate',
  namespace: 'default',
  credentials: async () => ({ token: seal('our own token') }),
  forget() {},
}
const warned: string[] = []
const log: Log = {
  error() {},
  warn: (msg) => void warned.push(msg),
  info() {},
  debug() {},
  with: () => log,
  setLevel() {},
}
const hour = 3_600_000

function anAccess(requestToken: () => string | Error, lifeMs = 24 * hour) {
  const clock = virtualClock()
  const made: string[] = []
  const asked: number[] = []
  const client: Pick<Client, 'requestToken' | 'create'> = {
    async requestToken() {
      asked.push(clock.now())
      const token = requestToken()
      if (token instanceof Error) throw token
      return { token: seal(token), expiresAt: new Date(clock.now() + lifeMs).toISOString() }
    },
    create: async <T extends KubeObject>(_: unknown, object: T) => {
      made.push(object.kind)
      return object
    },
  }
  const folder = aFolder()
  const date = () => new Date(clock.now())
  const states = createStateAccess({ client, access, folder, clock, date, log })
  return { states, clock, made, asked }
}
const tokenOf = ({ file }: { readonly file: string }) => join(dirname(file), 'state.token')
const absent = () => new ApiError({ doing: 'request a token', code: 404, reason: 'NotFound', message: 'not there' })

test('runs get a kubeconfig of an account of its own, which nobody else can read, and not our token', async () => {
  const { states, made } = anAccess(() => 'their token')
  expect(states.trouble()).toContain('no access to the Terraform states')
  await states.start()
  expect(states.trouble()).toBeUndefined()
  const text = readFileSync(states.file, 'utf8')
  expect(JSON.parse(text)).toMatchObject({
    clusters: [
      {
        cluster: {
          server: 'https://10.0.0.1:6443/',
          'certificate-authority-data': Buffer.from('a certificate').toString('base64'),
        },
      },
    ],
    users: [{ user: { tokenFile: tokenOf(states) } }],
  })
  expect(text).not.toMatch(/their token|our own token/)
  expect(readFileSync(tokenOf(states), 'utf8')).toBe('their token')
  for (const file of [states.file, tokenOf(states)]) expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(made).toEqual([])
  states.stop()
})

test('the token is renewed when half of its life is left, under runs that go on', async () => {
  let count = 0
  const { states, clock, asked } = anAccess(() => `token ${++count}`)
  await states.start()
  await clock.advance(11 * hour)
  expect(asked).toHaveLength(1)
  await clock.advance(2 * hour)
  await expect.poll(() => readFileSync(tokenOf(states), 'utf8')).toBe('token 2')
  states.stop()
  await clock.advance(48 * hour)
  expect(asked).toHaveLength(2)
})

test('where the account is not there it is made, with its namespace and a role', async () => {
  let isThere = false
  const { states, made } = anAccess(() => (isThere ? 'their token' : absent()))
  const { start } = states
  const before = start()
  isThere = true // by what is made
  await before
  expect(made).toEqual(['Namespace', 'ServiceAccount', 'Role', 'RoleBinding'])
  expect(states.trouble()).toBeUndefined()
  states.stop()
})

test('when it cannot be had at all, that is told, and it is tried again', async () => {
  let refused: Error | undefined = forbidden
  const { states, clock, asked } = anAccess(() => refused ?? 'their token')
  await states.start()
  expect(states.trouble()).toContain('cannot request a token: 403 forbidden')
  refused = undefined
  await clock.advance(10_000)
  await expect.poll(() => states.trouble()).toBeUndefined()
  expect(asked).toHaveLength(2)
  states.stop()
})
const forbidden = new ApiError({ doing: 'request a token', code: 403, message: 'forbidden' })

test('when it cannot be renewed, runs go on with what is left of it, and that is told only when nothing is', async () => {
  let refused: Error | undefined
  const { states, clock } = anAccess(() => refused ?? 'their token')
  await states.start()
  refused = forbidden
  warned.length = 0
  await clock.advance(23 * hour)
  expect(warned).toEqual(['the access to Terraform states cannot be renewed'])
  expect(states.trouble()).toBeUndefined()
  expect(readFileSync(tokenOf(states), 'utf8')).toBe('their token')
  await clock.advance(hour - 5 * 60_000)
  expect(states.trouble()).toContain('cannot request a token: 403 forbidden')
  refused = undefined
  await clock.advance(10_000)
  await expect.poll(() => states.trouble()).toBeUndefined()
  states.stop()
})

test('a token that lives only ten minutes is good for most of them', async () => {
  const tokens = ['their token']
  const { states, clock } = anAccess(() => tokens.pop() ?? forbidden, 600_000)
  await states.start()
  await clock.advance(440_000)
  expect(states.trouble()).toBeUndefined()
  await clock.advance(20_000)
  expect(states.trouble()).toContain('403 forbidden')
  states.stop()
})
