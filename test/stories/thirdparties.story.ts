// What others do to the objects of a cluster, under real core: backup tools that strip them of what ties them together, GitOps tools that
// apply their copy again and again, people who tidy up. All is put back, nobody is fought, and nothing is destroyed. In the manner of Cluster API's own
// checks of resilience (ValidateOwnerReferencesResilience, ValidateFinalizersResilience).

import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { clusterSecretType } from '../../src/api/contract.ts'
import { annotations } from '../../src/api/keys.ts'
import { crossplane } from '../../src/api/workspace.ts'
import { isWrite } from '../bed/audit.ts'
import { engineUser } from '../bed/engine.ts'
import type { KubeObject } from '../bed/kube.ts'
import { managerUser } from '../bed/manager.ts'
import { aWorkload, theBed } from '../bed/story.ts'
import { aCaptCluster, leadingTo, offlineSecret, offlineTemplates } from '../clusters.ts'
import {
  askAgain,
  conditionOf,
  patience,
  readEngineLog,
  readState,
  seeConverged,
  seeDestroyed,
  seeNoTraces,
  seeSaying,
} from '../lives.ts'
import { until } from '../until.ts'

const bed = theBed()
const { kube } = bed
const workload = aWorkload()
const aMinute = { withinSeconds: 60, everyMs: 250 }

// All that is ours of the clusters of a namespace, and what the engine makes for it.
async function allOf(namespace: string): Promise<readonly KubeObject[]> {
  const lists = await Promise.all(
    kinds.map(async ([apiVersion, kind]) =>
      (await kube.list(apiVersion, kind, namespace)).map((each) => ({ ...each, apiVersion, kind })),
    ),
  )
  const isOurs = ({ kind, type, metadata: { name } }: KubeObject) =>
    kind !== 'Secret' ||
    type === clusterSecretType ||
    type === crossplane.connectionSecretType ||
    name.endsWith('-state') // in which the state of an apply is moved
  return lists.flat().filter(isOurs)
}

const kinds = [
  ['infrastructure.cluster.x-k8s.io/v1beta1', 'CAPTCluster'],
  ['controlplane.cluster.x-k8s.io/v1beta1', 'CAPTControlPlane'],
  ['infrastructure.cluster.x-k8s.io/v1beta1', 'WorkspaceTemplateApply'],
  ['tf.m.upbound.io/v1beta1', 'Workspace'],
  ['v1', 'Secret'],
] as const

const tell = ({ kind, metadata }: KubeObject) => `${kind} ${metadata.name}`

// What ties it to others, and holds it.
function tiesOf({ metadata: { uid, labels, finalizers, ownerReferences = [] } }: KubeObject) {
  return { uid, labels: labels ?? {}, finalizers: finalizers?.toSorted() ?? [], owners: ownerReferences }
}

async function tiesIn(namespace: string): Promise<Readonly<Record<string, unknown>>> {
  return Object.fromEntries((await allOf(namespace)).map((each) => [tell(each), tiesOf(each)]))
}

async function strip(namespace: string): Promise<void> {
  for (const each of await allOf(namespace)) {
    const labels = Object.fromEntries(Object.keys(each.metadata.labels ?? {}).map((label) => [label, null]))
    await kube.patch(each, { metadata: { ownerReferences: null, finalizers: null, labels } })
  }
}

// To others.
async function alter(namespace: string): Promise<void> {
  for (const each of await allOf(namespace)) {
    const labels = Object.fromEntries(Object.keys(each.metadata.labels ?? {}).map((label) => [label, 'altered']))
    await kube.patch(each, { metadata: { labels } })
  }
}

async function seeTies(namespace: string, ties: Readonly<Record<string, unknown>>): Promise<void> {
  let seen: unknown
  const look = async () => isDeepStrictEqual((seen = await tiesIn(namespace)), ties) || undefined
  await until('all is tied together as it was', look, aMinute).catch(() => {}) // who compares shows what is not
  expect(seen).toEqual(ties)
}

async function writesSince(namespace: string, since: Date): Promise<readonly string[]> {
  return (await bed.audit({ namespace, since }))
    .filter((each) => [managerUser, engineUser].includes(each.user) && isWrite(each))
    .filter(({ resource }) => resource !== 'events') // which are counted up a while after the last of them
    .map(({ verb, resource, name }) => `${verb} ${resource} ${name}`)
}

