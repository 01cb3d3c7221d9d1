// The Secrets of a cluster: where their credentials come from, and that they stay what they are whatever happens to them.
import { expect, test } from 'vitest'
import { annotations } from '../../src/api/keys.ts'
import type { KubeObject } from '../bed/kube.ts'
import { bedAws } from '../bed/manager.ts'
import { aWorkload, theBed } from '../bed/story.ts'
import { aCaptCluster, asOurselves, leadingTo, offlineSecret, offlineTemplates } from '../clusters.ts'
import { conditionOf, patience, seeSaying } from '../lives.ts'

const bed = theBed()
const { kube } = bed
const workload = aWorkload({ eks: { clusterName: 'eks-demo', credentials: bedAws } })

async function aCluster(story: string, controlPlane: object, network: object = {}) {
  const namespace = await bed.namespace(story)
  await kube.apply(offlineSecret(namespace, leadingTo(workload())), ...offlineTemplates(namespace))
  const objects = aCaptCluster({ namespace, controlPlane, network })
  await kube.apply(...objects.all)
  const secret = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name } })
  return { namespace, ...objects, secret }
}

const valueOf = ({ data }: KubeObject) =>
  Buffer.from((data as { readonly value: string }).value, 'base64').toString('utf8')
const tokenOf = (secret: KubeObject) => /token: (?<token>\S+)/.exec(valueOf(secret))?.groups?.['token'] ?? ''

test('a token signed with the identity at AWS opens the cluster, is renewed when it is due, and nobody else gets one', async () => {
  const { cluster, controlPlane, secret } = await aCluster('aws', {
    eksClusterName: 'eks-demo',
    kubeconfig: { source: 'AWS' },
  })
  await kube.seeCondition(cluster, 'Available', 'True', patience)
  const before = (await kube.read(secret('demo-kubeconfig'))) as KubeObject
  expect(tokenOf(before)).toMatch(/^k8s-aws-v1\./)
  const { [annotations.tokenExpires]: expires = '', [annotations.tokenRenews]: renews = '' } =
    before.metadata.annotations ?? {}
  expect(Date.parse(expires) - Date.now()).toBeLessThan(15 * 60_000)
  expect(Date.parse(renews)).toBeLessThan(Date.parse(expires) - 4 * 60_000)

  await asOurselves(kube, before, { ...before.metadata.annotations, [annotations.tokenRenews]: '2026-01-01T00:00:00Z' })
  const isAnother = (seen: KubeObject) => tokenOf(seen) !== tokenOf(before)
  const after = await kube.see(secret('demo-kubeconfig'), 'has another token', isAnother, patience)
  await kube.see(
    secret('demo-control-plane-kubeconfig'),
    'is the same',
    (seen) => valueOf(seen) === valueOf(after),
    patience,
  )
  const told = (await kube.read(controlPlane)) ?? controlPlane
  for (const type of ['Available', 'SecretsReady', 'Ready']) expect(conditionOf(told, type)?.status).toBe('True')

  // The name is free in another region, but a token would be as good for the one that is there.
  const namesake = await aCluster(
    'namesake',
    { eksClusterName: 'eks-demo', kubeconfig: { source: 'AWS' } },
    { region: 'eu-west-1' },
  )
  const refused = await seeSaying(kube, namesake.controlPlane, 'EKSApplied', 'NameClaimed')
  expect(conditionOf(refused, 'EKSApplied')?.message).toMatch(
    /a token for eks-demo would open the cluster of CAPTControlPlane aws-/,
  )
  await kube.remove(namesake.cluster)
  await kube.seeGone(namesake.cluster, patience)
  await kube.remove(cluster)
  await kube.seeGone(cluster, patience) // its name in EKS is free again
}, 300_000)

test('a token of an account in the cluster is asked for with the identity at AWS, and lasts', async () => {
  const kubeconfig = { source: 'ServiceAccount', serviceAccount: { expirationSeconds: 3600 } }
  const { cluster, secret } = await aCluster('account', { eksClusterName: 'eks-demo', kubeconfig })
  await kube.seeCondition(cluster, 'Available', 'True', patience)
  const [, claims = ''] = tokenOf((await kube.read(secret('demo-kubeconfig'))) as KubeObject).split('.')
  const {
    sub,
    exp = 0,
    iat = 0,
  } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as { sub?: string; exp?: number; iat?: number }
  expect(sub).toBe('system:serviceaccount:kube-system:capt-manager')
  expect(exp - iat).toBe(3600)
  await kube.remove(cluster)
  await kube.seeGone(cluster, patience) // its name in EKS is free again
}, 300_000)

