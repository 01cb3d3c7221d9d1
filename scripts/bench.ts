// make bench: measures what has a budget and prints it. Figures depend on the machine; the budgets are for two cores.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { startBed } from '../test/bed/bed.ts'
import { startWorkload } from '../test/bed/workload.ts'
import { bundleAll, bundleTable } from './bundle.ts'
import { table } from './table.ts'

const runs = 3

interface Measured {
  readonly what: string
  readonly seconds: readonly number[]
  readonly budgetSeconds: number
}

async function timed<T>(work: () => Promise<T>): Promise<[number, T]> {
  const began = performance.now()
  const result = await work()
  return [(performance.now() - began) / 1000, result]
}

async function measureBed(): Promise<Measured[]> {
  const start: number[] = []
  const workloadStart: number[] = []
  const stop: number[] = []
  for (let run = 0; run < runs; run++) {
    const [startSeconds, bed] = await timed(async () => startBed())
    const [workloadSeconds, workload] = await timed(startWorkload)
    await workload.stop()
    const [stopSeconds] = await timed(bed.stop)
    start.push(startSeconds)
    workloadStart.push(workloadSeconds)
    stop.push(stopSeconds)
  }
  return [
    { what: 'bed, start to ready', seconds: start, budgetSeconds: 15 },
    { what: 'workload cluster, start to ready', seconds: workloadStart, budgetSeconds: 5 },
    { what: 'bed, stop', seconds: stop, budgetSeconds: 3 },
  ]
}

async function measureParts(): Promise<Measured> {
  const look = async () =>
    execFileSync(process.execPath, [join(import.meta.dirname, '../tools/main.ts')], { stdio: 'ignore' })
  const seconds: number[] = []
  for (let run = 0; run < runs; run++) seconds.push((await timed(look))[0])
  return { what: 'real parts, nothing to build', seconds, budgetSeconds: 1 }
}

function rowOf({ what, seconds, budgetSeconds }: Measured): string[] {
  const sorted = seconds.toSorted((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const spread = `${sorted[0]?.toFixed(2)} – ${sorted.at(-1)?.toFixed(2)} s`
  return [what, `${median.toFixed(2)} s`, spread, `≤ ${budgetSeconds} s`, median <= budgetSeconds ? 'kept' : 'MISSED']
}

const measured = [await measureParts(), ...(await measureBed())]
console.log(table(['what', `median of ${runs}`, 'spread', 'budget', ''], measured.map(rowOf)))
console.log(`\n${bundleTable(await bundleAll())}`)
