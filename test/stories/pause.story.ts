// A cluster that is paused, under real core: nothing of it is changed by us or by the engine, whatever is asked for meanwhile, but for what
// a pause needs itself. Then it goes on with all of that.
import { expect, test } from 'vitest'
import { blockMoveAnnotation } from '../../src/api/contract.ts'
import { annotations } from '../../src/api/keys.ts'
import { isRecord, type JsonRecord } from '../../src/api/record.ts'
import { crossplane } from '../../src/api/workspace.ts'
import { stateNamespace } from '../../src/terraform/statesecret.ts'
import { type AuditRecord, isWrite } from '../bed/audit.ts'
import { conditionsOf } from '../bed/describe.ts'
import { engineUser } from '../bed/engine.ts'
import type { KubeObject, ObjectRef } from '../bed/kube.ts'
import { bedAws, managerUser } from '../bed/manager.ts'
import { aWorkload, theBed } from '../bed/story.ts'
import { aCaptCluster, asOurselves, leadingTo, masked, offlineSecret, offlineTemplates } from '../clusters.ts'
import { aWorkspaceTemplate, aWorkspaceTemplateApply } from '../given.ts'
import { aTeller } from '../golden.ts'
import { asGuided } from '../guide.ts'
import {
  attributesIn,
  conditionOf,
  patience,
  readState,
  seeConverged,
  seeDestroyed,
  seeNoTraces,
  seeSaying,
  workspaceOf,
} from '../lives.ts'

const bed = theBed()
const { kube } = bed
const eksClusterName = 'eks-pause'
const workload = aWorkload({ eks: { clusterName: eksClusterName, credentials: bedAws } })

const isPaused = (workspace: KubeObject) => conditionOf(workspace, 'Synced')?.reason === 'ReconcilePaused'
const note = (object: ObjectRef, notes: object) => kube.patch(object, { metadata: { annotations: notes } })
const pausedNote = { [crossplane.paused]: 'true' }

// What a write notes and says. Engines replace a status as a whole.
function tellWrite({ user, verb, resource, name, body }: AuditRecord): string {
  const who = user === engineUser ? 'engine' : 'manager'
  const ops: readonly unknown[] = Array.isArray(body) ? body : []
  const replaced = ops.find((each): each is JsonRecord => isRecord(each) && each['path'] === '/status')
  const { metadata, status = replaced?.['value'] } = isRecord(body) ? body : {}
  const notes = isRecord(metadata) && isRecord(metadata['annotations']) ? Object.keys(metadata['annotations']) : []
  const telling = user === engineUser ? ['Synced'] : ['Paused', 'Deleting']
  const said = conditionsOf({ status } as unknown as KubeObject)
    .filter(({ type, reason }) => telling.includes(type) && reason !== 'NotDeleting')
    .map(({ type, reason }) => `${type}=${reason}`)
  const what = [...notes, ...said].toSorted().join(' ')
  return `${who}: ${verb} ${resource} ${name}${what && `: ${what}`}`
}

// What Terraform is asked for. Whether it may destroy is said in a pause, too.
function forProviderOf(workspace: KubeObject | undefined): unknown {
  return (workspace?.['spec'] as { readonly forProvider: unknown } | undefined)?.forProvider
}

// But for what a pause itself says.
function saysOf(object: KubeObject | undefined): unknown {
  return object && conditionsOf(object).filter(({ type }) => type !== 'Paused' && type !== 'Deleting')
}

