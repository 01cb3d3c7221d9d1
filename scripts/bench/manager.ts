// What the bundled manager takes on a real API server: to start, to learn thousands of objects, and to do nothing.
import { bundleAll } from '../bundle.ts'
import { makeCgroup } from './cgroup.ts'
import { startCluster } from './cluster.ts'
import { type Figure, timed } from './figure.ts'
import { type Life, liveOnce } from './life.ts'
import { perTemplate } from './objects.ts'

const limitMiB = 128
const starts = 5
const counts = [16_000, 26_000]
const known = 'on two cores the API server takes most of it, see "if they were only read"'
const budget = { startSeconds: 1, syncSeconds: 5, anonymousMiB: 75 } // the last two at the larger count

export async function measureManager(say: (line: string) => void): Promise<readonly Figure[]> {
  const [manager] = await bundleAll()
  const bundle = manager?.file ?? ''
  const cluster = await startCluster()
  const cgroup = makeCgroup(limitMiB)
  say(cgroup ? `in a memory cgroup of ${limitMiB} MiB` : 'without a memory cgroup: the system allows none')
  const live = async (objects: number, settleSeconds: number, idleSeconds: number) =>
    liveOnce(cluster, { bundle, cgroup, templates: objects / perTemplate, settleSeconds, idleSeconds })
  try {
    const empty: Life[] = []
    for (let run = 0; run < starts; run++) empty.push(await live(0, 0, 0))
    const figures: Figure[] = [
      one(
        'start to ready',
        's',
        empty.map(({ readySeconds }) => readySeconds),
        budget.startSeconds,
      ),
      one(
        'start to ready, processor time',
        's',
        empty.map(({ lookedCpuSeconds }) => lookedCpuSeconds),
      ),
      one(
        'start, anonymous',
        'MiB',
        empty.map(({ peak }) => peak.anonymousMiB),
      ),
    ]
    for (const count of counts) {
      say(`storing ${count} objects`)
      await cluster.fill(count)
      const [readSeconds] = await timed(cluster.readAll)
      figures.push(one(`${count} objects, if they were only read`, 's', [readSeconds]))
      const isLast = count === counts.at(-1)
      say(`learning ${count} objects`)
      const began = new Date()
      const life = await live(count, 30, isLast ? 60 : 0)
      figures.push(...figuresOf(life, `${count} objects`, isLast))
      figures.push(one(`${count} objects, writes but Leases`, '', [await cluster.writes(began)], 0)) // they are settled
    }
    if (cgroup) figures.push(one('times the cgroup took memory back', '', [cgroup.refusals()]))
    return figures
  } finally {
    await cluster.stop()
    cgroup?.remove()
  }
}

function figuresOf(life: Life, of: string, isLast: boolean): Figure[] {
  const { syncSeconds, anonymousMiB } = isLast ? budget : {}
  return [
    { ...one(`${of}, start to ready`, 's', [life.readySeconds], syncSeconds), known },
    { ...one(`${of}, start to every template looked at`, 's', [life.lookedSeconds], syncSeconds), known },
    one(`${of}, processor time until then`, 's', [life.lookedCpuSeconds]),
    one(`${of}, anonymous at most`, 'MiB', [life.peak.anonymousMiB], anonymousMiB),
    one(`${of}, anonymous after 30 s`, 'MiB', [life.settled.anonymousMiB], anonymousMiB),
    one(`${of}, resident at most`, 'MiB', [life.peak.residentMiB]),
    ...(isLast ? [one(`${of}, idle`, 'millicores', [life.idleMillicores])] : []),
  ]
}

function one(what: string, unit: string, values: readonly number[], atMost?: number): Figure {
  return { what: `manager, ${what}`, unit, values, ...(atMost !== undefined && { atMost }) }
}
