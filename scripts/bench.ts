// make bench: measures what has a budget and prints it, in about six minutes. Figures depend on the machine; the budgets are for
// two cores that do nothing else. CAPT_BENCH=manager,events measures only those.
import { measureBed } from './bench/bed.ts'
import { measureEngine } from './bench/engine.ts'
import { eventsPerSecond } from './bench/events.ts'
import { type Figure, figureTable } from './bench/figure.ts'
import { measureManager } from './bench/manager.ts'
import { bundleAll, bundleTable } from './bundle.ts'
import { elapsedLines } from './elapsed.ts'

const say = elapsedLines()
const measures: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  bed: measureBed,
  manager: async () => measureManager(say),
  events: measureEvents,
  engine: async () => measureEngine(say),
}

async function measureEvents(): Promise<readonly Figure[]> {
  const values: number[] = []
  for (let run = 0; run < 3; run++) values.push(await eventsPerSecond(5000))
  return [{ what: 'watch to decision, new templates', unit: 'events/s', values }]
}

const asked = process.env['CAPT_BENCH']?.split(',') ?? Object.keys(measures)
const figures: Figure[] = []
for (const name of asked) {
  const measure = measures[name]
  if (!measure) throw new Error(`CAPT_BENCH names ${name}: write some of ${Object.keys(measures).join(',')}`)
  say(`measuring: ${name}`)
  figures.push(...(await measure()))
}
console.log(`\n${figureTable(figures)}\n\n${bundleTable(await bundleAll())}`)
