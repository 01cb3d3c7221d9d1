// What the engine takes to run Terraform, on a real API server with the real OpenTofu and its kubernetes backend, and what the
// manager adds to that. Of Crossplane's provider the same was measured on two cores; budgets are half of its times.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Workspace, workspaceAPIs } from '../../src/api/workspace.ts'
import { WorkspaceTemplate } from '../../src/api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../src/api/workspacetemplateapply.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { findAccess } from '../../src/kube/find.ts'
import { readAudit } from '../../test/bed/audit.ts'
import { engineUser } from '../../test/bed/engine.ts'
import { launchManager, type ManagerProcess, managerKubeconfig, managerUser, seeReady } from '../../test/bed/manager.ts'
import type { OwnApi } from '../../test/bed/own.ts'
import { startOwnEngines } from '../../test/bed/own-engines.ts'
import { isConverged } from '../../test/lives.ts'
import { realParts } from '../../tools/workshop.ts'
import type { Figure } from './figure.ts'
import { type MemoryWatch, watchMemory } from './process.ts'
import { type Sightings, watchFor } from './sightings.ts'

const { workspace: resource } = workspaceAPIs['tf.m.upbound.io']
const namespace = 'default'
const singles = 7
const crowd = 100
const crossplane = { createSeconds: 1.4, tenSeconds: 12.8 } // the faster end of what was measured

const small = `
variable "name" { type = string }
resource "terraform_data" "it" { input = var.name }
output "name" { value = terraform_data.it.output }
`
const large = `
variable "name" { type = string }
resource "terraform_data" "it" {
  count = 300
  input = var.name
}
output "name" { value = terraform_data.it[0].output }
`

interface Stage {
  readonly api: OwnApi
  readonly client: Client
  readonly seen: Sightings<Workspace>
  calls(): number // of the command line so far
  requests(user: string): Promise<number> // so far, watches apart
}

export async function measureEngine(say: (line: string) => void): Promise<readonly Figure[]> {
  const { tofu } = await realParts(['tofu'])
  const api = await startOwnEngines('bench-engine')
  const client = createClient(findAccess({ kubeconfig: api.adminKubeconfig, env: {} }))
  let stop = () => {}
  try {
    const counted = countedCalls(api.home.folder, tofu)
    const requests = async (user: string) =>
      (await readAudit(api.auditLog, { user })).filter(({ verb, resource: of }) => verb !== 'watch' && of !== '').length
    const start = async (name: string, flags: readonly string[]) => api.start(name, { tofu: counted.program, flags })
    const first = await start('engine', [])
    const seen = watchFor(client, resource) // which the API server lets nobody watch at once
    ;({ stop } = seen)
    const stage: Stage = { api, client, seen, calls: counted.calls, requests }
    const figures = [
      ...(await measureSingles(stage, say)),
      ...(await measureLarge(stage, first, say)),
      ...(await measureCrowd(stage, first, say)),
      ...(await measureApplies(stage, say)),
    ]
    await first.member.kill('SIGTERM')
    const second = await start('engine-10', ['--max-reconcile-rate=10'])
    await quiet(stage) // a new engine looks at everything there is
    figures.push(await measureTen(stage, say))
    await second.member.kill('SIGTERM')
    return figures
  } finally {
    stop()
    client.close()
    await api.home.end()
  }
}

// A program that writes a line for each call and becomes the real one.
function countedCalls(folder: string, tofu: string) {
  const [program, log] = [join(folder, 'counted-tofu'), join(folder, 'calls')]
  writeFileSync(log, '')
  writeFileSync(program, `#!/bin/sh\n[ "$1" = version ] || echo "$1" >> ${log}\nexec ${tofu} "$@"\n`, { mode: 0o755 })
  return { program, calls: () => readFileSync(log, 'utf8').split('\n').length - 1 }
}

const keyFor = (name: string) => ({ namespace, name })

function aWorkspace(name: string, module = small): Workspace {
  return {
    apiVersion: 'tf.m.upbound.io/v1beta1',
    kind: 'Workspace',
    metadata: { name, namespace, annotations: { 'crossplane.io/external-name': `bench.${name}` } },
    spec: {
      forProvider: { source: 'Inline', module, vars: [{ key: 'name', value: 'one' }] },
      writeConnectionSecretToRef: { name: `${name}-conn` },
    },
  }
}

