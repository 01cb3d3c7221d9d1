// A company of managers on an API server of their own, each with a token of its own, and somebody who always gives them
// something to write. What befalls them, and when, is the caller's.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'yaml'
import { namespace as systemNamespace } from '../scripts/generated/rbac.ts'
import { WorkspaceTemplate } from '../src/api/workspacetemplate.ts'
import { createClient } from '../src/kube/client.ts'
import { findAccess } from '../src/kube/find.ts'
import { leases } from '../src/runtime/leadership.ts'
import { type AuditRecord, readAudit } from './bed/audit.ts'
import { launchManager, type ManagerProcess, managerKubeconfig, managerUser, readLog } from './bed/manager.ts'
import { type OwnApi, startOwnApi } from './bed/own.ts'
import { judgeWrites, type Verdict } from './fencing.ts'
import { until } from './until.ts'

// Long enough that a leader keeps its Lease on a machine that is busy with other things.
export const leaseMs = 8000
const flags = [
  `--leader-elect-lease-duration=${leaseMs}ms`,
  '--leader-elect-renew-deadline=6s',
  '--leader-elect-retry-period=500ms',
]
const size = 3
const templates = 3

// One life of a manager, from its start to its end.
export interface Life extends ManagerProcess {
  readonly credential: string // as the audit log calls its token
}

export interface Company {
  readonly api: OwnApi
  // Who leads, once somebody does who is not stopped; the dead are replaced.
  leader(): Promise<Life>
  // Stops it where it sleeps: not between the question whether it leads and the sending of what it asked for.
  freeze(life: Life): Promise<void>
  thaw(life: Life): void
  // How it ended.
  seeEnd(life: Life): Promise<string>
  audit(): Promise<readonly AuditRecord[]>
  // No more changes; sees that all of them have been answered for.
  rest(): Promise<void>
  judge(): Promise<Verdict>
  end(): Promise<void>
}

export async function startCompany(): Promise<Company> {
  const api = await startOwnApi('company')
  const { home, kube } = api
  const lives: Life[] = []
  const frozen = new Set<Life>()
  const author = startAuthor(api)

  async function start(): Promise<void> {
    const name = `manager-${lives.length + 1}`
    const folder = join(home.folder, name)
    mkdirSync(folder)
    const kubeconfig = await managerKubeconfig({ kube, folder }, api)
    const launched = await launchManager(home, { name, kubeconfig, flags })
    lives.push({ ...launched, credential: credentialIn(kubeconfig) })
  }

  const living = () => lives.filter(({ member }) => member.obituary() === undefined)

  async function holders(): Promise<readonly unknown[]> {
    const read = Object.values(leases).map(async (name) => {
      const header = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name, namespace: systemNamespace },
      }
      return ((await kube.read(header))?.['spec'] as { holderIdentity?: string } | undefined)?.holderIdentity
    })
    return Promise.all(read)
  }

  async function look(): Promise<Life | undefined> {
    const [first, second] = await holders()
    if (!first || first !== second) return undefined
    for (const life of living().filter((each) => !frozen.has(each))) {
      const lines = await readLog(life.address.log)
      if (lines.some(({ msg, identity }) => msg === 'leading' && identity === first)) return life
    }
    return undefined
  }

  return {
    api,
    async leader() {
      while (living().length < size) await start()
      return until('a manager leads', look, { withinSeconds: 90, everyMs: 200 })
    },
    async freeze(life) {
      frozen.add(life)
      const { pid } = life.member
      await until('it sleeps, and is stopped there', async () => {
        const waitsIn = stateOf(pid) === 'S' ? callOf(pid) : undefined
        if (waitsIn === undefined) return undefined
        process.kill(pid, 'SIGSTOP')
        await until('it is stopped', async () => (stateOf(pid) === 'T' ? true : undefined), { everyMs: 5 })
        if (callOf(pid) === waitsIn) return true
        process.kill(pid, 'SIGCONT')
        return undefined
      })
    },
    thaw(life) {
      frozen.delete(life)
      process.kill(life.member.pid, 'SIGCONT')
    },
    seeEnd: async ({ member }) => until(`${member.name} ends`, async () => member.obituary(), { withinSeconds: 60 }),
    audit: async () => readAudit(api.auditLog, { user: managerUser }),
    async rest() {
      await author.stop()
      await until(
        'every template is judged as it is',
        async () => {
          const all = await kube.list(author.apiVersion, WorkspaceTemplate.kind)
          const isJudged = all.every(
            ({ metadata, status }) =>
              (status as { observedGeneration?: number } | undefined)?.observedGeneration === metadata.generation,
          )
          return all.length === templates && isJudged ? true : undefined
        },
        { withinSeconds: 60 },
      )
    },
    judge: async () =>
      judgeWrites(await readAudit(api.auditLog, { user: managerUser }), Object.values(leases), leaseMs),
    async end() {
      await author.stop()
      await home.end()
    },
  }
}

// S: it sleeps; T: it is stopped.
function stateOf(pid: number): string | undefined {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0]
}

// The call into the kernel it is in, with its arguments.
function callOf(pid: number): string {
  return readFileSync(`/proc/${pid}/syscall`, 'utf8')
}

function credentialIn(kubeconfig: string): string {
  const { users } = parse(readFileSync(kubeconfig, 'utf8')) as { users: { user: { token: string } }[] }
  const [, claims = ''] = users[0]?.user.token.split('.') ?? []
  const { jti } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { jti: string }
  return `JTI=${jti}`
}

// Writes templates anew all the time, sound and torn by turns: each asks for another status, and a torn one for an Event.
function startAuthor({ adminKubeconfig: kubeconfig }: OwnApi) {
  const client = createClient(findAccess({ kubeconfig, env: {} }), { userAgent: 'author' })
  const apiVersion = `${WorkspaceTemplate.group}/v1beta1`
  const stopping = new AbortController()
  const writing = (async () => {
    for (let turn = 0; !stopping.signal.aborted; turn++) {
      const metadata = { namespace: 'default', name: `template-${turn % templates}` }
      const module = turn % 2 === 0 ? `# ${turn}` : 'variable "torn" {'
      const spec = { template: { spec: { forProvider: { source: 'Inline' as const, module } } } }
      const template: WorkspaceTemplate = { apiVersion, kind: 'WorkspaceTemplate', metadata, spec }
      await client.apply(WorkspaceTemplate, template, { fieldManager: 'author' })
      await sleep(200)
    }
  })()
  return {
    apiVersion,
    async stop() {
      stopping.abort()
      await writing
      client.close()
    },
  }
}
