// Credentials found in kubeconfigs open the door of a real API server, and kubectl merges as we do.
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { runCommand } from '../../test/bed/command.ts'
import { kubeconfig } from '../../test/bed/kubeconfig.ts'
import { theBed } from '../../test/bed/story.ts'
import { aFolder } from '../../test/folder.ts'
import type { Access } from './access.ts'
import { findAccess } from './find.ts'

const bed = theBed()

async function whoAmI(access: Access): Promise<string> {
  const { token, certificate, key } = await access.credentials()
  const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
  const asked = request(new URL('/apis/authentication.k8s.io/v1/selfsubjectreviews', access.server), {
    method: 'POST',
    ca: access.ca,
    cert: certificate,
    key: key?.open(),
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token.open()}` }) },
  })
  const answer = await new Promise<string>((resolve, reject) => {
    asked.on('error', reject).on('response', (response) => resolve(text(response)))
    asked.end(body)
  })
  return (JSON.parse(answer) as { status: { userInfo: { username: string } } }).status.userInfo.username
}

test('a certificate and a token are taken for whom they are', async () => {
  const admin = findAccess({ kubeconfig: bed.kubeconfig, env: {} })
  expect(await whoAmI(admin)).toBe('bed-admin')
  const namespace = await bed.namespace('access')
  await bed.kube.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'demo', namespace } })
  const token = (await bed.kube.kubectl(['create', 'token', 'demo', '-n', namespace])).trim()
  const folder = aFolder({ config: kubeconfig(bed, { token }) })
  const demo = `system:serviceaccount:${namespace}:demo`
  expect(await whoAmI(findAccess({ kubeconfig: join(folder, 'config'), env: {} }))).toBe(demo)
})

test('of several kubeconfigs the same is taken as kubectl takes', async () => {
  const config = (name: string, cluster: object, more: object) =>
    stringify({
      clusters: [{ name: 'one', cluster: { server: `https://${name}.example`, ...cluster } }],
      users: [{ name: 'me', user: { token: name } }],
      ...more,
    })
  const contexts = [{ name: 'demo', context: { cluster: 'one', user: 'me', namespace: 'second' } }]
  const folder = aFolder({
    first: config('first', {}, {}),
    second: config('second', { 'tls-server-name': 'unheard' }, { contexts, 'current-context': 'demo' }),
    third: config('third', {}, { 'current-context': 'unheard' }),
  })
  const list = ['first', 'gone', 'second', 'third'].map((file) => join(folder, file)).join(':')
  const viewed = await runCommand(bed.parts.kubectl, ['config', 'view', '--minify', '--raw', '-o', 'json'], {
    env: { KUBECONFIG: list },
  })
  const access = findAccess({ env: { KUBECONFIG: list } })
  const { server, serverName, namespace } = access
  expect(JSON.parse(viewed)).toMatchObject({
    clusters: [{ name: 'one', cluster: { server: server.origin } }],
    users: [{ name: 'me', user: { token: (await access.credentials()).token?.open() } }],
    contexts: [{ name: 'demo', context: { namespace } }],
  })
  expect([server.host, serverName]).toEqual(['first.example', undefined])
})