interface Single {
  readonly seconds: number
  readonly calls: number
  readonly callsUntilQuiet: number
}

// So long after its last call nothing more comes before the next poll.
const quietMs = 2500

async function quiet({ calls }: Stage): Promise<number> {
  let last = { count: calls(), at: performance.now() }
  while (performance.now() - last.at < quietMs) {
    await sleep(100)
    const count = calls()
    if (count !== last.count) last = { count, at: performance.now() }
  }
  return last.count
}

// From the moment it is asked for until a watch sees it done.
async function once(
  stage: Stage,
  name: string,
  ask: () => Promise<unknown>,
  isDone: (workspace: Workspace) => boolean = isConverged,
): Promise<Single> {
  const [began, before] = [performance.now(), stage.calls()]
  await ask()
  const [at = Number.NaN] = await stage.seen.of([keyFor(name)], isDone)
  const calls = stage.calls() - before
  return { seconds: (at - began) / 1000, calls, callsUntilQuiet: (await quiet(stage)) - before }
}

async function threeOf(stage: Stage, name: string, module: string) {
  const { client } = stage
  const created = await once(stage, name, async () => client.create(resource, aWorkspace(name, module)))
  const polled = await once(
    stage,
    name,
    async () => {
      const annotations = { 'crossplane.io/reconcile-requested-at': 'now' }
      return client.patch(resource, keyFor(name), { metadata: { annotations } })
    },
    ({ status }) => status?.lastHandledReconcileAt === 'now',
  )
  const changed = { spec: { forProvider: { vars: [{ key: 'name', value: 'two' }] } } }
  const updated = await once(
    stage,
    name,
    async () => client.patch(resource, keyFor(name), changed),
    (each) => each.metadata.generation === 2 && isConverged(each),
  )
  return { created, polled, updated }
}

const secondsOf = (all: readonly Single[]) => all.map(({ seconds }) => seconds)
const callsOf = (all: readonly Single[]) => all.map(({ calls }) => calls)
const quietCallsOf = (all: readonly Single[]) => all.map(({ callsUntilQuiet }) => callsUntilQuiet)

async function measureSingles(stage: Stage, say: (line: string) => void): Promise<Figure[]> {
  say(`${singles} Workspaces of one resource, one after the other`)
  await threeOf(stage, 'warm-up', small)
  const before = await stage.requests(engineUser)
  const all: Awaited<ReturnType<typeof threeOf>>[] = []
  for (let at = 0; at < singles; at++) all.push(await threeOf(stage, `single-${at}`, small))
  const requests = ((await stage.requests(engineUser)) - before) / singles
  const [created, polled, updated] = [
    all.map((each) => each.created),
    all.map((each) => each.polled),
    all.map((each) => each.updated),
  ]
  return [
    {
      ...one('one resource, create to Ready', 's', secondsOf(created), crossplane.createSeconds / 2),
      others: 'Crossplane: 1.4 – 2.4 s',
    },
    { ...one('one resource, CLI calls until Ready', '', callsOf(created), 5), others: 'Crossplane: 13' },
    { ...one('one resource, CLI calls until quiet', '', quietCallsOf(created), 5), others: 'Crossplane: 17' },
    { ...one('one resource, CLI calls of an unchanged poll', '', quietCallsOf(polled), 2), others: 'Crossplane: 3' },
    one('one resource, unchanged poll', 's', secondsOf(polled)),
    one('one resource, update', 's', secondsOf(updated)),
    one('one resource, CLI calls of an update', '', quietCallsOf(updated), 5),
    one('API requests of the engine for create, poll and update', '', [requests]),
  ]
}

async function measureLarge(stage: Stage, { member }: ManagerProcess, say: (line: string) => void): Promise<Figure[]> {
  say('a Workspace of 300 resources')
  const memory = watchMemory(member.pid)
  const before = await stage.requests(engineUser)
  const { created, polled, updated } = await threeOf(stage, 'large', large)
  const requests = (await stage.requests(engineUser)) - before
  const most = memory.most()
  memory.stop()
  return [
    one('300 resources, create to Ready', 's', [created.seconds]),
    one('300 resources, CLI calls until Ready', '', [created.calls], 5),
    one('300 resources, CLI calls until quiet', '', [created.callsUntilQuiet], 5),
    one('300 resources, CLI calls of an unchanged poll', '', [polled.callsUntilQuiet], 2),
    one('300 resources, API requests of the engine for create, poll and update', '', [requests]),
    ...memoryOf('300 resources', most),
    one('300 resources, unchanged poll', 's', [polled.seconds]),
    one('300 resources, update', 's', [updated.seconds]),
  ]
}

