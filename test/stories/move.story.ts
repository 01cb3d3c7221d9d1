// `clusterctl move` takes clusters of ours from one bed to another: managers, engines, core, OpenTofu and clusterctl, all real. What
// Terraform built is not touched on either side, and its state is the same on both, whatever goes wrong meanwhile.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from 'vitest'
import { blockMoveAnnotation, clusterSecretType } from '../../src/api/contract.ts'
import { annotations } from '../../src/api/keys.ts'
import { crossplane } from '../../src/api/workspace.ts'
import { stateNamespace } from '../../src/terraform/statesecret.ts'
import { isWrite } from '../bed/audit.ts'
import { type Bed, type StartedBed, startBed } from '../bed/bed.ts'
import { engineKubeconfig, engineUser, grantEngine, launchEngine } from '../bed/engine.ts'
import type { Kube, KubeObject, ObjectRef } from '../bed/kube.ts'
import { kubeconfig } from '../bed/kubeconfig.ts'
import { launchManager, type ManagerProcess, managerKubeconfig, managerUser, seeReady } from '../bed/manager.ts'
import { privateFile } from '../bed/private-file.ts'
import { aWorkload, theBed } from '../bed/story.ts'
import { anyBlows, type Blow, writesOf } from '../blows.ts'
import { aCaptCluster, type ClusterObjects, type Leading, leadingTo, offlineSecret } from '../clusters.ts'
import { aDiary, type Diary } from '../diary.ts'
import { aWorkspace, aWorkspaceTemplate, aWorkspaceTemplateApply } from '../given.ts'
import { asGuided } from '../guide.ts'
import {
  conditionOf,
  patience,
  readState,
  type State,
  seeConverged,
  seeNothingLeft,
  seeSaying,
  tracesOf,
  workspaceOf,
} from '../lives.ts'
import { until } from '../until.ts'

const source = theBed()
const workload = aWorkload()
let target: StartedBed
const living: Record<'manager' | 'engine', ManagerProcess[]> = { manager: [], engine: [] } // of the target; the last of each lives

beforeAll(async () => {
  target = await startBed({ capt: [] })
  await grantEngine(target.kube)
  await Promise.all([source, target].map(async ({ kube }) => labelKinds(kube)))
  await Promise.all([launch('manager'), launch('engine')])
})
afterAll(async () => target.stop())

async function launch(who: 'manager' | 'engine'): Promise<void> {
  const name = `${who}-${living[who].length + 1}`
  // Who is killed leaves a Lease behind that others wait for: that is another story.
  const flags = ['--leader-elect=false']
  const process =
    who === 'manager'
      ? await launchManager(target, {
          name,
          kubeconfig: await managerKubeconfig(target, target),
          flags: [...flags, '--workspace-api=tf.m.upbound.io'],
        })
      : await launchEngine(target, {
          name,
          kubeconfig: await engineKubeconfig(target, target),
          tofu: target.parts.tofu,
          work: join(target.folder, 'work'),
          flags,
        })
  living[who].push(process)
  await seeReady(process)
}

// As clusterctl does with what it installs: it moves only objects of kinds that it knows by this.
async function labelKinds(kube: Kube): Promise<void> {
  const names = (await kube.kubectl(['get', 'customresourcedefinitions', '-o', 'name'])).trim().split('\n')
  const ours = names.filter(
    (name) => name.endsWith('cluster.x-k8s.io') && !name.endsWith('clusterctl.cluster.x-k8s.io'),
  )
  await kube.kubectl(['label', '--overwrite', ...ours, 'clusterctl.cluster.x-k8s.io='])
}

interface Movable extends ClusterObjects {
  readonly namespace: string
  readonly diary: Diary
  readonly applies: readonly KubeObject[]
  guided(bed: Bed, text: string, instead?: Readonly<Record<string, string>>): Promise<string>
}

