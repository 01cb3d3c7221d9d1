// A memory cgroup below our own, where the system lets us make one. A process in it meets the limit that a pod has: what it
// reads of files counts, too.
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Cgroup {
  readonly procs: string // the file that takes a process in
  refusals(): number // how often memory had to be taken back because the limit was reached
  remove(): void
}

// Undefined: the system allows none.
export function makeCgroup(limitMiB: number): Cgroup | undefined {
  const own = readFileSync('/proc/self/cgroup', 'utf8')
  const [, first] = /^\d+:memory:(.*)$/m.exec(own) ?? []
  const [, second] = /^0::(.*)$/m.exec(own) ?? []
  const version =
    first === undefined
      ? { root: join('/sys/fs/cgroup', second ?? ''), limit: 'memory.max', count: readMax }
      : { root: join('/sys/fs/cgroup/memory', first), limit: 'memory.limit_in_bytes', count: readFailures }
  const folder = join(version.root, `capt-bench-${process.pid}`)
  try {
    mkdirSync(folder)
    writeFileSync(join(folder, version.limit), String(limitMiB * 1024 * 1024))
  } catch {
    removeFolder(folder)
    return undefined
  }
  return {
    procs: join(folder, 'cgroup.procs'),
    refusals: () => version.count(folder),
    remove: () => removeFolder(folder),
  }
}

const readFailures = (folder: string) => Number(readFileSync(join(folder, 'memory.failcnt'), 'utf8'))
const readMax = (folder: string) =>
  Number(/^max (\d+)$/m.exec(readFileSync(join(folder, 'memory.events'), 'utf8'))?.[1])

function removeFolder(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // It was never there, or its last process is still leaving: an empty one costs nothing.
  }
}
