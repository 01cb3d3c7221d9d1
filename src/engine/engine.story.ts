// The engine as a process, with the real OpenTofu and the roles it is shipped with, on an API server of its own: whole lives of
// Workspaces in both groups, held against what was recorded of Crossplane's provider.
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lendAudit } from '../../test/bed/audit.ts'
import { conditionsOf } from '../../test/bed/describe.ts'
import { engineKubeconfig } from '../../test/bed/engine.ts'
import { type FaultProxy, startFaultProxy } from '../../test/bed/faults/proxy.ts'
import type { KubeObject, ObjectRef } from '../../test/bed/kube.ts'
import type { Reach } from '../../test/bed/kubeconfig.ts'
import { type ManagerProcess, readLog, seeReady } from '../../test/bed/manager.ts'
import { type OwnEngines, startOwnEngines } from '../../test/bed/own-engines.ts'
import { theBed } from '../../test/bed/story.ts'
import { isConverged, seeConverged as seeWorkspaceConverged } from '../../test/lives.ts'
import { applied, given, masked, stepsOf } from '../../test/recorded.ts'
import { until } from '../../test/until.ts'
import { realParts } from '../../tools/workshop.ts'
import { annotations as ours } from '../api/keys.ts'
import type { WorkspaceCondition } from '../api/workspace.ts'
import { readPlanNote } from '../terraform/plannote.ts'
import { stateNamespace as states } from '../terraform/statesecret.ts'

const patience = { withinSeconds: 90 }
let api: OwnEngines
let engine: ManagerProcess
let work: string
let calls: string // a file: one line a call
let proxy: FaultProxy | undefined

beforeAll(async () => {
  const { tofu } = await realParts(['tofu'])
  api = await startOwnEngines('engine')
  work = join(api.home.folder, 'work')
  calls = join(api.home.folder, 'calls')
  // Tells what it is asked, then is OpenTofu.
  const told = join(api.home.folder, 'tofu')
  writeFileSync(
    told,
    `#!/bin/sh\necho "$(basename "$(dirname "$PWD")") $(date +%s%3N) $*" >> ${calls}\nexec ${tofu} "$@"\n`,
  )
  chmodSync(told, 0o755)
  writeFileSync(calls, '')
  engine = await startEngine('engine', told)
})
afterAll(async () => {
  if (api) await lendAudit(theBed(), api.auditLog, 'engine-story')
  await proxy?.stop()
  await api?.home.end()
})

async function launch(name: string, tofu: string, way: Reach = api): Promise<ManagerProcess> {
  const kubeconfig = await engineKubeconfig({ kube: api.kube, folder: api.home.folder }, way)
  return api.launch(name, { kubeconfig, tofu, work, flags: ['--poll=5s', '--poll-jitter=1s'] })
}

async function startEngine(name: string, tofu: string, way?: Reach): Promise<ManagerProcess> {
  const started = await launch(name, tofu, way)
  await seeReady(started)
  return started
}

const readyz = async ({ address: { health } }: ManagerProcess) => (await fetch(`${health}/readyz`)).text()

const aWorkspace = (name: string, module: string): KubeObject => ({
  apiVersion: 'tf.m.upbound.io/v1beta1',
  kind: 'Workspace',
  metadata: { name, namespace: 'default' },
  spec: { forProvider: { source: 'Inline', module } },
})
// Takes its time, until it has done so once.
const slowOnce = (started: string) =>
  `resource "terraform_data" "slow" {\n  provisioner "local-exec" {\n    command = "test -e ${started} || { touch ${started}; sleep 60; }"\n  }\n}\n`
// The finalizer comes before the first plan, so that nothing is left behind.
function asRecorded(object: KubeObject, like: KubeObject): object {
  const isEarly = object.kind === 'Workspace' && !like.metadata.finalizers
  const { finalizers: _, ...metadata } = object.metadata
  return masked(isEarly ? { ...object, metadata } : object, like)
}

// Usages are named by uids: the recorded one is found by whose it is.
async function lookFor(like: KubeObject): Promise<KubeObject | undefined> {
  if (like.kind !== 'ProviderConfigUsage') return api.kube.read(like)
  const ownerOf = ({ metadata }: KubeObject) => metadata.ownerReferences?.[0]?.name
  const all = await api.kube.list(like.apiVersion, like.kind, like.metadata.namespace)
  const found = all.find((usage) => ownerOf(usage) === ownerOf(like))
  return found && { ...found, apiVersion: like.apiVersion, kind: like.kind }
}