interface Asked {
  readonly there?: Leading
  readonly isBrought?: boolean
  readonly beside?: readonly string[] // further clusters of that namespace
}

// A cluster on the source that serves, and what its users bring to the target before: Secrets of theirs stay behind.
async function aMovable(
  story: string,
  { there = leadingTo(workload()), isBrought = true, beside = [] }: Asked = {},
): Promise<Movable> {
  onTestFailed(async () => console.error(`the logs of the target: ${await target.keepLogs()}`))
  const namespace = await source.namespace(story)
  const diary = aDiary(target.folder, namespace)
  const secret = offlineSecret(namespace, there)
  await source.kube.apply(secret, ...diary.templates)
  await target.kube.apply(namespaceOf(namespace), ...(isBrought ? [secret] : []))
  const movable = another({ namespace, diary }, 'demo')
  const all = [movable, ...beside.map((name) => another(movable, name))]
  await source.kube.apply(...all.flatMap((each) => each.all))
  for (const { cluster } of all) await source.kube.seeCondition(cluster, 'Available', 'True', patience)
  return movable
}

function another({ namespace, diary }: Pick<Movable, 'namespace' | 'diary'>, name: string): Movable {
  const objects = aCaptCluster({ namespace, name, controlPlane: { eksClusterName: `${namespace}-${name}` } })
  const applies = [`${name}-vpc`, `${name}-eks-controlplane`].map((each) =>
    aWorkspaceTemplateApply({ namespace, name: each }),
  )
  const guided: Movable['guided'] = async (bed, text, instead = {}) =>
    asGuided(bed, 'life.md', namespace, text, {
      instead: { 'target.kubeconfig': target.kubeconfig, ...instead, team: namespace },
    })
  return { ...objects, namespace, diary, applies, guided }
}

const namespaceOf = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
const inWorkspace = (apply: ObjectRef) => workspaceOf('tf.m.upbound.io', apply)
const statesOf = async ({ kube }: Bed, { applies }: Movable) =>
  Promise.all(applies.map(async (each) => readState(kube, each)))
const theMove = '--namespace team --to-kubeconfig target'

// The whole cluster serves there, on the very states, and nothing is to be done.
async function seeArrived(bed: Bed, movable: Movable, states: readonly State[]): Promise<void> {
  const { kube } = bed
  await kube.seeCondition(movable.cluster, 'Available', 'True', patience)
  for (const apply of movable.applies) {
    const workspace = await seeConverged(kube, inWorkspace(apply))
    expect(conditionOf(workspace, 'UpToDate')?.reason).toBe('ObserveMatched')
    await seeSaying(kube, apply, 'Applied', 'Converged')
  }
  expect(await statesOf(bed, movable)).toEqual(states)
}

// What a move leaves is paused, destroys nothing, and goes by one command.
async function seeCleaned({ kube }: Bed, from: Bed, { namespace, guided }: Movable): Promise<void> {
  const left = await kube.list('tf.m.upbound.io/v1beta1', 'Workspace', namespace)
  expect(left.length).toBeGreaterThan(0)
  for (const { metadata, spec } of left) {
    expect(metadata.annotations).toMatchObject({
      [crossplane.paused]: 'true',
      [annotations.moved]: expect.any(String) as string,
    })
    expect((spec as { managementPolicies: string[] }).managementPolicies).not.toContain('Delete')
  }
  await guided(from, 'capt cleanup moved', { 'cleanup moved': 'cleanup moved --yes' })
  for (const each of left) await kube.seeGone(each, patience)
  await seeNothingBeside(kube, namespace)
}

