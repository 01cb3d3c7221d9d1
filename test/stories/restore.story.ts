// A management cluster is lost, and what Velero has of it comes back into an empty one: managers, engines, core, OpenTofu and `capt`, all real. In whichever
// order objects come, nothing is built a second time and nothing is destroyed; where no state came back, it stands still until somebody brings it.
import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest'
import { stateNamespace } from '../../src/terraform/statesecret.ts'
import { type StartedBed, startBed } from '../bed/bed.ts'
import { runCommand } from '../bed/command.ts'
import type { Kube, KubeObject } from '../bed/kube.ts'
import { aWorkload, theBed } from '../bed/story.ts'
import { aCaptCluster, leadingTo, offlineSecret, offlineTemplates } from '../clusters.ts'
import { aWorkspaceTemplateApply } from '../given.ts'
import { asGuided } from '../guide.ts'
import {
  askAgain,
  conditionOf,
  patience,
  readEngineLog,
  readState,
  seeConverged,
  seeSaying,
  workspaceOf,
} from '../lives.ts'
import { backUp, orders, restore, sorted } from '../velero.ts'

const source = theBed()
const workload = aWorkload()
let target: StartedBed

beforeAll(async () => void (target = await startBed()))
afterAll(async () => target.stop())

async function runsOf(namespace: string, what: string): Promise<number> {
  return (await readEngineLog(target)).filter(
    ({ did, object }) => Array.isArray(did) && did.includes(what) && String(object).includes(` ${namespace}/`),
  ).length
}

const isState = ({ metadata }: KubeObject) => metadata.namespace === stateNamespace
const isLuggage = ({ kind, metadata }: KubeObject) => kind === 'Secret' && metadata.name.endsWith('-state')
const isWorkspace = ({ kind }: KubeObject) => kind === 'Workspace'
const mayPause = ({ kind }: KubeObject) => ['Cluster', 'CAPTCluster', 'CAPTControlPlane'].includes(kind)

// As a seed of the run has it.
function shuffled(objects: readonly KubeObject[]): readonly KubeObject[] {
  return fc.sample(fc.shuffledSubarray([...objects], { minLength: objects.length }), 1)[0] ?? []
}

async function aCluster(story: string) {
  const namespace = await source.namespace(story)
  const objects = aCaptCluster({ namespace })
  const secret = offlineSecret(namespace, leadingTo(workload()))
  await source.kube.apply(secret, ...offlineTemplates(namespace), ...objects.all)
  const applies = ['demo-vpc', 'demo-eks-controlplane'].map((name) => aWorkspaceTemplateApply({ namespace, name }))
  return { namespace, ...objects, applies }
}
type Made = Awaited<ReturnType<typeof aCluster>>

// What must be the same afterwards: the states, what Terraform is asked for, and what others rely on.
async function lookAt(kube: Kube, { cluster, network, controlPlane, applies }: Made) {
  const [top, net, plane, ...asked] = await Promise.all(
    [cluster, network, controlPlane, ...applies].map(async (each) => kube.read(each)),
  )
  const statusOf = (object: KubeObject | undefined) => object?.['status'] as Record<string, unknown> | undefined
  const endpointOf = (object: KubeObject | undefined) =>
    (object?.['spec'] as { readonly controlPlaneEndpoint?: unknown } | undefined)?.controlPlaneEndpoint
  return {
    states: await Promise.all(applies.map(async (each) => readState(kube, each))),
    asked: asked.map((each) => each?.['spec']),
    outputs: asked.map((each) => statusOf(each)?.['outputs']),
    spec: [net?.['spec'], plane?.['spec']],
    endpoints: [endpointOf(top), endpointOf(plane)],
    provisioned: [
      statusOf(top)?.['initialization'],
      statusOf(net)?.['initialization'],
      statusOf(plane)?.['initialization'],
    ],
    network: [statusOf(net)?.['vpcId'], statusOf(net)?.['failureDomains']],
    version: [statusOf(plane)?.['version'], statusOf(plane)?.['versions']],
  }
}

async function seeTakenOver(made: Made, before: Awaited<ReturnType<typeof lookAt>>): Promise<void> {
  const { kube } = target
  const { namespace, cluster, network, controlPlane, applies } = made
  await kube.seeCondition(cluster, 'Available', 'True', patience)
  for (const each of [network, controlPlane, ...applies]) await kube.seeCondition(each, 'Ready', 'True', patience)
  for (const each of applies) await seeConverged(kube, workspaceOf('tf.m.upbound.io', each))
  expect(await lookAt(kube, made)).toEqual(before)
  const all = await backUp(kube, namespace)
  const uids = new Set(all.map(({ metadata }) => metadata.uid))
  for (const { kind, metadata } of all.filter((each) => /CAPT|Apply$/.test(each.kind) || isLuggage(each))) {
    const owners = metadata.ownerReferences?.map(({ uid }) => uids.has(uid))
    expect(owners, `${kind} ${metadata.name}`).toEqual([true])
  }
  expect([await runsOf(namespace, 'apply'), await runsOf(namespace, 'destroy')]).toEqual([0, 0])
}

// Why nobody restores owner references: the uids in them are no more. Velero does not.
test('what comes back with the owners it had is collected by Kubernetes, but for what is protected', async () => {
  const namespace = await target.namespace('restore-owned')
  const owner = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: 'lost', uid: randomUUID() }
  const owned = (name: string, deletionProtection: boolean) => {
    const { network } = aCaptCluster({ namespace, name, network: { deletionProtection } })
    return { ...network, metadata: { ...network.metadata, ownerReferences: [owner] } }
  }
  const [kept, bare] = [owned('protected', true), owned('bare', false)]
  await target.kube.apply(kept, bare)
  await target.kube.seeGone(bare, patience)
  const refused = async () =>
    (await target.audit({ namespace })).filter(
      ({ verb, name, code }) => verb === 'delete' && name === 'protected' && code >= 400,
    )
  await expect.poll(async () => (await refused()).length, { timeout: 20_000 }).toBeGreaterThan(0)
  const { metadata } = await target.kube.see(kept, 'is there', () => true)
  expect(metadata.deletionTimestamp).toBeUndefined()
})

