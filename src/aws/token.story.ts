// Our tokens at the door of a real API server, behind which stands an authenticator with the rules of AWS's.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type StartedWorkload, startWorkload } from '../../test/bed/workload.ts'
import { eksUser } from '../../test/eks-authenticator.ts'
import { createIdentity } from './identity.ts'

const credentials = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'hush', sessionToken: 'tok+en/=' }
const env = { AWS_ACCESS_KEY_ID: 'ASIAEXAMPLE', AWS_SECRET_ACCESS_KEY: 'hush', AWS_SESSION_TOKEN: 'tok+en/=' }
let workload: StartedWorkload

beforeAll(async () => {
  workload = await startWorkload({ eks: { clusterName: 'demo', credentials } })
})
afterAll(async () => workload?.stop())

async function tokenOf(clusterName: string, as: NodeJS.ProcessEnv = env, ageSeconds = 0): Promise<string> {
  const identity = createIdentity({ env: as, now: () => Date.now() - ageSeconds * 1000 })
  const { token } = await identity.token({ clusterName, region: 'ap-northeast-1' })
  return token.open()
}

const kubectl = async (token: string, ...args: string[]) => workload.kube.kubectl(['--token', token, ...args])

test.each([0, 14 * 60])('a token of ours opens it, %i s after it was made', async (age) => {
  const token = await tokenOf('demo', env, age)
  expect(await kubectl(token, 'auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')).toBe(eksUser)
  expect(await kubectl(token, 'get', 'namespace', 'default', '-o', 'name')).toBe('namespace/default\n')
})

test.each<[string, () => Promise<string>]>([
  ['for another cluster', async () => tokenOf('other')],
  ['signed with another key', async () => tokenOf('demo', { ...env, AWS_SECRET_ACCESS_KEY: 'other' })],
  ['of another session', async () => tokenOf('demo', { ...env, AWS_SESSION_TOKEN: 'other' })],
  ['older than 15 minutes', async () => tokenOf('demo', env, 15 * 60 + 2)],
  ['cut short', async () => (await tokenOf('demo')).slice(0, -4)],
])('one %s does not', async (_, token) => {
  await expect(kubectl(await token(), 'get', 'namespaces')).rejects.toThrow(/Unauthorized|must be logged in/)
})

test('who else had a way in still has it', async () => {
  expect(await workload.kube.kubectl(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}'])).toBe(
    'bed-admin',
  )
})