// Nothing is left of what was moved, but for states and what the engine knows of them, which stay where it came from.
async function seeNothingBeside(kube: Kube, namespace: string): Promise<void> {
  const look = async () => {
    const secrets = (await kube.list('v1', 'Secret', namespace)).map(({ metadata }) => metadata.name)
    const isState = (trace: string) =>
      /^(?:Secret|Lease) /.test(trace) && !secrets.some((name) => trace.endsWith(` ${name}`))
    const left = (await tracesOf(kube, namespace)).filter((each) => !isState(each))
    const others = secrets.filter((name) => name !== 'offline-workload')
    if (left.length + others.length > 0) throw new Error(`still there: ${[...left, ...others].join(', ')}`)
    return true
  }
  await until(`nothing is left of ${namespace} but states`, look, { ...patience, everyMs: 500 })
}

// Deleted there, each thing that was ever made is destroyed, and once.
async function seeDestroyedOnce({ kube }: Bed, { namespace, diary }: Movable, ...clusters: KubeObject[]) {
  expect((await diary.lines()).filter((line) => line.startsWith('gone'))).toEqual([])
  for (const each of clusters) await kube.remove(each)
  for (const each of clusters) await kube.seeGone(each, patience)
  await seeNothingLeft(kube, namespace)
  const lines = await diary.lines()
  const all = (deed: string) => lines.filter((line) => line.startsWith(deed)).map((line) => line.slice(deed.length + 1))
  expect(all('made')).toHaveLength(2 * clusters.length)
  expect(new Set(all('made')).size).toBe(2 * clusters.length)
  expect(all('gone').toSorted()).toEqual(all('made').toSorted())
}

// A move that is given up, by Ctrl-C.
async function interruptMove(
  { namespace }: Movable,
  isTime: (said: string) => Promise<boolean>,
  from = source.kubeconfig,
): Promise<void> {
  const args = ['move', '--namespace', namespace, '--to-kubeconfig', target.kubeconfig]
  const child = spawn(source.parts.clusterctl, args, {
    env: {
      ...process.env,
      KUBECONFIG: from,
      CLUSTERCTL_DISABLE_VERSIONCHECK: 'true',
      HOME: source.folder,
    },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)))
  const ended = once(child, 'exit')
  const look = async () => (await isTime(said)) || undefined
  await until('it is time to give up', look, {
    ...patience,
    giveUp: () => (child.exitCode === null ? undefined : said),
  })
  child.kill('SIGINT')
  await ended
}

