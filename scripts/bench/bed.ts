// How long those wait who run tests or the quickstart.
import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { startBed } from '../../test/bed/bed.ts'
import { startWorkload } from '../../test/bed/workload.ts'
import { type Figure, timed } from './figure.ts'

const runs = 3

export async function measureBed(): Promise<readonly Figure[]> {
  const look = async () =>
    execFileSync(process.execPath, [resolve(import.meta.dirname, '../../tools/main.ts')], { stdio: 'ignore' })
  const parts: number[] = []
  const start: number[] = []
  const workloadStart: number[] = []
  const stop: number[] = []
  for (let run = 0; run < runs; run++) {
    parts.push((await timed(look))[0])
    const [startSeconds, bed] = await timed(async () => startBed())
    const [workloadSeconds, workload] = await timed(startWorkload)
    await workload.stop()
    const [stopSeconds] = await timed(bed.stop)
    start.push(startSeconds)
    workloadStart.push(workloadSeconds)
    stop.push(stopSeconds)
  }
  return [
    { what: 'real parts, nothing to build', unit: 's', values: parts, atMost: 1 },
    { what: 'bed, start to ready', unit: 's', values: start, atMost: 15 },
    { what: 'workload cluster, start to ready', unit: 's', values: workloadStart, atMost: 5 },
    { what: 'bed, stop', unit: 's', values: stop, atMost: 3 },
  ]
}
