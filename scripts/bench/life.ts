// One life of the bundled manager, watched from its start: when it is ready, when it has looked at everything, what it takes.
import { setTimeout as sleep } from 'node:timers/promises'
import { answers } from '../../test/bed/apiserver.ts'
import { launchManager, type ManagerProcess } from '../../test/bed/manager.ts'
import { until } from '../../test/until.ts'
import { nodeOptions } from '../generated/components.ts'
import type { Cgroup } from './cgroup.ts'
import type { Cluster } from './cluster.ts'
import { cpuSecondsOf, type Memory, memoryOf, watchMemory } from './process.ts'

export interface LifeOptions {
  readonly bundle: string
  readonly cgroup?: Cgroup | undefined
  readonly templates: number // that there are to look at
  readonly settleSeconds: number
  readonly idleSeconds: number
}

export interface Life {
  readonly readySeconds: number
  readonly lookedSeconds: number
  readonly lookedCpuSeconds: number // processor time until then
  readonly peak: Memory // until then
  readonly settled: Memory
  readonly idleMillicores: number
}

export async function liveOnce({ home, kubeconfig }: Cluster, options: LifeOptions): Promise<Life> {
  const { bundle, cgroup, templates, settleSeconds, idleSeconds } = options
  const node = [process.execPath, bundle]
  // A shell takes itself into the cgroup and becomes the manager.
  const program = cgroup ? ['sh', '-c', 'echo $$ > "$0" && exec "$@"', cgroup.procs, ...node] : node
  const flags = ['--insecure-diagnostics']
  const began = performance.now()
  const since = () => (performance.now() - began) / 1000
  const manager = await launchManager(home, {
    name: 'manager',
    kubeconfig,
    program,
    flags,
    env: { NODE_OPTIONS: nodeOptions },
  })
  const { pid, kill, obituary } = manager.member
  const memory = watchMemory(pid)
  const patience = { withinSeconds: 300, everyMs: 20, giveUp: obituary }
  try {
    await until('the manager is ready', async () => answers({ url: `${manager.address.health}/readyz` }), patience)
    const readySeconds = since()
    const hasLooked = async () => (templates === 0 || (await passesOf(manager)) >= templates ? true : undefined)
    await until('the manager has looked at every template', hasLooked, { ...patience, everyMs: 100 })
    const looked = { lookedSeconds: since(), lookedCpuSeconds: cpuSecondsOf(pid) }
    await sleep(settleSeconds * 1000)
    const peak = memory.most()
    const settled = memoryOf(pid)
    const idle = { cpu: cpuSecondsOf(pid), at: performance.now() }
    await sleep(idleSeconds * 1000)
    const idleMillicores = ((cpuSecondsOf(pid) - idle.cpu) * 1e6) / (performance.now() - idle.at)
    return { readySeconds, ...looked, peak, settled, idleMillicores }
  } finally {
    memory.stop()
    await kill('SIGTERM') // which gives the Leases back: the next life need not wait for them
  }
}

async function passesOf({ address: { diagnostics } }: ManagerProcess): Promise<number> {
  const text = await (await fetch(`${diagnostics.replace('https:', 'http:')}/metrics`)).text()
  const found = text.matchAll(/^controller_runtime_reconcile_total\{[^}]*\} (\d+)$/gm)
  return [...found].reduce((sum, [, count]) => sum + Number(count), 0)
}