describe.concurrent('moved by clusterctl', () => {
  test('a cluster of which an apply runs waits; given up it goes on, and the next move takes it', async () => {
    const movable = await aMovable('running')
    const { namespace, cluster, controlPlane, diary, guided, applies } = movable
    await diary.shut('eks')
    await source.kube.patch(controlPlane, { spec: { additionalTags: { team: 'blue' } } })
    await diary.sees('step eks team')
    await interruptMove(movable, async (said) => said.includes('Move blocked by'))
    expect(await target.kube.read(cluster)).toBeUndefined()
    const repeated = async () => guided(source, theMove)
    await expect(repeated()).rejects.toThrow('cannot start operation while the following Clusters are paused')

    await guided(source, '"paused":null')
    await guided(source, 'Paused=False')
    for (const apply of applies)
      expect((await source.kube.read(apply))?.metadata.annotations).toHaveProperty([blockMoveAnnotation])
    const moving = repeated()
    await source.kube.seeCondition(controlPlane, 'Paused', 'True', patience)
    await source.kube.see(
      inWorkspace(applies[1] ?? cluster),
      'is asked to be ready',
      ({ metadata }) => annotations.moved in (metadata.annotations ?? {}),
      patience,
    )
    await diary.open('eks')
    await moving
    const states = await statesOf(source, movable)
    expect(JSON.stringify(states[1])).toContain('"team":"blue"')
    await seeArrived(target, movable, states)
    await seeCleaned(source, source, movable)
    await seeDestroyedOnce(target, movable, cluster)
    await source.kube.remove(namespaceOf(namespace))
    await source.kube.seeGone(namespaceOf(namespace), patience)
  }, 400_000)

  test('a cluster becomes its own management cluster, is changed there, and comes back', async () => {
    const movable = await aMovable('pivot', { there: await leadingToTheTarget() })
    const { cluster, controlPlane, guided, namespace } = movable
    const before = await statesOf(source, movable)
    const itself = { 'demo.kubeconfig': join(target.folder, `${namespace}.kubeconfig`) }
    await guided(source, 'clusterctl get kubeconfig', itself)
    await guided(source, '--to-kubeconfig demo', itself)
    await seeArrived(target, movable, before)
    await seeCleaned(source, source, movable)

    await target.kube.patch(controlPlane, { spec: { version: 'v1.35.0', additionalTags: { team: 'blue' } } })
    const isUpgraded = ({ status }: KubeObject) => (status as { version?: string } | undefined)?.version === 'v1.35.0'
    await target.kube.see(controlPlane, 'runs 1.35', isUpgraded, patience)
    await seeSaying(target.kube, controlPlane, 'Ready', 'Ready')
    const after = await statesOf(target, movable)
    expect(after[1]).not.toEqual(before[1])

    await asGuided(target, 'life.md', namespace, theMove, {
      instead: { 'target.kubeconfig': source.kubeconfig, team: namespace },
    })
    await seeArrived(source, movable, after)
    await seeCleaned(target, target, movable)
    await seeDestroyedOnce(source, movable, cluster)
  }, 400_000)

  test('a backup leaves the source as it was, and is restored where the source has let go', async () => {
    const movable = await aMovable('backup')
    const { namespace, cluster, controlPlane, applies, guided } = movable
    const directory = { 'backup/': `${join(target.folder, namespace)}/` }
    mkdirSync(join(target.folder, namespace))
    const first = await statesOf(source, movable)
    await guided(source, '--to-directory', directory)
    for (const each of [cluster, controlPlane, ...applies]) await seeSaying(source.kube, each, 'Paused', 'NotPaused')
    for (const apply of applies) await seeGoesOn(source, apply)
    await seeArrived(source, movable, first)
    await source.kube.patch(controlPlane, { spec: { additionalTags: { team: 'blue' } } })
    await movable.diary.sees('step eks team')
    await seeSaying(source.kube, controlPlane, 'Ready', 'Ready')

    await guided(source, '--to-directory', directory)
    for (const apply of applies) await seeGoesOn(source, apply)
    const last = await statesOf(source, movable)
    expect(last[1]).not.toEqual(first[1])
    await guided(source, 'captcontrolplane demo --type=merge -p \'{"spec":{"retain')
    await guided(source, 'captcluster demo --type=merge -p \'{"spec":{"retain')
    await guided(source, 'delete cluster demo --timeout')
    await guided(source, 'delete workspaces.tf.m.upbound.io')
    expect(await source.kube.list('tf.m.upbound.io/v1beta1', 'Workspace', namespace)).toEqual([])
    await guided(source, '--from-directory', directory)
    await seeArrived(target, movable, last)
    expect(readdirSync(join(target.folder, namespace)).length).toBeGreaterThan(0)
    await seeDestroyedOnce(target, movable, cluster)
  }, 400_000)

  test('a namespace is moved with all that is of its clusters, and nothing else is touched', async () => {
    const [bystander, movable] = await Promise.all([
      aMovable('bystander'),
      aMovable('whole', { isBrought: false, beside: ['second'] }),
    ])
    const { namespace, cluster, guided } = movable
    const second = another(movable, 'second')
    const legacy = aWorkspace({ namespace, name: `${namespace}-legacy`, module: plain })
    const inNamespace = { namespace, template: 'plain' }
    const alone = aWorkspaceTemplateApply({ ...inNamespace, name: 'alone' })
    const config = aProviderConfig(namespace, 'special')
    const { metadata, ...spec } = aWorkspaceTemplateApply({
      ...inNamespace,
      name: 'extra',
      providerConfigRef: { kind: 'ProviderConfig', name: 'special' },
    })
    const labels = { 'cluster.x-k8s.io/cluster-name': 'demo', 'clusterctl.cluster.x-k8s.io/move-hierarchy': '' }
    const extra = {
      ...spec,
      metadata: {
        ...metadata,
        labels,
        annotations: {
          [annotations.workspace]: `tf.m.upbound.io/${legacy.metadata.name}`,
          [annotations.adopt]: 'approved',
        },
      },
    }
    const named = { annotations: { [annotations.apply]: `${namespace}/extra` } }
    await source.kube.apply(aWorkspaceTemplate({ namespace, name: 'plain', module: plain }), config, alone)
    await source.kube.apply({ ...legacy, metadata: { ...legacy.metadata, ...named } })
    await seeConverged(source.kube, legacy)
    await source.kube.apply(extra)
    for (const each of [alone, extra]) await seeSaying(source.kube, each, 'Applied', 'Converged')
    const [mine, its] = [await statesOf(source, movable), await statesOf(source, second)]
    const old = await externalState(source, legacy)
    const before = await secretsIn(source, namespace)
    expect(Object.keys(before)).toEqual(expect.arrayContaining(['demo-kubeconfig', 'demo-ca', 'second-kubeconfig']))
    const since = new Date()

    await guided(source, theMove)

    // What the target lacks is named, and nothing happens before it is there.
    await seeTelling(target, movable.applies[1] ?? cluster, 'offline-workload')
    await target.kube.apply(offlineSecret(namespace, leadingTo(workload())))
    await seeArrived(target, movable, mine)
    await seeArrived(target, second, its)
    expect(await secretsIn(target, namespace)).toEqual(before)
    await seeTelling(target, extra, '"special" not found')
    await target.kube.apply(config)
    await seeSaying(target.kube, extra, 'Applied', 'Converged')
    expect(await namesIn(target, namespace)).toEqual(await namesIn(source, namespace, 'alone'))
    expect(await externalState(target, legacy)).toEqual(old)

    expect(await target.kube.read(alone)).toBeUndefined()
    await seeSaying(source.kube, alone, 'Applied', 'Converged')
    await source.kube.seeCondition(bystander.cluster, 'Available', 'True', patience)
    expect(await writesIn(source, bystander.namespace, since)).toEqual([])

    // Who deletes at the source by hand destroys nothing of it.
    await source.kube.remove(inWorkspace(movable.applies[0] ?? cluster))
    await source.kube.remove(namespaceOf(namespace))
    await source.kube.seeGone(alone, patience)
    await seeCleaned(source, source, movable)
    await source.kube.seeGone(namespaceOf(namespace), patience)
    await seeArrived(target, movable, mine)
    await target.kube.remove(extra)
    await target.kube.seeGone(extra, patience)
    await seeDestroyedOnce(target, movable, cluster, second.cluster)
    await seeDestroyedOnce(source, bystander, bystander.cluster)
  }, 400_000)

  test('one that failed half-way goes on where it was, and is deleted there; what had arrived takes nothing down', async () => {
    const movable = await aMovable('halfway')
    const { namespace, cluster, network, controlPlane, applies, guided } = movable
    const hard = { 'count/workspacetemplateapplies.infrastructure.cluster.x-k8s.io': '0' }
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { namespace, name: 'none' }, spec: { hard } }
    await target.kube.apply(quota)
    await target.kube.patch(quota, { status: { hard, used: hard } }, 'status')
    const haveArrived = async () =>
      (await Promise.all([network, controlPlane].map(target.kube.read))).every((each) => each !== undefined)
    await interruptMove(movable, haveArrived)
    expect(await target.kube.list(applies[0]?.apiVersion ?? '', 'WorkspaceTemplateApply', namespace)).toEqual([])

    await seeTakenAway(target, movable)
    await seeNothingLeft(target.kube, namespace)
    await guided(source, '"paused":null')
    for (const apply of applies) await seeGoesOn(source, apply)
    await source.kube.seeCondition(cluster, 'Available', 'True', patience)
    await seeDestroyedOnce(source, movable, cluster)
  }, 400_000)

  test('one that failed while the source was emptied goes on at the target, and what is left at the source takes nothing down', async () => {
    const movable = await aMovable('emptied')
    const { cluster, controlPlane, applies, guided } = movable
    const states = await statesOf(source, movable)
    const from = await whoDeletesOnly('workspacetemplateapplies', 'secrets')
    const isGone = async () => (await Promise.all(applies.map(source.kube.read))).every((each) => each === undefined)
    await interruptMove(movable, isGone, from)
    expect(await source.kube.read(controlPlane)).toBeDefined()

    await seeTakenAway(source, movable)
    await guided(target, '"paused":null')
    await seeArrived(target, movable, states)
    await seeCleaned(source, source, movable)
    await seeDestroyedOnce(target, movable, cluster)
  }, 400_000)
})