test('no token is signed for a cluster of another name than is claimed', async () => {
  const { cluster, controlPlane } = await aCluster('claimed', {
    eksClusterName: 'eks-demo',
    kubeconfig: { source: 'AWS' },
    workspaceTemplateRef: { name: 'liar' },
  })
  const {
    metadata: { namespace = '' },
  } = cluster
  const [, eks] = offlineTemplates(namespace)
  const liar = JSON.parse(
    JSON.stringify(eks).replace('terraform_data.cluster.output.name', '\\"eks-of-another\\"'),
  ) as KubeObject
  await kube.apply({ ...liar, metadata: { namespace, name: 'liar' } })
  const told = await seeSaying(kube, controlPlane, 'SecretsReady', 'Failed')
  expect(conditionOf(told, 'SecretsReady')?.message).toMatch(
    /output cluster_name is eks-of-another, and no token is signed for another cluster than eks-demo/,
  )
  await kube.remove(cluster)
  await kube.seeGone(cluster, patience) // its name in EKS is free again
}, 300_000)

test('copies that are deleted, edited or of another type are made anew, and what is of somebody else is left alone', async () => {
  const namespace = await bed.namespace('copies')
  const secret = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name } })
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'somebody' } }
  await kube.apply(offlineSecret(namespace, leadingTo(workload())), ...offlineTemplates(namespace), owner)
  const { uid = '' } = (await kube.read(owner))?.metadata ?? {}
  const theirs = {
    ...secret('demo-ca').metadata,
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'somebody', uid, controller: true }],
  }
  const labels = { 'cluster.x-k8s.io/cluster-name': 'demo' }
  const older = { ...secret('demo-kubeconfig').metadata, labels }
  await kube.apply(
    { ...secret('demo-kubeconfig'), metadata: older, type: 'Opaque', stringData: { value: 'of an older life' } },
    { ...secret('demo-ca'), metadata: theirs, type: 'cluster.x-k8s.io/secret', stringData: { 'tls.crt': 'theirs' } },
    { ...secret('demo-user-kubeconfig'), type: 'Opaque', stringData: { value: "somebody's own" } },
  )
  const { cluster, controlPlane, all } = aCaptCluster({ namespace })
  await kube.apply(...all)

  const base64 = (text: string) => Buffer.from(text).toString('base64')
  await kube.seeCondition(cluster, 'Available', 'True', patience) // whatever those are that are not needed for it
  const foreign = await kube.see(
    controlPlane,
    'names both',
    (seen) => /demo-user-kubeconfig/.test(conditionOf(seen, 'SecretsReady')?.message ?? ''),
    patience,
  )
  expect(conditionOf(foreign, 'SecretsReady')).toMatchObject({
    reason: 'Failed',
    message: `Secret ${namespace}/demo-ca belongs to ConfigMap somebody; Secret ${namespace}/demo-user-kubeconfig has type Opaque, and nothing on it says that it is of Cluster demo, and is left alone: delete it, or give the Cluster another name`,
  })
  expect((await kube.read(secret('demo-ca')))?.['data']).toEqual({ 'tls.crt': base64('theirs') })
  expect((await kube.read(secret('demo-user-kubeconfig')))?.['data']).toEqual({ value: base64("somebody's own") })

  await kube.remove(secret('demo-ca'))
  await kube.remove(secret('demo-user-kubeconfig')) // which nothing tells: it is looked for each minute
  await kube.seeCondition(controlPlane, 'SecretsReady', 'True', patience)
  const made = (await kube.read(secret('demo-kubeconfig'))) as KubeObject
  expect(made['type']).toBe('cluster.x-k8s.io/secret')

  await kube.patch(secret('demo-kubeconfig'), { data: { value: base64('edited') } })
  await kube.see(secret('demo-kubeconfig'), 'is as it was', (seen) => valueOf(seen) === valueOf(made), patience)
  await kube.patch(secret('demo-control-plane-kubeconfig'), {
    metadata: { labels: { 'cluster.x-k8s.io/cluster-name': null } },
  })
  await kube.patch(secret('demo-kubeconfig'), { metadata: { annotations: { [annotations.tokenRenews]: null } } })
  const isNoted = ({ metadata }: KubeObject) => metadata.annotations?.[annotations.tokenRenews] === 'never'
  await kube.see(secret('demo-kubeconfig'), 'says again when it is renewed', isNoted, patience)
  const isLabelled = ({ metadata }: KubeObject) => metadata.labels?.['cluster.x-k8s.io/cluster-name'] === 'demo'
  await kube.see(secret('demo-control-plane-kubeconfig'), 'has its label', isLabelled, patience)
  const { uid: old } = (await kube.read(secret('demo-ca')))?.metadata ?? {}
  await kube.remove(secret('demo-ca'))
  await kube.see(secret('demo-ca'), 'is there again', ({ metadata }) => metadata.uid !== old, patience)
  await kube.remove(secret('demo-eks-connection'))
  const waiting = await kube.see(
    controlPlane,
    'misses it',
    (seen) => /last good/.test(conditionOf(seen, 'SecretsReady')?.message ?? ''),
    patience,
  )
  expect(conditionOf(waiting, 'Available')?.status).toBe('True')
  await kube.remove(cluster)
  await kube.seeGone(cluster, patience) // its name in EKS is free again
}, 300_000)