test('clusters come back from a backup into an empty cluster, and what has no state stands still until that is brought', async () => {
  onTestFailed(async () => console.error(`the logs of the target: ${await target.keepLogs()}`))
  const { kube } = target
  const [whole, early, lost, paused] = await Promise.all([
    aCluster('restore-whole'),
    aCluster('restore-early'),
    aCluster('restore-lost'),
    aCluster('restore-paused'),
  ])
  const all = [whole, early, lost, paused]
  for (const { cluster, controlPlane, applies } of all) {
    await source.kube.seeCondition(cluster, 'Available', 'True', patience)
    await source.kube.seeCondition(controlPlane, 'Ready', 'True', patience)
    for (const each of applies) await seeConverged(source.kube, workspaceOf('tf.m.upbound.io', each))
  }
  const before = new Map(await Promise.all(all.map(async (each) => [each, await lookAt(source.kube, each)] as const)))
  const seeBack = async (made: Made) => {
    const known = before.get(made)
    if (known) await seeTakenOver(made, known)
  }
  const files = mkdtempSync(join(source.folder, 'states-'))
  for (const name of ['demo-vpc', 'demo-eks-controlplane'])
    await asGuided(source, 'life.md', lost.namespace, `capt state export ${name}`, { folder: files })
  await asGuided(source, 'life.md', paused.namespace, '{"paused":true}')
  for (const each of paused.applies) await seeSaying(source.kube, each, 'Paused', 'Paused')
  for (const each of paused.applies)
    await source.kube.see(
      workspaceOf('tf.m.upbound.io', each),
      'is paused',
      (seen) => conditionOf(seen, 'Synced')?.reason === 'ReconcilePaused',
      patience,
    )
  for (const { namespace } of all)
    await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const backups = new Map(
    await Promise.all(all.map(async (each) => [each, await backUp(source.kube, each.namespace)] as const)),
  )
  const backupOf = (made: Made) => backups.get(made) ?? []

  // All of it, as Velero does it.
  await restore(kube, sorted(backupOf(whole), orders.now), { withManagers: true })
  // Clusters first, so that we are at work before it is done; no states but those that go with the applies; no Workspaces.
  const withoutStates = backupOf(early).filter((each) => !isState(each) && !isWorkspace(each))
  await restore(kube, sorted(withoutStates, orders.before))
  // Of a cluster that was paused, who says so comes last.
  const [sayers, others] = [true, false].map((is) => backupOf(paused).filter((each) => mayPause(each) === is))
  await restore(kube, shuffled(others ?? []))
  for (const each of paused.applies) await seeSaying(kube, each, 'Applied', 'WaitingForCluster')
  await restore(kube, shuffled(sayers ?? []))
  // And with no state at all. Of EKS even the Workspace is lost.
  const bare = backupOf(lost).filter(
    (each) => !isState(each) && !isLuggage(each) && !(isWorkspace(each) && each.metadata.name !== 'demo-vpc'),
  )
  await restore(kube, shuffled(bare))

  await seeBack(whole)
  await seeBack(early)

  await kube.seeCondition(paused.controlPlane, 'Paused', 'True', patience)
  expect([await runsOf(paused.namespace, 'plan'), await runsOf(paused.namespace, 'apply')]).toEqual([0, 0])
  await asGuided(target, 'life.md', paused.namespace, '{"paused":false}')
  await seeBack(paused)

  for (const apply of lost.applies) {
    const frozen = await seeSaying(kube, apply, 'Applied', 'StateMissing')
    expect(conditionOf(frozen, 'Ready')?.status).toBe('False')
    const told = /\((?:or )?(?<command>capt state restore [^()]* --from FILE [^()]*)\)/.exec(
      conditionOf(frozen, 'Applied')?.message ?? '',
    )
    const command = told?.groups?.['command'] ?? `no command in: ${conditionOf(frozen, 'Applied')?.message}`
    const file = join(files, `${apply.metadata.name}.tfstate`)
    const env = { PATH: `${target.bin}:${process.env['PATH']}`, KUBECONFIG: target.kubeconfig }
    await runCommand('sh', ['-c', `${command.replace('FILE', file)} --yes`], { env })
  }
  await seeBack(lost)

  // They are clusters like any other again. Of a state that is lost here, there are the copies.
  const vpc = aWorkspaceTemplateApply({ namespace: whole.namespace, name: 'demo-vpc' })
  const name = `tfstate-${whole.namespace}.demo-vpc-capt`
  await kube.remove({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: stateNamespace, name } })
  await askAgain(kube, workspaceOf('tf.m.upbound.io', vpc), 'lost')
  await seeSaying(kube, vpc, 'Applied', 'StateMissing')
  expect(await asGuided(target, 'life.md', whole.namespace, 'capt state list demo-vpc')).toContain('there is no state')
  await asGuided(target, 'life.md', whole.namespace, 'capt state restore demo-vpc')
  await seeSaying(kube, vpc, 'Applied', 'Converged')
  await seeBack(whole)

  await kube.remove(early.cluster)
  await kube.seeGone(early.cluster, patience)
  await expect.poll(async () => runsOf(early.namespace, 'destroy'), { timeout: 20_000 }).toBe(2)
  for (const { cluster } of all) await source.kube.remove(cluster)
  await source.kube.patch(paused.cluster, { spec: { paused: false } }).catch(() => {})
}, 500_000)