// One of two halves, while it is paused.
async function seeTakenAway(bed: Bed, { cluster, network, controlPlane, guided }: Movable): Promise<void> {
  await guided(bed, 'annotate captcluster,captcontrolplane demo')
  await guided(bed, 'delete cluster,captcluster,captcontrolplane')
  await guided(bed, '"paused":null')
  for (const each of [cluster, network, controlPlane]) await bed.kube.seeGone(each, patience)
}

// A kubeconfig of somebody on the source who may do everything, but delete nothing else.
async function whoDeletesOnly(...resources: readonly string[]): Promise<string> {
  const name = 'half-a-mover'
  const rules = [
    { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch', 'create', 'update', 'patch'] },
    { apiGroups: ['*'], resources, verbs: ['delete'] },
  ]
  await source.kube.apply({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules,
  })
  const token = await tokenOf(source, name, name)
  return privateFile(join(target.folder, `${name}.kubeconfig`), kubeconfig(source, { token }))
}

async function tokenOf({ kube }: Bed, account: string, role: string): Promise<string> {
  await kube.kubectl(['create', 'serviceaccount', account, '--namespace', 'default'])
  const bound = [`--clusterrole=${role}`, `--serviceaccount=default:${account}`]
  await kube.kubectl(['create', 'clusterrolebinding', account, ...bound])
  return (await kube.kubectl(['create', 'token', account, '--namespace', 'default', '--duration=12h'])).trim()
}

test('while managers and engines are killed, a cluster goes there and back all the same', async () => {
  const [there = [], back = []] = fc.sample(anyBlows(2, { min: 1, max: 4 }), 2)
  const movable = await aMovable('killed')
  const { namespace, cluster, guided } = movable
  const states = await statesOf(source, movable)
  const strike = async (blows: readonly Blow[]) =>
    Promise.all((['manager', 'engine'] as const).map(async (who, at) => struck(who, namespace, blows[at])))
  await Promise.all([guided(source, theMove), strike(there)])
  await seeArrived(target, movable, states)
  await seeCleaned(source, source, movable)
  await Promise.all([guided(target, theMove, { 'target.kubeconfig': source.kubeconfig }), strike(back)])
  await seeArrived(source, movable, states)
  await seeCleaned(target, target, movable)
  expect([living.manager.length, living.engine.length]).toEqual([3, 3])
  await seeDestroyedOnce(source, movable, cluster)
}, 400_000)

// So many writes after it was first heard of there, and started again at once.
async function struck(who: 'manager' | 'engine', namespace: string, blow: Blow | undefined): Promise<void> {
  const writes = writesOf(target.auditLog, who === 'manager' ? managerUser : engineUser, namespace)
  await writes()
  let seen = 0
  const look = async () => (seen += await writes()) >= (blow?.writes ?? 1) || undefined
  await until(`the ${who} writes`, look, { withinSeconds: 60, everyMs: 20 })
  await living[who].at(-1)?.member.kill('SIGKILL')
  await launch(who)
}

// An apply names what it lacks, and is not ready.
async function seeTelling({ kube }: Bed, apply: KubeObject, what: string): Promise<void> {
  const tells = (seen: KubeObject) => conditionOf(seen, 'Applied')?.message?.includes(what) ?? false
  const lacking = await kube.see(apply, `tells of ${what}`, tells, patience)
  expect(conditionOf(lacking, 'Ready')?.status).toBe('False')
}

// It is served as before a pause: it may be destroyed, and is not moved without being asked.
async function seeGoesOn({ kube }: Bed, apply: KubeObject): Promise<void> {
  await kube.see(apply, 'is not moved unasked', ({ metadata }) => blockMoveAnnotation in (metadata.annotations ?? {}))
  const workspace = await kube.see(
    inWorkspace(apply),
    'goes on',
    ({ metadata: { annotations: notes = {} } }) => !(crossplane.paused in notes) && !(annotations.moved in notes),
    patience,
  )
  const { managementPolicies = ['*'] } = workspace['spec'] as { readonly managementPolicies?: readonly string[] }
  expect(managementPolicies).toEqual(['*'])
}

const plain = 'resource "terraform_data" "it" {}\n'
const aSecret = (namespace: string, name: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace, name },
})