async function measureCrowd(stage: Stage, { member }: ManagerProcess, say: (line: string) => void): Promise<Figure[]> {
  say(`${crowd} Workspaces at once, four at a time`)
  const memory = watchMemory(member.pid)
  const before = { calls: stage.calls(), requests: await stage.requests(engineUser) }
  const seconds = await several(stage, 'crowd', crowd)
  const calls = (stage.calls() - before.calls) / crowd
  const requests = ((await stage.requests(engineUser)) - before.requests) / crowd
  const most = memory.most()
  memory.stop()
  return [
    one(`${crowd} Workspaces, all Ready`, 's', [seconds]),
    one(`${crowd} Workspaces, CLI calls each`, '', [calls], 5),
    one(`${crowd} Workspaces, API requests each`, '', [requests]),
    ...memoryOf(`${crowd} Workspaces`, most),
  ]
}

function memoryOf(of: string, { residentMiB, anonymousMiB, childrenMiB }: ReturnType<MemoryWatch['most']>): Figure[] {
  return [
    { ...one(`${of}, resident`, 'MiB', [residentMiB]), others: 'Crossplane: 72 – 77 MB' },
    one(`${of}, anonymous`, 'MiB', [anonymousMiB]),
    {
      ...one(`${of}, resident in what it runs, together`, 'MiB', [childrenMiB]),
      others: 'Crossplane: 54 – 72 MB each',
    },
  ]
}

async function measureTen(stage: Stage, say: (line: string) => void): Promise<Figure> {
  say('10 Workspaces at once, ten at a time')
  const seconds = await several(stage, 'ten', 10)
  return {
    ...one('10 Workspaces at rate 10, all Ready', 's', [seconds], crossplane.tenSeconds / 2),
    others: 'Crossplane: 12.8 s',
  }
}

async function several({ client, seen }: Stage, name: string, count: number): Promise<number> {
  const names = Array.from({ length: count }, (_, at) => `${name}-${at}`)
  const began = performance.now()
  await Promise.all(names.map(async (each) => client.create(resource, aWorkspace(each))))
  const moments = await seen.of(names.map(keyFor), isConverged)
  return (Math.max(...moments) - began) / 1000
}

async function measureApplies(stage: Stage, say: (line: string) => void): Promise<Figure[]> {
  say(`${crowd} WorkspaceTemplateApplies at once`)
  const { api, client, seen } = stage
  const manager = await launchManager(api.home, {
    name: 'manager',
    kubeconfig: await managerKubeconfig(api, api),
    flags: ['--workspace-api=tf.m.upbound.io'],
  })
  await seeReady(manager)
  const applies = watchFor(client, WorkspaceTemplateApply)
  const template = { apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1', kind: 'WorkspaceTemplate' as const }
  const spec = { template: { spec: { forProvider: { source: 'Inline' as const, module: small } } } }
  await client.create(WorkspaceTemplate, { ...template, metadata: { name: 'small', namespace }, spec })
  const before = await stage.requests(managerUser)
  const names = Array.from({ length: crowd }, (_, at) => `apply-${at}`)
  await Promise.all(
    names.map(async (name) =>
      client.create(WorkspaceTemplateApply, {
        ...template,
        kind: 'WorkspaceTemplateApply',
        metadata: { name, namespace },
        spec: {
          templateRef: { name: 'small' },
          variables: { name: 'one' },
          deletionProtection: false,
          retainOnDelete: false,
        },
      }),
    ),
  )
  const done = await seen.of(names.map(keyFor), isConverged)
  const told = await applies.of(
    names.map(keyFor),
    ({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false,
  )
  applies.stop()
  const requests = ((await stage.requests(managerUser)) - before) / crowd
  await manager.member.kill('SIGTERM')
  return [
    one(
      'manager, from Workspace converged to apply Ready',
      's',
      told.map((at, index) => (at - (done[index] ?? at)) / 1000),
      0.2,
    ),
    one('manager, API requests for an apply', '', [requests]),
  ]
}

function one(what: string, unit: string, values: readonly number[], atMost?: number): Figure {
  return { what: `engine: ${what}`, unit, values, ...(atMost !== undefined && { atMost }) }
}
