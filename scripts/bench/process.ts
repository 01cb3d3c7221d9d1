// What the kernel says of a process: its memory and the processor time it has used. Linux only.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

export interface Memory {
  readonly anonymousMiB: number
  readonly residentMiB: number
}

export function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mib = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) / 1024
  return { anonymousMiB: mib('RssAnon'), residentMiB: mib('VmRSS') }
}

const ticksPerSecond = 100 // of the files in /proc, on every Linux

export function cpuSecondsOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [user, system] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13) // a name may hold anything
  return (Number(user) + Number(system)) / ticksPerSecond
}

// Of every program of a household, by its name.
export function cpuSecondsIn(folder: string): ReadonlyMap<string, number> {
  const pids = readdirSync(join(folder, 'alive'))
  return new Map(pids.map((pid) => [basename(programOf(pid)), cpuSecondsOf(Number(pid))]))
}

function programOf(pid: string): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0] ?? ''
}

// Of everything that runs on this machine.
export function busySeconds(): number {
  const [user, nice, system, , , irq, softirq] =
    /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]?.split(' ') ?? []
  return [user, nice, system, irq, softirq].reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond
}

export interface MemoryWatch {
  most(): Memory & { readonly childrenMiB: number } // resident in all it runs, together
  stop(): void
}

// Whatever it has started, and what that has.
function childrenOf(pid: number): readonly number[] {
  const direct = (parent: number): readonly number[] => {
    const file = `/proc/${parent}/task/${parent}/children`
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ').filter(Boolean).map(Number) : []
  }
  return direct(pid).flatMap((child) => [child, ...childrenOf(child)])
}

function residentOf(pid: number): number {
  try {
    return memoryOf(pid).residentMiB || 0
  } catch {
    return 0 // it has ended
  }
}

// Looks five times a second.
export function watchMemory(pid: number): MemoryWatch {
  let most = { anonymousMiB: 0, residentMiB: 0, childrenMiB: 0 }
  const look = () => {
    const now = memoryOf(pid)
    most = {
      anonymousMiB: Math.max(most.anonymousMiB, now.anonymousMiB),
      residentMiB: Math.max(most.residentMiB, now.residentMiB),
      childrenMiB: Math.max(
        most.childrenMiB,
        childrenOf(pid).reduce((sum, child) => sum + residentOf(child), 0),
      ),
    }
  }
  const timer = setInterval(() => {
    // A process that has gone is noticed by those who wait for it.
    if (existsSync(`/proc/${pid}`)) look()
  }, 200)
  return { most: () => (look(), most), stop: () => clearInterval(timer) }
}
