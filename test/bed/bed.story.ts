// The conveniences of the bed, on the bed.
import { readFileSync, statSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { aConfigMap } from '../given.ts'
import { until } from '../until.ts'
import { theBed } from './story.ts'
import { startWorkload } from './workload.ts'

const bed = theBed()
const { kube } = bed

test('every story has a namespace of its own', async () => {
  const [one, other] = await Promise.all([bed.namespace('twin'), bed.namespace('twin')])
  expect(one).not.toBe(other)
  await kube.apply(aConfigMap({ namespace: one }))
  expect(await kube.read(aConfigMap({ namespace: one }))).toBeDefined()
  expect(await kube.read(aConfigMap({ namespace: other }))).toBeUndefined()
})

test('waiting in vain shows the object as it was seen last, but never what a Secret holds', async () => {
  const namespace = await bed.namespace('vain')
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'demo', namespace },
    stringData: { token: 'hush' },
  }
  await kube.apply(secret)
  const vain = kube.see(secret, 'grows a label', ({ metadata }) => metadata.labels !== undefined, {
    withinSeconds: 0.3,
  })
  const message = await vain.catch((error: Error) => error.message)
  expect(message).toContain(
    `Secret ${namespace}/demo grows a label: not within 0.3 s\nseen last:\napiVersion: v1\nkind: Secret`,
  )
  expect(message).toContain('token: "***"')
  expect(message).not.toContain(Buffer.from('hush').toString('base64'))
})

test('the audit log tells who did what, as typed records', async () => {
  const namespace = await bed.namespace('audit')
  const since = new Date()
  await kube.apply(aConfigMap({ namespace, data: { a: 'b' } }), {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'demo', namespace },
    stringData: { token: 'hush' },
  })
  const writes = await until('both are on record', async () => {
    const records = await bed.audit({ user: 'bed-admin', namespace, verb: 'patch', since })
    return records.length >= 2 ? records : undefined
  })
  expect(writes.map(({ resource, name, code }) => ({ resource, name, code }))).toEqual([
    { resource: 'configmaps', name: 'demo', code: 201 },
    { resource: 'secrets', name: 'demo', code: 201 },
  ])
  expect(writes[0]?.body).toMatchObject({ data: { a: 'b' } })
  expect(writes[1]?.body).toBeUndefined()
  expect(readFileSync(bed.auditLog, 'utf8')).not.toContain('hush')
  expect(await bed.audit({ user: 'nobody', since })).toEqual([])
})

test('a watch is on record while it still runs', async () => {
  const watches = await bed.audit({
    user: 'system:serviceaccount:capi-system:capi-manager',
    verb: 'watch',
    resource: 'clusters',
  })
  expect(watches.length).toBeGreaterThan(0)
})

test('the controller manager collects garbage, publishes the CA and empties namespaces', async () => {
  const namespace = await bed.namespace('garbage')
  const owner = aConfigMap({ namespace, name: 'owner' })
  await kube.apply(owner)
  const { metadata } = (await kube.read(owner)) ?? owner
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: String(metadata.uid) }]
  const owned = { ...aConfigMap({ namespace, name: 'owned' }), metadata: { name: 'owned', namespace, ownerReferences } }
  await kube.apply(owned)
  await kube.see(aConfigMap({ namespace, name: 'kube-root-ca.crt' }), 'is published', () => true)
  await kube.remove(owner)
  await kube.seeGone(owned)
  const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
  await kube.remove(home)
  await kube.seeGone(home)
})

test('a workload cluster knows people by token and programs by ServiceAccount', async () => {
  const workload = await startWorkload()
  onTestFinished(async () => workload.stop())
  expect(await workload.kube.kubectl(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}'])).toBe(
    'bed-admin',
  )
  await workload.kube.apply({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'capt', namespace: 'default' },
  })
  const token = (await workload.kube.kubectl(['create', 'token', 'capt'])).trim()
  const who = await workload.kube.kubectl([
    '--token',
    token,
    'auth',
    'whoami',
    '-o',
    'jsonpath={.status.userInfo.username}',
  ])
  expect(who).toBe('system:serviceaccount:default:capt')
  await expect(workload.kube.kubectl(['--token', token, 'get', 'secrets'])).rejects.toThrow(/forbidden/)
})

test('the files of credentials are for their owner only', () => {
  expect((statSync(bed.kubeconfig).mode & 0o777).toString(8)).toBe('600')
})
