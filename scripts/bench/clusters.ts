// What the bundled manager takes to bring clusters up, under real Cluster API core, with an engine that answers at once (d0) or
// after five seconds a run (d5) and one API server behind all kubeconfigs; and then to do nothing. Requests are those of the audit
// log, watches not counted. What is older stays: every size has a namespace of its own.
import { setTimeout as sleep } from 'node:timers/promises'
import { CAPTCluster } from '../../src/api/captcluster.ts'
import { CAPTControlPlane } from '../../src/api/captcontrolplane.ts'
import { Cluster, Secret } from '../../src/api/neighbours.ts'
import { apiVersionOf, type Key, type KubeObject, keyOf, type Resource, tellKey } from '../../src/api/resource.ts'
import { WorkspaceTemplate } from '../../src/api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../../src/api/workspacetemplateapply.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { findAccess } from '../../src/kube/find.ts'
import { type AuditRecord, isWrite, readAudit } from '../../test/bed/audit.ts'
import { type StartedBed, startBed } from '../../test/bed/bed.ts'
import { launchManager, managerKubeconfig, managerUser, seeReady } from '../../test/bed/manager.ts'
import { startWorkload } from '../../test/bed/workload.ts'
import { aCaptCluster } from '../../test/clusters.ts'
import { bundleAll } from '../bundle.ts'
import { nodeOptions } from '../generated/components.ts'
import { api, startBuilder } from './builder.ts'
import { type Course, type Courses, watchCourses } from './course.ts'
import type { Figure } from './figure.ts'
import { busySeconds, cpuSecondsIn, cpuSecondsOf, type Memory, memoryOf } from './process.ts'

export interface Size {
  readonly count: number
  readonly runSeconds: number // of the engine; two runs make a cluster
}

const usual: readonly Size[] = [
  { count: 1, runSeconds: 0 },
  { count: 10, runSeconds: 0 },
  { count: 50, runSeconds: 0 },
  { count: 200, runSeconds: 0 },
  { count: 1, runSeconds: 5 },
  { count: 50, runSeconds: 5 },
]
const idleSeconds = 60
const budget = {
  ownSeconds: 1,
  requests: 40,
  cpuSeconds: 0.1,
  allReadySeconds: new Map([
    [10, 2],
    [50, 5],
    [200, 20],
  ]),
}
const known = 'on two cores the API server and core take most of it, see their processor time'
const predecessor = new Map([
  [10, '44 s'],
  [50, '115 s'],
  [200, '405 s'],
])

interface Stage {
  readonly client: Client
  readonly pid: number // of the manager
  readonly folders: readonly string[] // of all that runs for it
  readonly courses: Courses
  requests(since: Date): Promise<readonly AuditRecord[]> // of the manager
  calls(since: Date): Promise<number> // of it to the API servers of clusters
}

export async function measureClusters(say: (line: string) => void, counts: readonly number[] = []) {
  const sizes = counts.length > 0 ? counts.map((count) => ({ count, runSeconds: 0 })) : usual
  const [manager] = await bundleAll()
  const [bed, workload] = await Promise.all([startBed({ capt: [] }), startWorkload()])
  const access = findAccess({ kubeconfig: bed.kubeconfig, env: {} })
  const client = createClient(access, { perSecond: 100_000, burst: 100_000 })
  let stop = () => {}
  try {
    const pid = await startManager(bed, manager?.file ?? '')
    const courses = watchCourses(client) // which the API server lets nobody watch at once
    const engine = await startBuilder(client, workload, runSecondsIn)
    stop = () => {
      courses.stop()
      engine.stop()
    }
    const stage: Stage = {
      client,
      pid,
      folders: [bed.folder, workload.folder],
      courses,
      requests: async (since) => (await readAudit(bed.auditLog, { user: managerUser, since })).filter(isRequest),
      calls: async (since) =>
        (await readAudit(workload.auditLog, { since })).filter(({ userAgent }) => userAgent === 'capt-manager').length,
    }
    const figures: Figure[] = []
    let clusters = 0
    for (const size of sizes) {
      figures.push(...(await measureSize(stage, size, say)))
      clusters += size.count
    }
    figures.push(...(await measureIdle(stage, clusters, say)))
    return figures
  } finally {
    stop()
    client.close()
    await Promise.all([bed.stop(), workload.stop()])
  }
}

async function startManager(bed: StartedBed, bundle: string): Promise<number> {
  const manager = await launchManager(bed, {
    name: 'manager',
    kubeconfig: await managerKubeconfig(bed, bed),
    program: [process.execPath, bundle],
    flags: ['--workspace-api=tf.m.upbound.io'],
    env: { NODE_OPTIONS: nodeOptions },
  })
  await seeReady(manager)
  return manager.member.pid
}

const isRequest = ({ verb, resource }: AuditRecord) => verb !== 'watch' && resource !== ''
const isLease = ({ resource }: AuditRecord) => resource === 'leases'
const isEvent = ({ resource }: AuditRecord) => resource === 'events'

