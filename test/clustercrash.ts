// A whole life of a Cluster, from its creation until nothing is left of it, with a manager and an engine that can be struck at any of
// their acts. All is in memory, and Cluster API core is an imitation (test/corelike.ts). What must come of it is for whoever tells the story.
import { expect } from 'vitest'
import { CAPTCluster } from '../src/api/captcluster.ts'
import { CAPTControlPlane } from '../src/api/captcontrolplane.ts'
import { Cluster, Secret } from '../src/api/neighbours.ts'
import type { JsonRecord } from '../src/api/record.ts'
import { type Key, type KubeObject, keyOf, type Resource, tellObject } from '../src/api/resource.ts'
import { seal } from '../src/api/sealed.ts'
import { WorkspaceTemplate } from '../src/api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../src/api/workspacetemplateapply.ts'
import { nowhere, type Outside } from '../src/controllers/controlplane/outside.ts'
import { type Inputs, isVarFile } from '../src/engine/inputs.ts'
import { judgeKubeconfig, writeKubeconfig } from '../src/secrets/kubeconfig.ts'
import { anAuthority } from './bed/certificates.ts'
import { aCaptCluster, leadingTo, offlineSecret, offlineTemplates } from './clusters.ts'
import { watchOver } from './clusterwatch.ts'
import { startCorelike } from './corelike.ts'
import { collectGarbage } from './garbage.ts'
import type { Module } from './instant.ts'
import { maskedAll, type Stage, seeQuiet } from './masked.ts'
import type { Objects } from './objects.ts'
import { type Found, type Goal, isSettled } from './settled.ts'
import {
  type Acts,
  api,
  apiInMemory,
  failuresOf,
  liveEach,
  type Site,
  type Strike,
  siteInMemory,
  startPair,
  strikesOf,
} from './struck.ts'
import { until } from './until.ts'
import { aUser } from './user.ts'

interface ClusterLife {
  readonly acts: Acts
  readonly struck: string | undefined // which act; undefined: it never came to it
  readonly stages: readonly Stage[]
  readonly wrong: readonly string[] // what was seen on the way and must never be
  readonly left: readonly string[] // what is there at the end, in the cloud too
  readonly cloud: readonly string[] // calls to it, in the order of each Workspace
  readonly runs: readonly string[] // that changed a state
  readonly twice: readonly string[] // what was there twice at the same time
}

interface Fate {
  readonly strike: Strike
  readonly like: ClusterLife // how it went undisturbed
}

// What the API server of the cluster is, and what it takes.
interface Workload {
  readonly host: string
  readonly port: number
  readonly ca: string
  readonly token: string
}

const name = 'demo'
const tags = { team: 'blue' }
const userKinds: readonly (readonly [Resource, string])[] = [
  [WorkspaceTemplate, 'vpc'],
  [WorkspaceTemplate, 'eks'],
  [Secret, 'offline-workload'],
]
const kinds: readonly Resource[] = [
  Cluster,
  CAPTCluster,
  CAPTControlPlane,
  WorkspaceTemplate,
  WorkspaceTemplateApply,
  api.workspace,
  api.usage,
  Secret,
]

