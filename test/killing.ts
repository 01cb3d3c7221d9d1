// Lives of applies with real OpenTofu while the manager and the engine, real processes under their own roles, are killed
// (SIGKILL) again and again and started anew. Their module writes down what it makes, so that one can count.
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Namespace } from '../src/api/neighbours.ts'
import { WorkspaceTemplate } from '../src/api/workspacetemplate.ts'
import { WorkspaceTemplateApply } from '../src/api/workspacetemplateapply.ts'
import { type Client, createClient } from '../src/kube/client.ts'
import { findAccess } from '../src/kube/find.ts'
import { engineUser } from './bed/engine.ts'
import type { Kube } from './bed/kube.ts'
import { launchManager, managerKubeconfig, managerUser } from './bed/manager.ts'
import { startOwnEngines } from './bed/own-engines.ts'
import { type Blow, dealBlows, writesOf } from './blows.ts'
import { tracesOf } from './lives.ts'
import { aUser } from './user.ts'

export interface KilledLife {
  readonly name: string
  readonly asked: readonly string[] // what the user was asked to approve
  readonly ledger: readonly string[] // what was made and what is gone, as the module wrote it down
  readonly left: readonly string[] // what is there at the end
  readonly kills: number // of the engine, meanwhile
}

const patience = { withinSeconds: 900, everyMs: 250 }
const lanes = 2 // lives at a time

const module = `
variable "ledger" {}
variable "size" {}
resource "terraform_data" "network" {
  input = var.ledger
  provisioner "local-exec" {
    command = "echo made network >> \${self.input}; sleep 0.3"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo gone network >> \${self.input}; sleep 0.3"
  }
}
resource "terraform_data" "cluster" {
  input            = var.ledger
  triggers_replace = var.size
  depends_on       = [terraform_data.network]
  provisioner "local-exec" {
    command = "echo made \${self.triggers_replace} cluster >> \${self.input}; sleep 0.3"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo gone \${self.triggers_replace} cluster >> \${self.input}; sleep 0.3"
  }
}
output "size" { value = terraform_data.cluster.triggers_replace }
`
const makes = ['network', 'small cluster', 'large cluster']

// What is wrong with how a life went. Each was made, and once, unless the user was asked more than the one question that there
// is in every life; each is gone in the end, and was destroyed again at most by an engine that had been killed meanwhile.
export function troubleIn({ name, asked, ledger, left, kills }: KilledLife): readonly string[] {
  const where = `${name}, where was asked: ${asked.join(', ')}`
  const times = makes.map((what) => {
    const timesOf = (verb: string) => ledger.filter((line) => line === `${verb} ${what}`).length
    return { what, made: timesOf('made'), gone: timesOf('gone'), last: ledger.findLast((line) => line.endsWith(what)) }
  })
  return [
    ...times
      .filter(({ made }) => made < 1 || made > asked.length)
      .map(({ what, made }) => `${what} was made ${made} times in ${where}`),
    ...times
      .filter(({ what, last }) => last !== `gone ${what}`)
      .map(({ what }) => `${what} was never destroyed in ${where}`),
    ...times
      .filter(({ made, gone }) => gone > made + kills)
      .map(({ what, gone }) => `${what} was destroyed ${gone} times in ${where}`),
    ...left.map((what) => `${what} was left of ${where}`),
    ...(asked.includes('ApprovalRequired') ? [] : [`nobody was asked before something was destroyed in ${where}`]),
  ]
}

// Lives go on until every blow has fallen.
export async function liveUnder(blows: Readonly<Record<'manager' | 'engine', readonly Blow[]>>) {
  const site = await startSite()
  const { end } = site
  try {
    const over = new AbortController()
    const falling = Promise.all([site.deal('manager', blows.manager), site.deal('engine', blows.engine)]).finally(() =>
      over.abort(),
    )
    const lane = async (name: string) => {
      const lives: KilledLife[] = []
      do lives.push(await live(site, `${name}-${lives.length + 1}`))
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
  const own = await startOwnEngines('killing')
  const { home, kube } = own
  const folder = join(home.folder, 'ledgers')
  mkdirSync(folder)
  const work = join(home.folder, 'work')
  const kubeconfig = await managerKubeconfig({ kube, folder: home.folder }, own)
  let kills = 0 // of the engine
  const client = createClient(findAccess({ kubeconfig: own.adminKubeconfig, env: {} }))
  // Who is killed leaves a Lease behind that others wait for: that is another story.
  const flags = ['--leader-elect=false', '--workspace-api=tf.m.upbound.io']

  const launch = {
    manager: async (name: string) => launchManager(home, { name, kubeconfig, flags }),
    engine: async (name: string) => own.launch(name, { work, flags: flags.slice(0, 1) }),
  }
  const user = { manager: managerUser, engine: engineUser }

  const deal = async (who: 'manager' | 'engine', blows: readonly Blow[]) =>
    dealBlows(blows, {
      name: who,
      writes: writesOf(own.auditLog, user[who]),
      launch: launch[who],
      falls({ isWhole }) {
        if (who !== 'engine') return
        kills++
        if (isWhole) killIn(work)
      },
    })

  return {
    client,
    kube,
    folder,
    kills: () => kills,
    deal,
    keepLogs: home.keepLogs,
    async end() {
      client.close()
      await home.end()
    },
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

interface Place {
  readonly client: Client
  readonly kube: Kube
  readonly folder: string
  kills(): number
}

async function live({ client, kube, folder, kills }: Place, name: string): Promise<KilledLife> {
  const killed = kills()
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

  return {
    name,
    asked: user.asked,
    ledger: existsSync(ledger) ? readFileSync(ledger, 'utf8').trimEnd().split('\n') : [],
    left: await tracesOf(kube, namespace, 'demo', { isCollected: false }),
    kills: kills() - killed,
  }
}