async function seeAsRecorded(step: string): Promise<void> {
  for (const like of stepsOf(step)) {
    const seen = async () => {
      const object = await lookFor(like)
      return object && asRecorded(object, like)
    }
    await expect.poll(seen, { timeout: 60_000, interval: 200 }).toEqual(like)
  }
}

const callsOf = (object: KubeObject) =>
  readFileSync(calls, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`${object.metadata.uid} `))
    .map((line) => ({ at: Number(line.split(' ')[1]), command: line.split(' ')[2] ?? '' }))
const commandsOf = (object: KubeObject) => callsOf(object).map(({ command }) => command)
const synced = (object: KubeObject) =>
  conditionsOf(object).find(({ type }) => type === 'Synced') as WorkspaceCondition | undefined
const seeConverged = async (ref: ObjectRef) => seeWorkspaceConverged(api.kube, ref)
const eventsOf = async ({ metadata: { name } }: KubeObject) => {
  const events = await api.kube.list('events.k8s.io/v1', 'Event')
  return events.filter((event) => (event['regarding'] as { name: string }).name === name)
}
const statesLeft = async (workspace: string) => {
  const all = [
    ...(await api.kube.list('v1', 'Secret', states)),
    ...(await api.kube.list('coordination.k8s.io/v1', 'Lease', states)),
  ]
  return all.map(({ metadata }) => metadata.name).filter((name) => name.includes(`tfstate-${workspace}-`))
}

test('it makes the default configurations, and is ready', async () => {
  for (const [apiVersion, kind] of [
    ['tf.upbound.io/v1beta1', 'ProviderConfig'],
    ['tf.m.upbound.io/v1beta1', 'ClusterProviderConfig'],
  ] as const) {
    const made = await api.kube.see({ apiVersion, kind, metadata: { name: 'default' } }, 'is there', () => true)
    expect(made['spec']).toMatchObject({ pluginCache: true })
    expect(JSON.stringify(made['spec'])).toContain('secret_suffix = \\"capt\\"')
  }
  const started = (await readLog(engine.address.log)).find(({ msg }) => msg === 'runs')
  expect(started).toMatchObject({ family: 'tofu', version: '1.12.6' })
})

test('Workspaces of both groups become what was recorded, in four calls', async () => {
  const both = [given('sample'), given('sample-ns')]
  await api.kube.apply(...both)
  for (const each of both) {
    const made = await seeConverged(each)
    const [init, plan, apply, output, ...polls] = commandsOf(made)
    expect([init, plan, apply, output]).toEqual(['init', 'plan', 'apply', 'output'])
    expect(polls).toEqual(polls.map(() => 'plan'))
    expect(made.metadata.annotations?.[ours.cli]).toBe('tofu 1.12.6')
  }
  await seeAsRecorded('ready')
  const events = await until('an event is told', async () => {
    const all = await eventsOf(given('sample'))
    return all.length > 0 ? all : undefined
  })
  expect(events.map(({ reason, type, note }) => [type, reason, note])).toEqual([
    ['Normal', 'CreatedExternalResource', 'Successfully requested creation of external resource'],
  ])
})