const runSecondsIn = (namespace: string) => Number(/^d(\d+)-/.exec(namespace)?.[1] ?? 0)

interface Brought {
  readonly courses: readonly Course[]
  readonly allReadySeconds: number
  readonly cpuSeconds: ReadonlyMap<string, number> // until then, by program, and of the manager
  readonly requests: readonly AuditRecord[] // until then
  readonly calls: number // of the manager to API servers of clusters
  readonly memory: Memory
}

async function bringUp(stage: Stage, namespace: string, count: number, say: (line: string) => void): Promise<Brought> {
  const { client, courses, pid } = stage
  await client.create(Namespace, named(Namespace, { name: namespace }))
  await Promise.all(templatesIn(namespace).map(async (each) => client.create(WorkspaceTemplate, each)))
  await seeQuiet(pid) // it may still be telling of those before
  const keys = Array.from({ length: count }, (_, at) => ({ namespace, name: `${namespace}-${at}` })) // in EKS a name is there once
  const [since, before, busy] = [new Date(), cpuOf(stage), busySeconds()]
  const began = await Promise.all(keys.map(async (key) => applyCluster(client, key)))
  await courses.ready(keys)
  const [until, after] = [new Date(), cpuOf(stage)]
  const cpuSeconds = new Map([...after].map(([name, seconds]) => [name, seconds - (before.get(name) ?? 0)]))
  const ours = [...cpuSeconds.values()].reduce((sum, each) => sum + each, 0)
  say(`anything else on this machine took ${(busySeconds() - busy - ours).toFixed(1)} s of processor time meanwhile`)
  const all = await courses.of(keys, began)
  const made = (await stage.requests(since)).filter(({ at, namespace: of }) => at <= until && of === namespace)
  tellRequests(made, count, say)
  return {
    courses: all,
    allReadySeconds:
      (Math.max(...all.map(({ ready }, at) => (began[at] ?? 0) + ready * 1000)) - Math.min(...began)) / 1000,
    cpuSeconds,
    requests: made,
    calls: await stage.calls(since),
    memory: memoryOf(pid),
  }
}

// Events are sent one after another, and wait for each other.
async function seeQuiet(pid: number): Promise<void> {
  for (let before = 0, now = cpuSecondsOf(pid); now - before > 0.1; ) {
    before = now
    await sleep(2000)
    now = cpuSecondsOf(pid)
  }
}

function cpuOf({ folders, pid }: Stage): ReadonlyMap<string, number> {
  const own = process.cpuUsage()
  const managerSeconds = cpuSecondsOf(pid)
  const [bed = new Map<string, number>(), workload = new Map<string, number>()] = folders.map(cpuSecondsIn)
  return new Map([
    ...[...workload].map(([name, seconds]) => [`${name} of clusters`, seconds] as const),
    ...bed,
    ['node', managerSeconds],
    ['bench', (own.user + own.system) / 1e6],
  ])
}

async function measureSize(stage: Stage, { count, runSeconds }: Size, say: (line: string) => void): Promise<Figure[]> {
  say(`${count} clusters, ${runSeconds} s a run`)
  const { courses, ...brought } = await bringUp(stage, `d${runSeconds}-${count}`, count, say)
  const of = `${count} ${count === 1 ? 'cluster' : 'clusters'}, d${runSeconds}`
  const isSingle = count === 1
  const limit = runSeconds === 0 ? budget.allReadySeconds.get(count) : undefined
  const each = (what: string, unit: string, total: number, atMost?: number) =>
    one(`${of}, ${what} each`, unit, [total / count], atMost)
  const share = (what: string, which: (course: Course) => number, atMost?: number) =>
    one(`${of}, of that ${what}`, 's', courses.map(which), atMost)
  const cpu = (program: string) => brought.cpuSeconds.get(program) ?? Number.NaN
  return [
    {
      ...one(`${of}, all ready`, 's', [brought.allReadySeconds], limit),
      ...(limit !== undefined && { known, others: `predecessor: ${predecessor.get(count)}` }),
    },
    {
      ...share("CAPT's own", ({ capt }) => capt, isSingle ? budget.ownSeconds : undefined),
      ...(isSingle && { others: 'predecessor: 31 – 55 s' }),
    },
    share("the engine's", ({ engine }) => engine),
    share("core's", ({ core }) => core),
    one(`${of}, all Available, as core says`, 's', [Math.max(...courses.map(({ available }) => available))]),
    {
      ...each('API requests until all are ready', '', brought.requests.length, budget.requests),
      others: 'predecessor: 218 – 1208',
    },
    each('of these events', '', brought.requests.filter(isEvent).length),
    each('requests to its own API server', '', brought.calls),
    // Of one alone it is mostly what a manager takes for the others, or to begin.
    {
      ...each('processor time', 's', cpu('node'), isSingle ? undefined : budget.cpuSeconds),
      others: 'predecessor: 0.23 – 1.1 s',
    },
    each('processor time of the API server', 's', cpu('kube-apiserver')),
    each('processor time of core', 's', cpu('cluster-api-core')),
    one(`${of}, resident`, 'MiB', [brought.memory.residentMiB]),
    one(`${of}, anonymous`, 'MiB', [brought.memory.anonymousMiB]),
  ]
}

