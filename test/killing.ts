// Lives of applies with real OpenTofu while the manager and the engine, real processes under their own roles, are killed
// (SIGKILL) again and again and started anew. Their module writes down what it makes, so that one can count.
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { labels } from '../src/api/keys.ts'
import { Namespace, Secret } from '../src/api/neighbours.ts'
import { tellObject } from '../src/api/resource.ts'
import { workspaceAPIs } from '../src/api/workspace.ts'
import { WorkspaceTemplate } from '../src/api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../src/api/workspacetemplateapply.ts'
import { type Client, createClient } from '../src/kube/client.ts'
import { findAccess } from '../src/kube/find.ts'
import { realParts } from '../tools/workshop.ts'
import { seeEstablished } from './bed/core.ts'
import { engineKubeconfig, engineUser, grantEngine, launchEngine } from './bed/engine.ts'
import { launchManager, type ManagerProcess, managerKubeconfig, managerUser } from './bed/manager.ts'
import { type OwnApi, startOwnApi } from './bed/own.ts'
import { until } from './until.ts'
import { aUser } from './user.ts'

// When it falls: so many writes after its start, and so much later.
export interface Blow {
  readonly writes: number
  readonly ms: number
  readonly isWhole: boolean // all that the process runs dies with it, as in a container
}

export const anyBlows = (count: number): fc.Arbitrary<Blow[]> =>
  fc.array(fc.record({ writes: fc.integer({ min: 1, max: 12 }), ms: fc.nat(600), isWhole: fc.boolean() }), {
    minLength: count,
    maxLength: count,
  })

export interface KilledLife {
  readonly name: string
  readonly asked: readonly string[] // what the user was asked to approve
  readonly made: readonly string[] // as the module wrote it down
  readonly left: readonly string[] // what is there at the end
}

const states = 'capt-terraform-state'
const api = workspaceAPIs['tf.m.upbound.io']
const engineCrds = resolve(import.meta.dirname, '../manifests/engine/crds.yaml')
const patience = { withinSeconds: 900, everyMs: 250 }
const lanes = 2 // lives at a time

const module = `
variable "ledger" {}
variable "size" {}
resource "terraform_data" "network" {
  provisioner "local-exec" {
    command = "echo network >> \${var.ledger}; sleep 0.3"
  }
}
resource "terraform_data" "cluster" {
  triggers_replace = var.size
  depends_on       = [terraform_data.network]
  provisioner "local-exec" {
    command = "echo \${var.size} cluster >> \${var.ledger}; sleep 0.3"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "sleep 0.3"
  }
}
output "size" { value = terraform_data.cluster.triggers_replace }
`
const makes = ['network', 'small cluster', 'large cluster']

// What is wrong with how a life went. Each was made, and once, unless the user was asked more than the one question that there
// is in every life.
export function troubleIn({ name, asked, made, left }: KilledLife): readonly string[] {
  const where = `${name}, where was asked: ${asked.join(', ')}`
  const times = makes.map((what) => ({ what, count: made.filter((line) => line === what).length }))
  const wrong = times.filter(({ count }) => count < 1 || count > asked.length)
  return [
    ...wrong.map(({ what, count }) => `${what} was made ${count} times in ${where}`),
    ...left.map((what) => `${what} was left of ${where}`),
    ...(asked.includes('ApprovalRequired') ? [] : [`nobody was asked before something was destroyed in ${where}`]),
  ]
}

// Lives go on until every blow has fallen.
export async function liveUnder(blows: Readonly<Record<'manager' | 'engine', readonly Blow[]>>) {
  const site = await startSite()
  const { end, client } = site
  try {
    const over = new AbortController()
    const falling = Promise.all([site.deal('manager', blows.manager), site.deal('engine', blows.engine)]).finally(() =>
      over.abort(),
    )
    const lane = async (name: string) => {
      const lives: KilledLife[] = []
      do lives.push(await live(client, site.folder, `${name}-${lives.length + 1}`))
      while (!over.signal.aborted)
      return lives
    }
    const lived = Promise.all(Array.from({ length: lanes }, async (_, index) => lane(`lane-${index + 1}`)))
    const [lives] = await Promise.all([lived, falling])
    return lives.flat()
  } catch (error) {
    throw new Error(`${String(error)}\nlogs of every part: ${await site.keepLogs()}`, { cause: error })
  } finally {
    await end()
  }
}