test('an unchanged poll is one call and no write', async () => {
  const before = await seeConverged(given('sample'))
  const soFar = callsOf(before).length
  await until('it was polled twice', async () => (callsOf(before).length >= soFar + 2 ? true : undefined), patience)
  const polls = callsOf(before).slice(soFar)
  expect(polls.map(({ command }) => command)).toEqual(polls.map(() => 'plan'))
  // Polls are four seconds apart at least: what comes sooner is a second call of the same.
  const gaps = polls.slice(1).map(({ at }, index) => at - (polls[index]?.at ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThan(3000)
  expect((await api.kube.read(before))?.metadata.resourceVersion).toBe(before.metadata.resourceVersion)
})

test('a changed variable is applied; Ready stays, and outputs and Secret follow', async () => {
  const sample = given('sample')
  await api.kube.patch(sample, { spec: { forProvider: { vars: [{ key: 'cluster_name', value: 'demo2' }] } } })
  const changed = await seeConverged(sample)
  await seeAsRecorded('changed')
  expect(readPlanNote(changed.metadata.annotations?.[ours.plan])).toMatchObject({ update: 1, gone: [] })
})

test('what fails says so as it was recorded; what is mended goes on; what never worked leaves nothing behind', async () => {
  const failing = applied.filter(({ metadata }) => /^fail-|^only-/.test(metadata.name))
  await api.kube.apply(...failing)
  await seeAsRecorded('failing')
  // One, although it was tried more than once.
  await expect.poll(async () => eventsOf(given('fail-syntax')), { timeout: 30_000 }).toHaveLength(1)
  expect(await statesLeft('fail-syntax')).toHaveLength(2)

  const mended = 'output "x" {\n  value = 1\n}\n'
  await api.kube.patch(given('fail-missing-var'), { spec: { forProvider: { module: mended } } })
  await seeConverged(given('fail-missing-var'))
  for (const each of failing) await api.kube.remove(each)
  for (const each of failing) await api.kube.seeGone(each, patience)
  for (const each of failing) expect(await statesLeft(each.metadata.name)).toEqual([])
})

test('a module with neither resource nor output becomes Ready', async () => {
  await api.kube.apply(given('no-outputs-no-resources'))
  expect(isConverged(await seeConverged(given('no-outputs-no-resources')))).toBe(true)
})

test('paused, it is left alone, and says so; then what was changed meanwhile is taken up', async () => {
  const sample = given('sample')
  await api.kube.patch(sample, { metadata: { annotations: { 'crossplane.io/paused': 'true' } } })
  await api.kube.see(sample, 'is paused', (object) => synced(object)?.reason === 'ReconcilePaused', patience)
  await api.kube.patch(sample, { spec: { forProvider: { vars: [{ key: 'cluster_name', value: 'demo3' }] } } })
  await seeAsRecorded('paused')
  const reasons = async () => (await eventsOf(sample)).map(({ reason }) => reason)
  await expect
    .poll(async () => (await reasons()).filter((each) => each === 'ReconciliationPaused'), { timeout: 30_000 })
    .toHaveLength(1)
  await api.kube.patch(sample, { metadata: { annotations: { 'crossplane.io/paused': null } } })
  await seeAsRecorded('unpaused')
})

test('a change that replaces waits for its approval where it is guarded', async () => {
  const module = (trigger: string) =>
    `resource "terraform_data" "vpc" {\n  triggers_replace = "${trigger}"\n}\noutput "id" {\n  value = terraform_data.vpc.id\n}\n`
  const guarded: KubeObject = {
    apiVersion: 'tf.m.upbound.io/v1beta1',
    kind: 'Workspace',
    metadata: { name: 'guarded', namespace: 'default', annotations: { [ours.guard]: 'Hold' } },
    spec: { forProvider: { source: 'Inline', module: module('a') } },
  }
  const outputsOf = (object: KubeObject) => (object['status'] as { atProvider: { outputs: object } }).atProvider.outputs
  await api.kube.apply(guarded)
  const first = await seeConverged(guarded)
  await api.kube.patch(guarded, { spec: { forProvider: { module: module('b') } } })
  const held = await api.kube.see(guarded, 'is held', (object) => synced(object)?.status === 'False', patience)
  const note = readPlanNote(held.metadata.annotations?.[ours.plan])
  expect(note).toMatchObject({ replace: 1, gone: ['terraform_data.vpc'], held: 'Destructive' })
  const [, command = ''] = /approve with: kubectl (.*)$/.exec(synced(held)?.message ?? '') ?? []
  expect(outputsOf(held)).toEqual(outputsOf(first))
  await api.kube.kubectl(command.split(' '))
  const after = await seeConverged(guarded)
  expect(outputsOf(after)).not.toEqual(outputsOf(first))
  await api.kube.remove(guarded)
  await api.kube.seeGone(guarded, patience)
})

test('drift is found at a poll and repaired', async () => {
  const sample = await seeConverged(given('sample'))
  const folder = join(work, sample.metadata.uid ?? '', 'module')
  const { tofu } = await realParts(['tofu'])
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: work,
    KUBE_CONFIG_PATH: join(work, 'state.kubeconfig'),
    TF_WORKSPACE: 'sample',
  }
  execFileSync(tofu, ['state', 'rm', 'terraform_data.eks'], { cwd: folder, env, stdio: 'ignore' })
  const list = () => execFileSync(tofu, ['state', 'list'], { cwd: folder, env, encoding: 'utf8' })
  await until('it is there again', async () => (list().includes('terraform_data.eks') ? true : undefined), patience)
  await seeConverged(given('sample'))
})

test('a lock that an earlier life left in the moment when it began a state is released', async () => {
  const begun = aWorkspace('begun', 'resource "terraform_data" "begun" {}\n')
  const backend = `terraform {\n  backend "kubernetes" {\n    secret_suffix = "begun"\n    namespace     = "${states}"\n  }\n}\n`
  await api.kube.apply({
    apiVersion: begun.apiVersion,
    kind: 'ClusterProviderConfig',
    metadata: { name: 'begun' },
    spec: { configuration: backend },
  })
  // As OpenTofu takes it for the default state at an init, and for that of a Workspace at its first plan.
  for (const workspace of ['default', 'begun']) {
    const ID = randomUUID()
    const Who = `capt@${hostname()}`
    const info = {
      ID,
      Operation: 'init',
      Info: '',
      Who,
      Version: '1.12.6',
      Created: '2026-01-02T03:04:05.678Z',
      Path: '',
    }
    await api.kube.apply({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        namespace: states,
        name: `lock-tfstate-${workspace}-begun`,
        labels: { tfstate: 'true', tfstateSecretSuffix: 'begun', tfstateWorkspace: workspace },
        annotations: { 'app.terraform.io/lock-info': JSON.stringify(info) },
      },
      spec: { holderIdentity: ID },
    })
  }
  const providerConfigRef = { kind: 'ClusterProviderConfig', name: 'begun' }
  await api.kube.apply({ ...begun, spec: { ...(begun['spec'] as object), providerConfigRef } })
  await seeConverged(begun)
  const leases = await api.kube.list('coordination.k8s.io/v1', 'Lease', states)
  const locks = leases.filter(({ metadata }) => metadata.name.endsWith('-begun'))
  expect(locks.map(({ spec }) => (spec as { holderIdentity?: string }).holderIdentity)).toEqual([undefined, undefined])
  await api.kube.remove(begun)
  await api.kube.seeGone(begun, patience)
})