function tellRequests(made: readonly AuditRecord[], count: number, say: (line: string) => void): void {
  const kinds = Map.groupBy(made, ({ verb, resource, code }) => `${verb} ${resource}${code < 300 ? '' : ` ${code}`}`)
  const most = [...kinds].map(([kind, { length }]) => [kind, length / count] as const).toSorted(([, a], [, b]) => b - a)
  say(most.map(([kind, each]) => `${each.toFixed(2)} ${kind}`).join(', '))
}

// The Cluster last: core looks for a missing object again only after seconds.
async function applyCluster(client: Client, key: Key & { readonly namespace: string }): Promise<number> {
  const began = performance.now()
  const { network, controlPlane, cluster } = aCaptCluster({ ...key, controlPlane: { eksClusterName: undefined } })
  await Promise.all([
    client.create<KubeObject>(CAPTCluster as Resource, network),
    client.create<KubeObject>(CAPTControlPlane as Resource, controlPlane),
  ])
  await client.create<KubeObject>(Cluster, cluster)
  return began
}

const ours: readonly Resource[] = [
  CAPTCluster,
  CAPTControlPlane,
  WorkspaceTemplate,
  WorkspaceTemplateApply,
  api.workspace,
  Secret,
]

async function versionsOf(client: Client): Promise<ReadonlyMap<string, string>> {
  const lists = await Promise.all(ours.map(async (each) => client.list(each, { metadataOnly: true })))
  return new Map(
    lists.flatMap(({ items }, at) =>
      items.map((item) => [`${ours[at]?.kind} ${tellKey(keyOf(item))}`, item.metadata.resourceVersion ?? '']),
    ),
  )
}

async function measureIdle({ client, pid, requests }: Stage, clusters: number, say: (line: string) => void) {
  say('waiting until all is quiet')
  await seeQuiet(pid)
  say(`${idleSeconds} s with nothing to do`)
  const [since, cpu, before] = [new Date(), cpuSecondsOf(pid), await versionsOf(client)]
  await sleep(idleSeconds * 1000)
  const millicores = ((cpuSecondsOf(pid) - cpu) * 1000) / idleSeconds
  const made = (await requests(since)).filter((each) => !isLease(each))
  const after = await versionsOf(client)
  const changed = [...after].filter(([key, version]) => before.get(key) !== version)
  for (const [key] of changed.slice(0, 10)) say(`changed while idle: ${key}`)
  tellRequests(made, 1, say)
  const of = `${clusters} clusters, idle for a minute`
  return [
    {
      ...one(`${of}, writes but Leases`, '', [made.filter(isWrite).length], 0),
      others: 'predecessor: 2000 with reads',
    },
    {
      ...one(`${of}, reads`, '', [made.filter((each) => !isWrite(each)).length], 0),
      others: 'predecessor: 24 each, alone',
    },
    one(`${of}, objects that change`, '', [changed.length], 0),
    one(`${of}, processor`, 'millicores', [millicores]),
  ]
}

const Namespace: Resource = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  isClusterScoped: true,
  keep: (each) => each,
}

function named<K extends string>(resource: Resource & { readonly kind: K }, metadata: Key) {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata }
}

// As large as a module that calls others; the engine here knows without it what comes of it.
function templatesIn(namespace: string): readonly WorkspaceTemplate[] {
  const variables = (all: Readonly<Record<string, string>>) =>
    Object.entries(all)
      .map(([name, type]) => `variable "${name}" {\n  type    = ${type}\n  default = null\n}\n`)
      .join('')
  const outputs = (names: readonly string[]) =>
    names.map((name) => `output "${name}" {\n  value = module.it.${name}\n}\n`).join('')
  const template = (name: string, module: string): WorkspaceTemplate => ({
    ...named(WorkspaceTemplate, { namespace, name }),
    spec: { template: { spec: { forProvider: { source: 'Inline', module } } } },
  })
  const shared = { cluster_name: 'string', region: 'string', tags: 'map(string)' }
  return [
    template(
      'vpc',
      `${variables({ ...shared, vpc_name: 'string', environment: 'string' })}${outputs(['vpc_id', 'private_subnets', 'public_subnets', 'azs'])}`,
    ),
    template(
      'eks',
      `${variables({ ...shared, kubernetes_version: 'string', vpc_id: 'string', private_subnets: 'list(string)' })}${outputs(['cluster_name', 'cluster_version', 'cluster_endpoint', 'cluster_certificate_authority_data', 'kubeconfig'])}`,
    ),
  ]
}

function one(what: string, unit: string, values: readonly number[], atMost?: number): Figure {
  return { what, unit, values, ...(atMost !== undefined && { atMost }) }
}
