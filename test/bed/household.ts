// A household: a folder in the system's temporary place and the processes that live in it. When it ends, or when the
// process that founded it goes for any reason (kill -9 too), all of it goes.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync } from 'node:fs'
import { cp, mkdir, rename, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'

export interface Household {
  readonly folder: string
  readonly logs: string // a folder in it: one file a member, and whatever else is worth keeping
  start(name: string, command: string, args: readonly string[], env?: Readonly<Record<string, string>>): Member
  // Copies every log to a place that stays, and says where.
  keepLogs(): Promise<string>
  end(): Promise<void>
}

export interface Member {
  readonly name: string
  readonly pid: number
  readonly log: string
  // Why it is gone, with its last words; undefined while it runs.
  obituary(): string | undefined
  kill(signal?: NodeJS.Signals): Promise<void>
}

const keptLogs = resolve(import.meta.dirname, '../../logs')

// A variable. It names the folder to which every household of a run leaves its logs when it ends, for whoever judges the whole run.
export const heir = 'CAPT_HEIR_OF_LOGS'

// Waits for its standard input to close, which the kernel does when we go. Then it ends every process group listed in
// the folder `alive`. A process lists itself before it becomes a part (`joiner`), and cannot once `alive` is gone, so none
// slips through.
const warden = `
trap '' INT TERM HUP
read -r _
while [ -d "$0/alive" ]; do
  for file in "$0"/alive/*; do
    [ -e "$file" ] || continue
    kill -s KILL -- "-\${file##*/}" 2>/dev/null
    rm -f "$file"
  done
  rmdir "$0/alive" 2>/dev/null
done
for try in 1 2 3 4 5; do # the killed may be writing their last
  rm -rf "$0" && break
  sleep 1
done
`
const joiner = ': > "$0/$$" || exit 1; exec "$@"'

export function foundHousehold(name: string): Household {
  const folder = mkdtempSync(join(tmpdir(), `capt-${name}-`))
  const alive = join(folder, 'alive')
  const logs = join(folder, 'logs')
  mkdirSync(alive)
  mkdirSync(logs)
  const watch = spawn('sh', ['-c', warden, folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  watch.unref()
  const leash = watch.stdin as Socket // a pipe, as Node makes them
  leash.unref()
  const members = new Set<Member>()

  return {
    folder,
    logs,
    start(memberName, command, args, env = {}) {
      const member = startMember(memberName, [command, ...args], { folder, alive, logs, env })
      members.add(member)
      return member
    },
    async keepLogs() {
      const kept = join(keptLogs, basename(folder))
      await cp(logs, kept, { recursive: true })
      return kept
    },
    async end() {
      // Nothing here is worth a graceful stop: an API server alone takes 14 s to drain.
      await Promise.all([...members].map(async (member) => member.kill('SIGKILL')))
      await bequeath(logs, basename(folder))
      await rm(folder, { recursive: true, force: true })
      leash.end()
    },
  }
}

async function bequeath(logs: string, name: string): Promise<void> {
  const folder = process.env[heir]
  if (!folder) return
  await mkdir(folder, { recursive: true })
  await rename(logs, join(folder, name))
}

// Founds a household and lets `furnish` fill it. When that fails the household ends, and the error says where its logs are.
export async function startHousehold<T>(name: string, furnish: (home: Household) => Promise<T>): Promise<T> {
  const home = foundHousehold(name)
  try {
    return await furnish(home)
  } catch (error) {
    const logs = await home.keepLogs()
    await home.end()
    throw new Error(`the ${name} did not start: ${(error as Error).message}\nlogs of every part: ${logs}`, {
      cause: error,
    })
  }
}

interface Home {
  readonly folder: string
  readonly alive: string
  readonly logs: string
  readonly env: Readonly<Record<string, string>>
}

function startMember(name: string, command: readonly string[], { folder, alive, logs, env }: Home): Member {
  const log = join(logs, `${name}.log`)
  const out = openSync(log, 'a')
  const child = spawn('sh', ['-c', joiner, alive, ...command], {
    cwd: folder,
    detached: true, // a process group of its own: Ctrl-C in a terminal reaches us, not the parts
    env: { ...inherited(), HOME: folder, ...env },
    stdio: ['ignore', out, out],
  })
  closeSync(out)
  const { pid } = child
  if (pid === undefined) throw new Error(`cannot start a shell for ${name}`)
  const gone = new Promise<void>((resolveGone) => {
    child.once('exit', () => {
      void rm(join(alive, String(pid)), { force: true })
      resolveGone()
    })
  })
  return {
    name,
    pid,
    log,
    obituary: () => obituary(name, child, log),
    async kill(signal = 'SIGKILL') {
      if (!hasExited(child)) killGroup(pid, signal)
      await gone
    },
  }
}

// Where programs are, and what saves the processor's time: what Node has made of our sources is kept, and programs in Go collect their
// garbage less often.
const handedOn = ['PATH', 'NODE_COMPILE_CACHE', 'GOGC']

function inherited(): Record<string, string> {
  return Object.fromEntries(handedOn.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])))
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

function obituary(name: string, child: ChildProcess, log: string): string | undefined {
  if (!hasExited(child)) return undefined
  const lastWords = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-15).join('\n')
  return `${name} ended with ${child.exitCode ?? child.signalCode}; it said last:\n${lastWords}`
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