test('a cluster is paused, and changed, renewed and deleted meanwhile', async () => {
  const story = aTeller()
  const namespace = await bed.namespace('pause')
  const guided = async (text: string) => asGuided(bed, 'life.md', namespace, text)
  const token = { kubeconfig: { source: 'AWS' } }
  const objects = aCaptCluster({ namespace, controlPlane: { eksClusterName, ...token } })
  const { cluster, network, controlPlane } = objects
  const anApply = (name: string, labels: Record<string, string> = {}) => {
    const apply = aWorkspaceTemplateApply({ namespace, name, template: 'plain' })
    return { ...apply, metadata: { ...apply.metadata, labels } }
  }
  const [vpc, eks, alone] = [anApply('demo-vpc'), anApply('demo-eks-controlplane'), anApply('alone')]
  const extra = anApply('extra', { 'cluster.x-k8s.io/cluster-name': 'demo' }) // a user's own, for the same cluster
  const inWorkspace = (apply: ObjectRef) => workspaceOf('tf.m.upbound.io', apply)
  const plain = aWorkspaceTemplate({ namespace, name: 'plain', module: 'resource "terraform_data" "it" {}\n' })
  await kube.apply(offlineSecret(namespace, leadingTo(workload())), ...offlineTemplates(namespace), plain)
  await kube.apply(alone, extra, ...objects.all)
  await kube.seeCondition(cluster, 'Available', 'True', patience)
  for (const each of [network, controlPlane, alone, extra]) {
    const seen = await kube.seeCondition(each, 'Ready', 'True', patience)
    expect(conditionOf(seen, 'Paused')).toMatchObject({
      reason: 'NotPaused',
      observedGeneration: seen.metadata.generation,
    })
  }
  await note(inWorkspace(extra), pausedNote) // a user, for reasons of their own
  await kube.see(inWorkspace(extra), 'is paused', isPaused, patience)
  await seeSaying(kube, extra, 'Applied', 'Paused')
  await seeSaying(kube, extra, 'Synced', 'ReconcilePaused')
  const all = [vpc, eks]
  const before = await Promise.all(all.map(async (each) => seeConverged(kube, inWorkspace(each))))
  const whole = [network, controlPlane, vpc, eks, extra]
  const saidOf = async () => Promise.all(whole.map(async (each) => saysOf(await kube.read(each))))
  const said = await saidOf()
  const seePaused = async (each: ObjectRef, told: string) => {
    const seen = await kube.see(
      each,
      'is paused',
      (object) => conditionOf(object, 'Paused')?.status === 'True',
      patience,
    )
    const paused = conditionOf(seen, 'Paused')
    expect(paused).toMatchObject({ reason: 'Paused', observedGeneration: seen.metadata.generation })
    expect(paused?.message).toBe(told)
    return seen
  }

  story.happens('the user pauses the Cluster')
  const since = new Date()
  await guided('{"paused":true}')
  for (const each of whole) {
    story.says(await seePaused(each, `Cluster ${namespace}/demo is paused (spec.paused)`), 'Paused', 'Ready')
  }
  for (const each of all) {
    const workspace = await kube.see(inWorkspace(each), 'is paused', isPaused, patience)
    expect(workspace.metadata.annotations).toMatchObject({ ...pausedNote, [annotations.paused]: 'true' })
  }
  expect((await kube.read(inWorkspace(extra)))?.metadata.annotations).not.toHaveProperty([annotations.paused])
  expect(conditionOf((await kube.read(alone)) ?? alone, 'Paused')?.status).toBe('False')

  story.happens(
    'meanwhile the user asks for a newer version, tags and another template, and deletes an apply; a token is due',
  )
  await kube.patch(controlPlane, { spec: { version: 'v1.35.0' } })
  await kube.patch(network, { spec: { additionalTags: { team: 'blue' } } })
  const [template] = offlineTemplates(namespace)
  const changed = JSON.stringify(template).replace(
    'public_subnets\\" { value = [] }',
    'public_subnets\\" { value = [\\"a\\"] }',
  )
  expect(changed).not.toBe(JSON.stringify(template))
  await kube.apply(JSON.parse(changed) as KubeObject)
  await kube.remove(extra)
  story.says(await seeSaying(kube, extra, 'Deleting', 'Deleting'), 'Paused', 'Deleting')
  const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'demo-kubeconfig' } }
  const old = (await kube.read(secret)) ?? secret
  await asOurselves(kube, old, { ...old.metadata.annotations, [annotations.tokenRenews]: '2026-01-01T00:00:00Z' })
  await kube.see(secret, 'is renewed', ({ data }) => JSON.stringify(data) !== JSON.stringify(old['data']), patience)
  await note(inWorkspace(vpc), { ...pausedNote, 'example.com/why': 'an audit' }) // which changes nothing: it is paused already
  await note(network, { [annotations.keepPaused]: '' }) // so this says that it is meant
  for (const each of [network, controlPlane]) await seeSaying(kube, each, 'Paused', 'Paused')
  expect(await saidOf()).toEqual(said)
  for (const [at, each] of all.entries()) {
    const workspace = await kube.read(inWorkspace(each))
    expect(forProviderOf(workspace)).toEqual(forProviderOf(before[at]))
  }

  const tellWrites = async (after: Date, isTold: (write: AuditRecord) => boolean = () => true) => {
    const ofThis = ({ namespace: where, name }: AuditRecord) =>
      (where === namespace && !name.startsWith('alone')) || (where === stateNamespace && name.includes(namespace))
    const writes = (await bed.audit({ since: after }))
      .filter(
        (each) => [managerUser, engineUser].includes(each.user) && ofThis(each) && each.code < 300 && isTold(each),
      )
      .filter(isWrite)
      .filter(({ resource, group }) => !(resource === 'events' && group === 'events.k8s.io'))
    for (const line of new Set(writes.map((each) => tellWrite(each)).toSorted())) story.notes(masked(line, namespace))
  }
  story.happens('this is all that was written')
  await tellWrites(since)

  story.happens('the user lets it go on, and keeps the VPC as it is')
  await guided('{"paused":false}')
  for (const each of [network, controlPlane, eks]) await seeSaying(kube, each, 'Paused', 'NotPaused')
  await kube.see(
    inWorkspace(eks),
    'is resumed',
    ({ metadata }) => !(crossplane.paused in (metadata.annotations ?? {})),
    patience,
  )
  story.says(await seeSaying(kube, vpc, 'Applied', 'Paused'), 'Paused', 'Applied')
  const kept = await kube.see(
    extra,
    'waits for the user',
    (seen) => /paused \(annotation crossplane.io\/paused\)/.test(conditionOf(seen, 'Deleting')?.message ?? ''),
    patience,
  )
  story.notes(masked(conditionOf(kept, 'Deleting')?.message ?? '', namespace))
  await note(inWorkspace(extra), { [crossplane.paused]: null })
  await kube.seeGone(extra, patience)
  await note(network, { [annotations.keepPaused]: null })
  const upgraded = await kube.see(
    controlPlane,
    'runs 1.35',
    ({ status }) => (status as { readonly version?: string }).version === 'v1.35.0',
    patience,
  )
  story.says(await kube.seeCondition(upgraded, 'Ready', 'True', patience), 'Paused', 'Ready', 'EKSApplied')
  expect(attributesIn(await readState(kube, vpc), 'vpc')['output']).toMatchObject({ value: { tags: { team: 'blue' } } })
  await expect
    .poll(async () => kube.read(vpc), { timeout: 30_000 })
    .toMatchObject({ status: { outputs: { public_subnets: ['a'] } } })

  story.happens('the user pauses the control plane alone, and deletes the Cluster and the apply')
  for (const each of [vpc, eks]) await seeConverged(kube, inWorkspace(each))
  for (const each of [network, controlPlane, vpc, eks]) await kube.seeCondition(each, 'Ready', 'True', patience)
  // That `extra` went is told last, a second after it did.
  await expect
    .poll(async () => kube.read(plain), { timeout: 30_000 })
    .toMatchObject({ status: { users: { count: 1, names: ['alone'] } } })
  const alonePaused = new Date()
  await guided('captcontrolplane demo cluster.x-k8s.io/paused=')
  const by = `CAPTControlPlane ${namespace}/demo is paused (annotation cluster.x-k8s.io/paused)`
  for (const each of [controlPlane, eks]) await seePaused(each, by)
  await kube.see(inWorkspace(eks), 'is paused', isPaused, patience)
  expect(conditionOf((await kube.read(vpc)) ?? vpc, 'Paused')?.status).toBe('False')
  await kube.remove(cluster)
  await kube.remove(eks)
  for (const each of [controlPlane, eks]) {
    const waiting = await seeSaying(kube, each, 'Deleting', 'Deleting')
    expect(conditionOf(waiting, 'Deleting')?.message).toBe(`waits while it is paused: ${by}`)
    story.says(waiting, 'Paused', 'Deleting')
  }
  expect((await kube.read(inWorkspace(eks)))?.metadata.deletionTimestamp).toBeUndefined()
  const isFree = ({ metadata }: KubeObject) => metadata.annotations?.[blockMoveAnnotation] === undefined
  await kube.see(eks, 'may be moved', isFree, patience)
  story.happens('this is all that was written then')
  await tellWrites(alonePaused, ({ resource }) => !resource.startsWith('captclusters')) // which is not paused

  story.happens('the user lets it go on')
  await guided('captcontrolplane demo cluster.x-k8s.io/paused-')
  await kube.seeGone(cluster, patience)
  story.notes(masked(`destroyed: ${(await seeDestroyed(bed, namespace, 3)).join(', then ')}`, namespace))
  await kube.remove(alone)
  await seeNoTraces(kube, namespace)
  await story.end('pause')
}, 300_000)