// One life on an API server of its own. After each step it is waited until everything is as it should be, or for a while.
async function live(site: Site, workload: Workload, namespace: string, fate?: Fate): Promise<ClusterLife> {
  const { strike, like } = fate ?? {}
  const { pace } = site
  const patience = { withinSeconds: 60, everyMs: pace.everyMs }
  const objects = apiInMemory()
  const key: Key = { namespace, name }
  const wrong = watchOver(objects)
  collectGarbage(objects)
  const core = startCorelike(objects, key, (kubeconfig) => isTaken(workload, kubeconfig))
  const pair = await startPair(site, objects.client, { namespace, strike, outside: outsideOf(workload), moduleOf })
  const { cloud } = pair.instant
  const looks = async () => maskedAll(allIn(objects), namespace)
  const stages: Stage[] = []
  const user = aUser(objects.client, patience, (reason) => {
    // What a killed run has left behind is taken away before it is made again.
    for (const stray of reason === 'ApplyInterrupted' ? cloud.strays() : []) cloud.there.delete(stray)
  })
  const see = async (after: string, goal: Goal) => {
    const look = async () => {
      for (const apply of objects.list(WorkspaceTemplateApply)) await user.answers(keyOf(apply), apply)
      return isSettled(found(objects, key), goal) || undefined
    }
    await until(`the Cluster is Available after ${after}`, look, patience)
    stages.push({ after, objects: await seeQuiet(looks, pace, like?.stages[stages.length]?.objects) })
  }
  const change = async (resource: Resource, spec: JsonRecord) => objects.client.patch(resource, key, { spec })
  try {
    begin(objects, namespace, workload)
    await see('it was made', { version: 'v1.33.0', tags: {} })
    await change(CAPTCluster, { additionalTags: tags })
    await change(CAPTControlPlane, { additionalTags: tags })
    await see('it was changed', { version: 'v1.33.0', tags })
    await change(CAPTControlPlane, { version: 'v1.35.0' })
    await see('it was upgraded', { version: 'v1.35.0', tags })
    await objects.client.remove(Cluster, key)
    await until('the Cluster is gone', async () => !objects.get(Cluster, key) || undefined, patience)
    for (const [resource, each] of userKinds) await objects.client.remove(resource, { namespace, name: each })
    await until('nothing is left', async () => allIn(objects).length === 0 || undefined, {
      ...patience,
      withinSeconds: 5,
    }).catch(
      () => {}, // who compares shows what
    )
    return {
      acts: pair.acts,
      struck: pair.struck(),
      stages,
      wrong: [...wrong, ...outOfOrder(cloud.calls)],
      left: [...allIn(objects).map(tellObject), ...cloud.there.values()],
      cloud: cloud.calls.map((call) => call.replaceAll(namespace, '<namespace>')).toSorted(byWorkspace),
      runs: pair.acts.engine
        .filter((act) => act.startsWith('keep ') || act.startsWith('forget '))
        .map((act) => act.replaceAll(namespace, '<namespace>'))
        .toSorted(),
      twice: [...pair.twice],
    }
  } catch (error) {
    const seen = JSON.stringify(await looks(), null, 1)
    throw new Error(`${String(error)}\nstruck: ${pair.struck()}\nwrong: ${[...wrong].join('; ')}\n${seen}`, {
      cause: error,
    })
  } finally {
    await Promise.all([pair.end(), core.end()])
  }
}

// Lives a life undisturbed and one for each of the strikes that are chosen, by the act they meet there, and sees each end as the first.
export async function sweep(
  isChosen: (strike: Strike, act: string) => boolean,
): Promise<{ strikes: number; lives: number }> {
  const site = siteInMemory()
  const { cert: ca } = await anAuthority('workload')
  const workload = { host: '192.0.2.1', port: 6443, ca, token: 'a-token' }
  try {
    const like = await live(site, workload, 'undisturbed')
    expect(like).toMatchObject({ struck: undefined, wrong: [], left: [], twice: [] })
    const strikes = [...strikesOf(like), ...failuresOf(like)].filter((strike) =>
      isChosen(strike, like.acts[strike.who][strike.at - 1] ?? ''),
    )
    const lives = await liveEach(
      site.pace.atATime,
      strikes,
      async (namespace, strike) => live(site, workload, namespace, { strike, like }),
      (told, { who }, life) => judge(told, who, life, like),
    )
    return { strikes: strikes.length, lives }
  } finally {
    await site.end()
  }
}

// The same is there after each step, and nothing in the end; Terraform has changed the same as often; and nobody has seen anything
// on the way that must never be. An engine that is struck in a run does again what it does not know to be done, or asks: what comes of
// that is for test/crash.ts.
function judge(told: string, who: Strike['who'], life: ClusterLife, like: ClusterLife): void {
  for (const [index, stage] of life.stages.entries()) expect.soft(stage, told).toEqual(like.stages[index])
  expect.soft([...life.wrong, ...life.left, ...life.twice], told).toEqual([])
  if (who === 'engine') return
  expect.soft(life.cloud, told).toEqual(like.cloud)
  expect.soft(life.runs, told).toEqual(like.runs)
}

function begin(objects: Objects, namespace: string, workload: Workload): void {
  const put = (resource: Resource) => (object: KubeObject | undefined) => object && objects.put(resource, object)
  const [secret, templates] = [offlineSecret(namespace, leadingTo(workload)), offlineTemplates(namespace)]
  const { stringData = {}, ...rest } = secret as Secret & { readonly stringData?: Readonly<Record<string, string>> }
  const data = Object.entries(stringData).map(([file, text]) => [file, Buffer.from(text).toString('base64')] as const)
  put(Secret)({ ...rest, data: Object.fromEntries(data) } as Secret)
  for (const each of templates as readonly unknown[]) put(WorkspaceTemplate)(shortened(each as WorkspaceTemplate))
  // As the API server would fill it in.
  const kept = { deletionProtection: false, retainOnDelete: false }
  const { network, controlPlane, cluster } = aCaptCluster({
    namespace,
    name,
    network: kept,
    controlPlane: { version: 'v1.33.0', eksClusterName: name, ...kept },
  })
  put(CAPTCluster)(network)
  put(CAPTControlPlane)(controlPlane)
  put(Cluster)(cluster)
}