test('when the machine kills an apply, that is told, and its lock does not keep the next from running', async () => {
  const started = join(api.home.folder, 'shot-started')
  const shot = aWorkspace('shot', slowOnce(started))
  await api.kube.apply(shot)
  await until('the apply has begun', async () => (existsSync(started) ? true : undefined), patience)
  const uid = (await api.kube.read(shot))?.metadata.uid ?? ''
  const [group] = readFileSync(join(work, uid, 'run/running'), 'utf8').split(' ')
  process.kill(-Number(group), 'SIGKILL')
  const isHeld = (object: KubeObject) => synced(object)?.message?.includes('held for approval') ?? false
  const held = await api.kube.see(shot, 'is held', isHeld, patience)
  const [, command = ''] = /approve with: kubectl (.*)$/.exec(synced(held)?.message ?? '') ?? []
  await api.kube.kubectl(command.split(' '))
  await seeConverged(shot)
  await expect.poll(() => readdirSync(join(work, uid, 'run')), { timeout: 30_000 }).not.toContain('plan')
  await api.kube.remove(shot)
  await api.kube.seeGone(shot, patience)
})

test('told to end while it applies, it ends when the apply has, and another goes on from there', async () => {
  const started = join(api.home.folder, 'slow-started')
  const slow = aWorkspace(
    'slow',
    `resource "terraform_data" "slow" {\n  provisioner "local-exec" {\n    command = "touch ${started}; sleep 4"\n  }\n}\n`,
  )
  await api.kube.apply(slow)
  await until('the apply has begun', async () => (existsSync(started) ? true : undefined), patience)
  await engine.member.kill('SIGTERM') // returns when it has ended
  const left = await api.kube.read(slow)
  expect(left && isConverged(left)).toBe(true)
  // Where a watch cannot begin with everything, it lists.
  proxy = await startFaultProxy(api)
  proxy.inject({ verb: 'watch', path: /sendInitialEvents=true/ }, { do: 'answer', code: 422 })
  engine = await startEngine('engine-2', join(api.home.folder, 'tofu'), proxy)
  await api.kube.remove(slow)
  await api.kube.seeGone(slow, patience)
})