async function startSite() {
  const { tofu } = await realParts(['tofu'])
  const own = await startOwnApi('killing')
  const { home, kube } = own
  await kube.kubectl(['apply', '--server-side', '--field-manager=bed', '-f', engineCrds])
  await Promise.all([seeEstablished(kube), grantEngine(kube)])
  const folder = join(home.folder, 'ledgers')
  mkdirSync(folder)
  const work = join(home.folder, 'work')
  const place = { kube, folder: home.folder }
  const accounts = { manager: await managerKubeconfig(place, own), engine: await engineKubeconfig(place, own) }
  const client = createClient(findAccess({ kubeconfig: own.adminKubeconfig, env: {} }))
  // Who is killed leaves a Lease behind that others wait for: that is another story.
  const flags = ['--leader-elect=false', `--workspace-api=${api.group}`]

  const launch = {
    manager: async (name: string) => launchManager(home, { name, kubeconfig: accounts.manager, flags }),
    engine: async (name: string) =>
      launchEngine(home, { name, kubeconfig: accounts.engine, tofu, work, flags: flags.slice(0, 1) }),
  }
  const user = { manager: managerUser, engine: engineUser }

  async function deal(who: 'manager' | 'engine', blows: readonly Blow[]): Promise<void> {
    let living: ManagerProcess = await launch[who](who)
    for (const [index, { writes, ms, isWhole }] of blows.entries()) {
      const count = writesOf(own, user[who])
      await count() // what was before
      let seen = 0
      // Who has nothing to write is killed all the same.
      const look = async () => ((seen += await count()) >= writes ? true : undefined)
      await until(`${who} writes`, look, { withinSeconds: 10, everyMs: 20, giveUp: living.member.obituary }).catch(
        (error: unknown) => {
          const died = living.member.obituary()
          if (died !== undefined) throw new Error(died, { cause: error })
        },
      )
      await sleep(ms)
      await living.member.kill('SIGKILL')
      if (who === 'engine' && isWhole) killIn(work)
      living = await launch[who](`${who}-${index + 2}`)
    }
  }

  return {
    client,
    folder,
    deal,
    keepLogs: home.keepLogs,
    async end() {
      client.close()
      await home.end()
    },
  }
}

// How many writes a user has made since it was asked last, by what the API server wrote down.
function writesOf({ auditLog }: OwnApi, user: string): () => Promise<number> {
  let at = 0
  return async () => {
    await using file = await open(auditLog)
    const { size } = await file.stat()
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - at), 0, size - at, at)
    const text = buffer.toString('utf8', 0, bytesRead)
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    at += Buffer.byteLength(whole)
    return whole
      .split('\n')
      .filter((line) => line.includes(`"username":"${user}"`) && /"verb":"(create|patch|update|delete)"/.test(line))
      .length
  }
}

// Whatever runs in a folder below this one.
function killIn(folder: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)) process.kill(Number(pid), 'SIGKILL')
    } catch {
      // it has ended, or is not ours
    }
  }
}

async function live(client: Client, folder: string, name: string): Promise<KilledLife> {
  const namespace = name
  const ledger = join(folder, name)
  const header = { apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1' }
  const template = { namespace, name: 'eks' }
  const key = { namespace, name: 'demo' }
  const user = aUser(client, patience)
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await client.create(WorkspaceTemplate, {
    ...header,
    kind: 'WorkspaceTemplate',
    metadata: template,
    spec: { template: { spec: { forProvider: { source: 'Inline', module } } } },
  })
  await client.create(WorkspaceTemplateApply, {
    ...header,
    kind: 'WorkspaceTemplateApply',
    metadata: key,
    spec: {
      templateRef: { name: 'eks' },
      variables: { ledger, size: 'small' },
      destructiveChanges: 'Hold',
      deletionProtection: false,
      retainOnDelete: false,
    },
  })
  const seesReady = async (size: string) => user.seesReady(key, ({ status }) => status?.outputs?.['size'] === size)
  await seesReady('small')
  await client.patch(WorkspaceTemplateApply, key, { spec: { variables: { size: 'large' } } })
  await seesReady('large')
  await client.remove(WorkspaceTemplateApply, key)
  await user.seesGone(WorkspaceTemplateApply, key)

  const [workspaces, usages, secrets] = await Promise.all([
    client.list(api.workspace, { namespace }),
    client.list(api.usage, { namespace }),
    client.list(Secret, { namespace: states }),
  ])
  const ofUs = secrets.items.filter(
    ({ metadata }) =>
      metadata.labels?.[labels.apply] === `${namespace}.demo` || metadata.name.includes(`${namespace}.demo`),
  )
  return {
    name,
    asked: user.asked,
    made: existsSync(ledger) ? readFileSync(ledger, 'utf8').trimEnd().split('\n') : [],
    left: [...workspaces.items, ...usages.items, ...ofUs].map(tellObject),
  }
}
