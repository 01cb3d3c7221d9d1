// capt tree, as a process runs it: which API server, what kind of terminal, when to end, with which exit code.
import { systemClock } from '../runtime/clock.ts'
import { reach } from './access.ts'
import type { TreeOptions } from './commands.ts'
import { Complaint } from './complaint.ts'
import { outputOf } from './output.ts'
import { type Looking, showTree, watchTree } from './tree.ts'

type Process = Pick<NodeJS.Process, 'stdout' | 'stderr' | 'env' | 'once'>

export async function runTree(name: string, options: TreeOptions, process: Process): Promise<number> {
  try {
    return await withAccess(name, options, process)
  } catch (error) {
    if (!(error instanceof Complaint)) throw error
    process.stderr.write(`${error.message}\n`)
    return 1
  }
}

async function withAccess(name: string, options: TreeOptions, process: Process): Promise<number> {
  const { stdout, env } = process
  const { watch, until, color } = options
  const reached = reach(options, env)
  const interrupted = new AbortController()
  stdout.on('error', () => interrupted.abort()) // nobody reads on
  const looking: Looking = {
    ...reached,
    name,
    clock: systemClock,
    now: () => new Date(),
    out: outputOf(stdout, env, color),
  }
  try {
    if (!watch && !until) return (await showTree(looking)).isWhole ? 0 : 1
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())
    const ending = await watchTree({ ...looking, signal: interrupted.signal, ...(until && { until }) })
    if (ending === 'gone') looking.out.write(`Cluster ${looking.namespace}/${name} is gone\n`)
    return until !== undefined && ending !== until ? 1 : 0
  } finally {
    reached.client.close()
  }
}
