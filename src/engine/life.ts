// This machine and its processes, as far as one life of the engine must know another: which machine, since when it is up, and
// whether a process is still the same. Reads /proc; where there is none, nothing is known and nothing is claimed.
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'

export interface Machine {
  readonly host: string // in a cluster: the name of the pod
  readonly bootId: string // empty: not known
}

export interface Process {
  readonly pid: number
  readonly startTime: string // in ticks since the machine was started: a pid is used again, a pid with its start is not
}

export async function thisMachine(): Promise<Machine> {
  return { host: hostname(), bootId: (await read('/proc/sys/kernel/random/boot_id'))?.trim() ?? '' }
}

// Undefined when it has ended. One that waits to be buried has ended.
export async function processOf(pid: number): Promise<Process | undefined> {
  const stat = await read(`/proc/${pid}/stat`)
  // The second field is the program's name in brackets, which may hold anything; the start is the 22nd.
  const [state, ...rest] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
  const startTime = rest[18]
  return state === undefined || state === 'Z' || startTime === undefined ? undefined : { pid, startTime }
}

// Whether the process that once had this pid and start is still there.
export async function isAlive({ pid, startTime }: Process): Promise<boolean> {
  return (await processOf(pid))?.startTime === startTime
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch {
    return undefined
  }
}