// What can be read from the clusters' own Secrets: kubeconfigs, CAs, outputs.
async function secretsIn({ kube }: Bed, namespace: string): Promise<Readonly<Record<string, unknown>>> {
  const isTheirs = ({ type, metadata }: KubeObject) =>
    [clusterSecretType, crossplane.connectionSecretType].includes(String(type)) &&
    /^(?:demo|second)-/.test(metadata.name)
  const found = (await kube.list('v1', 'Secret', namespace)).filter(isTheirs)
  return Object.fromEntries(found.map(({ metadata, data }) => [metadata.name, data]))
}

// Where states are kept as by default.
function aProviderConfig(namespace: string, name: string): KubeObject {
  const backend = `backend "kubernetes" {\n    secret_suffix = "capt"\n    namespace     = "${stateNamespace}"\n  }`
  return {
    apiVersion: 'tf.m.upbound.io/v1beta1',
    kind: 'ProviderConfig',
    metadata: { namespace, name },
    spec: { configuration: `terraform {\n  ${backend}\n}\n` },
  }
}

// Of a Workspace that somebody else made: it is called after that.
async function externalState({ kube }: Bed, { metadata: { name } }: ObjectRef): Promise<unknown> {
  const secret = await kube.read(aSecret(stateNamespace, `tfstate-${name}-capt`))
  const { tfstate = '' } = (secret?.['data'] ?? {}) as { readonly tfstate?: string }
  return gunzipSync(Buffer.from(tfstate, 'base64')).toString()
}

// Of Workspaces, each with that of its state.
async function namesIn({ kube }: Bed, namespace: string, ...but: readonly string[]): Promise<readonly string[]> {
  return (await kube.list('tf.m.upbound.io/v1beta1', 'Workspace', namespace))
    .filter(({ metadata }) => !but.includes(metadata.name))
    .map(({ metadata }) => `${metadata.name} ${metadata.annotations?.[crossplane.externalName]}`)
    .toSorted()
}

async function writesIn(bed: Bed, namespace: string, since: Date): Promise<readonly string[]> {
  return (await bed.audit({ since, namespace }))
    .filter((each) => [managerUser, engineUser].includes(each.user) && isWrite(each))
    .map(({ verb, resource, name }) => `${verb} ${resource} ${name}`)
}

// An administrator of the target, for whom a cluster is that is the target itself.
async function leadingToTheTarget(): Promise<Leading> {
  const token = await tokenOf(target, 'pivot', 'cluster-admin')
  return { endpoint: target.server, ca: target.ca, token }
}