test('killed while it applies, what it may have made is not made again without a word', async () => {
  const started = join(api.home.folder, 'killed-started')
  const killed = aWorkspace('killed', slowOnce(started))
  await api.kube.apply(killed)
  await until('the apply has begun', async () => (existsSync(started) ? true : undefined), patience)
  await engine.member.kill('SIGKILL')
  engine = await startEngine('engine-killed', join(api.home.folder, 'tofu'))
  const isHeld = (object: KubeObject) => synced(object)?.message?.includes('held for approval') ?? false
  const held = await api.kube.see(killed, 'is held', isHeld, patience)
  expect(synced(held)?.message).toMatch(
    /^\w+ failed: held for approval: the apply that began at .* was interrupted, and this plan would create again what it may have made: terraform_data\.slow; look whether that is there, then approve with: /,
  )
  expect(readPlanNote(held.metadata.annotations?.[ours.plan])).toMatchObject({ held: 'Interrupted' })
  const [, command = ''] = /approve with: kubectl (.*)$/.exec(synced(held)?.message ?? '') ?? []
  await api.kube.kubectl(command.split(' '))
  await seeConverged(killed)
  await api.kube.remove(killed)
  await api.kube.seeGone(killed, patience)
})

test('deleted, they are destroyed, and nothing of them is left', async () => {
  const all = [given('sample'), given('sample-ns'), given('no-outputs-no-resources')]
  for (const each of all) await api.kube.remove(each)
  for (const each of all) await api.kube.seeGone(each, patience)
  for (const each of all) expect(await statesLeft(each.metadata.name)).toEqual([])
  expect(await api.kube.list('tf.upbound.io/v1beta1', 'ProviderConfigUsage')).toEqual([])
  const config = { apiVersion: 'tf.upbound.io/v1beta1', kind: 'ProviderConfig', metadata: { name: 'default' } }
  await api.kube.see(config, 'has no users', ({ status }) => (status as { users?: number }).users === undefined)
  await expect.poll(() => readdirSync(work).filter((name) => /^[0-9a-f]{8}-/.test(name))).toEqual([])
})

test('without a program to run, it is not ready, and Workspaces say why; installed, it is found', async () => {
  await engine.member.kill('SIGTERM')
  expect(engine.member.obituary()).toMatch(/^engine-killed ended with 0;/)
  const later = join(api.home.folder, 'later')
  engine = await launch('engine-3', later)
  const page = await until(
    'it says so',
    async () => {
      const told = await readyz(engine)
      return told.includes('[+]caches ok') ? told : undefined
    },
    patience,
  )
  expect(page).toContain(`[-]terraform failed: no Terraform found: there is no program ${later}`)
  const only = given('only-outputs')
  await api.kube.apply(only)
  const told = await api.kube.see(only, 'says why', (object) => synced(object) !== undefined, patience)
  expect(synced(told)).toMatchObject({
    reason: 'ReconcileError',
    message: `connect failed: no Terraform found: there is no program ${later}: correct --terraform-binary, or install it`,
  })
  symlinkSync(join(api.home.folder, 'tofu'), later)
  await seeConverged(only)
  await seeReady(engine)
  await engine.member.kill('SIGTERM')
})

test('a group whose CRD belongs to a package of Crossplane is left to it', async () => {
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'workspaces.tf.upbound.io' },
  }
  const owner = {
    apiVersion: 'pkg.crossplane.io/v1',
    kind: 'ProviderRevision',
    name: 'provider-terraform-1',
    uid: '42180608-1506-4965-b46d-0ba23170ca4b',
  }
  await api.kube.patch(crd, { metadata: { ownerReferences: [owner] } })
  const before = await api.kube.read(given('only-outputs'))
  engine = await launch('engine-4', join(api.home.folder, 'tofu'))
  const page = await until(
    'it says so',
    async () => {
      const told = await readyz(engine)
      return told.includes('[+]caches ok') ? told : undefined
    },
    patience,
  )
  expect(page).toContain(
    "[-]workspaces failed: the Workspaces of tf.upbound.io belong to Crossplane's ProviderRevision provider-terraform-1",
  )
  // The other group is served on.
  const other: KubeObject = {
    apiVersion: 'tf.m.upbound.io/v1beta1',
    kind: 'Workspace',
    metadata: { name: 'served', namespace: 'default' },
    spec: { forProvider: { source: 'Inline', module: 'output "x" {\n  value = 1\n}\n' } },
  }
  await api.kube.apply(other)
  await seeConverged(other)
  expect((await api.kube.read(given('only-outputs')))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion)
  // Given back, it is taken up.
  await api.kube.patch(crd, { metadata: { ownerReferences: null } })
  await seeConverged(given('only-outputs'))
})
