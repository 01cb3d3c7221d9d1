// What the engine takes to run Terraform, on a real API server with the real OpenTofu and its kubernetes backend, and what the
// manager adds to that. Of Crossplane's provider the same was measured on two cores; budgets are half of its times.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Workspace, workspaceAPIs } from '../../src/api/workspace.ts'
import { WorkspaceTemplate } from '../../src/api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../src/api/workspacetemplateapply.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { findAccess } from '../../src/kube/find.ts'
import { readAudit } from '../../test/bed/audit.ts'
import { seeEstablished } from '../../test/bed/core.ts'
import { engineKubeconfig, engineUser, grantEngine, launchEngine } from '../../test/bed/engine.ts'
import { launchManager, type ManagerProcess, managerKubeconfig, managerUser, seeReady } from '../../test/bed/manager.ts'
import { type OwnApi, startOwnApi } from '../../test/bed/own.ts'
import { realParts } from '../../tools/workshop.ts'
import type { Figure } from './figure.ts'
import { type Memory, watchMemory } from './process.ts'
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
const large = small.replace('"it" { input', '"it" {\n  count = 300\n  input').replace('it.output', 'it[0].output')

interface Stage {
  readonly api: OwnApi
  readonly client: Client
  readonly seen: Sightings<Workspace>
  calls(): number // of the command line so far
  requests(user: string): Promise<number> // so far, watches apart
}

export async function measureEngine(say: (line: string) => void): Promise<readonly Figure[]> {
  const { tofu } = await realParts(['tofu'])
  const api = await startOwnApi('bench-engine')
  const kinds = resolve(import.meta.dirname, '../../manifests/engine/crds.yaml')
  await api.kube.kubectl(['apply', '--server-side', '--field-manager=bed', '-f', kinds])
  await grantEngine(api.kube)
  await seeEstablished(api.kube)
  const client = createClient(findAccess({ kubeconfig: api.adminKubeconfig, env: {} }))
  const seen = watchFor(client, resource)
  try {
    const counted = countedCalls(api.home.folder, tofu)
    const requests = async (user: string) =>
      (await readAudit(api.auditLog, { user })).filter(({ verb, resource: of }) => verb !== 'watch' && of !== '').length
    const stage: Stage = { api, client, seen, calls: counted.calls, requests }
    const start = async (name: string, flags: readonly string[]) => {
      const kubeconfig = await engineKubeconfig({ kube: api.kube, folder: api.home.folder }, api)
      const engine = await launchEngine(api.home, { name, kubeconfig, tofu: counted.program, flags })
      await seeReady(engine)
      return engine
    }
    const first = await start('engine', [])
    const figures = [
      ...(await measureSingles(stage, say)),
      ...(await measureLarge(stage, say)),
      ...(await measureCrowd(stage, first, say)),
      ...(await measureApplies(stage, say)),
    ]
    await first.member.kill('SIGTERM')
    const second = await start('engine-10', ['--max-reconcile-rate=10'])
    figures.push(await measureTen(stage, say))
    await second.member.kill('SIGTERM')
    return figures
  } finally {
    seen.stop()
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

function isConverged({ metadata, status }: Workspace): boolean {
  const [ready, synced] = ['Ready', 'Synced'].map((type) => status?.conditions?.find((each) => each.type === type))
  return ready?.status === 'True' && synced?.status === 'True' && synced.observedGeneration === metadata.generation
}

interface Single {
  readonly seconds: number
  readonly calls: number
}

// From the moment it is asked for until a watch sees it done.
async function once(stage: Stage, name: string, ask: () => Promise<unknown>, isDone = isConverged): Promise<Single> {
  const [began, before] = [performance.now(), stage.calls()]
  await ask()
  const [at = Number.NaN] = await stage.seen.of([keyFor(name)], isDone)
  return { seconds: (at - began) / 1000, calls: stage.calls() - before }
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
    one('one resource, create to Ready', 's', secondsOf(created), crossplane.createSeconds / 2),
    one('one resource, CLI calls of a create', '', callsOf(created), 5),
    one('one resource, CLI calls of an unchanged poll', '', callsOf(polled), 2),
    one('one resource, unchanged poll', 's', secondsOf(polled)),
    one('one resource, update', 's', secondsOf(updated)),
    one('one resource, CLI calls of an update', '', callsOf(updated), 5),
    one('API requests of the engine for create, poll and update', '', [requests]),
  ]
}

async function measureLarge(stage: Stage, say: (line: string) => void): Promise<Figure[]> {
  say('a Workspace of 300 resources')
  const { created, polled, updated } = await threeOf(stage, 'large', large)
  return [
    one('300 resources, create to Ready', 's', [created.seconds]),
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
  const most: Memory = memory.most()
  memory.stop()
  return [
    one(`${crowd} Workspaces, all Ready`, 's', [seconds]),
    one(`${crowd} Workspaces, CLI calls each`, '', [calls], 5),
    one(`${crowd} Workspaces, API requests each`, '', [requests]),
    one(`${crowd} Workspaces, resident`, 'MiB', [most.residentMiB]),
    one(`${crowd} Workspaces, anonymous`, 'MiB', [most.anonymousMiB]),
  ]
}

async function measureTen(stage: Stage, say: (line: string) => void): Promise<Figure> {
  say('10 Workspaces at once, ten at a time')
  return one('10 Workspaces at rate 10, all Ready', 's', [await several(stage, 'ten', 10)], crossplane.tenSeconds / 2)
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