function allIn(objects: Objects): readonly KubeObject[] {
  return kinds.flatMap((kind) => objects.list(kind))
}

function found(objects: Objects, key: Key): Found {
  return {
    cluster: objects.get(Cluster, key),
    network: objects.get(CAPTCluster, key),
    controlPlane: objects.get(CAPTControlPlane, key),
    applies: objects.list(WorkspaceTemplateApply),
  }
}

// A network never goes before what is in it.
function outOfOrder(calls: readonly string[]): readonly string[] {
  const gone = calls.filter((call) => call.startsWith('delete '))
  const eks = gone.findLastIndex((call) => call.includes('-eks-controlplane '))
  const vpc = gone.findIndex((call) => call.includes('-vpc '))
  return vpc >= 0 && vpc < eks ? ['the network went before the control plane'] : []
}

function byWorkspace(a: string, b: string): number {
  const [, one = ''] = a.split(' ')
  const [, other = ''] = b.split(' ')
  return one.localeCompare(other)
}

// The API server of the cluster: it answers to whoever has its token, and comes to the right door.
function outsideOf(workload: Workload): Outside {
  return {
    ...nowhere,
    greet: async (way) =>
      isTaken(workload, writeKubeconfig(name, way).open()) ? { is: 'yes' } : { is: 'no', why: 'another is meant' },
  }
}

function isTaken({ host, port, token, ca }: Workload, kubeconfig: string): boolean {
  const judged = judgeKubeconfig(seal(kubeconfig), new Date())
  if (judged.is === 'unusable') return false
  const { way } = judged
  return way.server === `https://${host}:${port}` && way.token?.open() === token && way.ca.trim() === ca.trim()
}

// Nobody here runs it, and reading it again and again takes time: what it declares will do.
function shortened(template: WorkspaceTemplate): WorkspaceTemplate {
  const { spec } = template
  const { forProvider } = spec.template.spec
  const declared = (forProvider.module ?? '').matchAll(/^(?:variable|output) "\w+"/gm)
  const module = [...declared]
    .map(([head]) => `${head} {${head.startsWith('output') ? ' value = "" ' : ''}}\n`)
    .join('')
  const whole = { ...spec.template.spec, forProvider: { ...forProvider, module } }
  return { ...template, spec: { ...spec, template: { ...spec.template, spec: whole } } }
}

// What the offline templates say, as the instant Terraform reads it.
function moduleOf({ files }: Inputs): Module {
  const given = Object.entries(files).filter(([file]) => isVarFile(file))
  const values = given.flatMap(([, text]) => Object.entries(JSON.parse(text) as JsonRecord))
  const { workload, ...variables } = Object.fromEntries(values)
  if (!workload) {
    const { cluster_name, vpc_name, region, tags: asked } = variables
    const zones = ['a', 'b', 'c'].map((zone) => `${String(region)}${zone}`)
    return {
      resources: {
        'terraform_data.vpc': { name: vpc_name, region, tags: asked },
        ...Object.fromEntries(
          zones.map((zone) => [`terraform_data.subnet["${zone}"]`, { zone, cluster: cluster_name }]),
        ),
      },
      outputs: {
        vpc_id: 'vpc-0123456789abcdef0',
        private_subnets: zones.map((zone) => `subnet-${zone}`),
        public_subnets: [],
        azs: zones,
      },
    }
  }
  const { endpoint, ca, token } = workload as Readonly<Record<'endpoint' | 'ca' | 'token', string>>
  return {
    resources: { 'terraform_data.cluster': variables },
    outputs: {
      cluster_name: variables['cluster_name'],
      cluster_version: variables['kubernetes_version'],
      cluster_endpoint: endpoint,
      cluster_certificate_authority_data: Buffer.from(ca).toString('base64'),
      kubeconfig: writeKubeconfig('eks', { server: endpoint, ca, token: seal(token) }).open(),
    },
    sensitive: ['kubeconfig'],
  }
}