test('what others strip, flip and apply again is put back or left, without a fight and without a destroy', async () => {
  const namespace = await bed.namespace('others')
  const objects = aCaptCluster({ namespace, name: namespace, controlPlane: { eksClusterName: undefined } })
  const { cluster, network, controlPlane, all } = objects
  const templates = offlineTemplates(namespace)
  await kube.apply(offlineSecret(namespace, leadingTo(workload())), ...templates)
  await kube.apply(...all)
  await kube.seeCondition(cluster, 'Available', 'True', patience)
  await kube.seeCondition(controlPlane, 'Ready', 'True', patience)
  const of = async (kind: string, end: string) => {
    const found = (await allOf(namespace)).find((each) => each.kind === kind && each.metadata.name.endsWith(end))
    if (!found) throw new Error(`there is no ${kind} …${end}`)
    return found
  }
  const [vpc, eks] = [await of('WorkspaceTemplateApply', '-vpc'), await of('WorkspaceTemplateApply', '-controlplane')]
  const workspaces = [await of('Workspace', '-vpc'), await of('Workspace', '-controlplane')]
  for (const each of workspaces) await seeConverged(kube, each)
  const ties = await tiesIn(namespace)
  const lineages = async () => Promise.all([vpc, eks].map(async (each) => (await readState(kube, each)).lineage))
  const states = await lineages()
  const seeWell = async () => {
    await kube.seeCondition(cluster, 'Available', 'True', patience)
    for (const each of [network, controlPlane, vpc, eks]) {
      await kube.seeCondition(each, 'Ready', 'True', patience)
      await seeSaying(kube, each, 'Paused', 'NotPaused')
    }
    expect(await lineages()).toEqual(states)
  }

  // GitOps tools apply their copy, in either way, with a status that says nothing and without what we filled in.
  const copies = [...all, ...templates].map((each) => ({ ...each, status: {} }))
  const documents = copies.map((each) => JSON.stringify(each)).join('\n---\n')
  const reapplied = new Date()
  for (let time = 0; time < 3; time++) {
    await kube.kubectl(['apply', '-f', '-'], documents)
    await kube.kubectl(['apply', '--server-side', '--force-conflicts', '--field-manager=argocd', '-f', '-'], documents)
  }
  expect((await kube.read(controlPlane))?.['spec']).toMatchObject({ eksClusterName: namespace })
  await seeWell()
  expect(await writesSince(namespace, reapplied)).toEqual([])

  // Versions of owner references flip when an API is upgraded.
  for (const each of await allOf(namespace)) {
    const owners = each.metadata.ownerReferences ?? []
    const flipped = owners.map((owner) => ({
      ...owner,
      apiVersion: owner.apiVersion.replace(/v1beta\d$/, owner.kind === 'Cluster' ? 'v1beta1' : 'v1beta9'),
    }))
    if (owners.length > 0) await kube.patch(each, { metadata: { ownerReferences: flipped } })
  }
  await kube.patch(network, { spec: { additionalTags: { flipped: 'yes' } } }) // and all goes on
  await kube.patch(controlPlane, { spec: { additionalTags: { flipped: 'yes' } } })
  for (const each of [vpc, eks]) {
    const isAsked = ({ spec }: KubeObject) => JSON.stringify(spec).includes('flipped')
    await kube.see(each, 'was asked for it', isAsked, patience)
    await seeSaying(kube, each, 'Ready', 'Ready')
  }
  await seeWell()

  // As a tool does that restores a backup: while it is paused, then while it is alive.
  await kube.patch(cluster, { spec: { paused: true } })
  for (const each of [network, controlPlane, vpc, eks]) await seeSaying(kube, each, 'Paused', 'Paused')
  for (const each of workspaces)
    await kube.see(each, 'is paused', (seen) => conditionOf(seen, 'Synced')?.reason === 'ReconcilePaused', patience)
  const still = new Date()
  await strip(namespace)
  await kube.patch(vpc, { metadata: { annotations: { 'example.com/looked-at': 'yes' } } })
  for (const each of await allOf(namespace)) {
    expect(tiesOf(each), tell(each)).toMatchObject({ labels: {}, finalizers: [], owners: [] })
  }
  expect(await writesSince(namespace, still)).toEqual([])
  await kube.patch(cluster, { spec: { paused: false } })
  await seeTies(namespace, ties)
  await seeWell()
  await strip(namespace)
  for (const each of workspaces) await askAgain(kube, each, 'stripped') // connection Secrets are put right when the engine looks next
  await seeTies(namespace, ties)
  await seeWell()

  await alter(namespace)
  await seeTies(namespace, ties)
  await seeWell()

  // Who tidies up our notes takes from a Workspace what proves that it is as we asked for: it is left as it is until a user says so.
  const notesOf = ({ metadata }: KubeObject) =>
    Object.keys(metadata.annotations ?? {}).filter((name) => name.startsWith('capt.appthrust.io/'))
  const withoutNotes = async (each: KubeObject) => {
    const seen = (await kube.read(each)) ?? each
    const none = Object.fromEntries(notesOf(seen).map((name) => [name, null]))
    await kube.patch(each, { metadata: { annotations: none } })
  }
  await withoutNotes(vpc)
  const isNoted = (seen: KubeObject) => isSame(notesOf(seen), [annotations.revision, annotations.workspace])
  await kube.see(vpc, 'has its notes again', isNoted, aMinute)
  const [inNetwork] = workspaces
  if (!inNetwork) throw new Error('there is no Workspace')
  await withoutNotes(inNetwork)
  const frozen = await seeSaying(kube, vpc, 'Applied', 'AdoptionFrozen')
  expect(conditionOf(frozen, 'Applied')?.message).toMatch(/nothing would change. To take it over: kubectl annotate/)
  const left = notesOf((await kube.read(inNetwork)) ?? inNetwork)
  expect(left.filter((each) => each !== annotations.cli)).toEqual([]) // which the engine writes, sooner or later
  await kube.patch(vpc, { metadata: { annotations: { [annotations.adopt]: 'approved' } } })
  await kube.see(inNetwork, 'is ours again', (seen) => notesOf(seen).includes(annotations.revision), patience)
  await seeWell()
  await seeTies(namespace, ties)

  const destroyed = (await readEngineLog(bed)).filter(
    ({ did, object }) => Array.isArray(did) && did.includes('destroy') && String(object).includes(`${namespace}/`),
  )
  expect(destroyed).toEqual([])
  await kube.remove(cluster)
  await kube.seeGone(cluster, patience)
  expect(await seeDestroyed(bed, namespace, 2)).toEqual([eks.metadata.name, vpc.metadata.name])
  await seeNoTraces(kube, namespace)
}, 300_000)

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return JSON.stringify(some.toSorted()) === JSON.stringify(others.toSorted())
}
