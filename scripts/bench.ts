// make bench: measures what has a budget and prints it, in about a quarter of an hour, and fails when a budget is missed. Figures depend on
// the machine; the budgets are for two cores that do nothing else. `node scripts/bench.ts manager events` measures only
// those, `node scripts/bench.ts clusters 500` so many clusters.
import { measureBed } from './bench/bed.ts'
import { measureClusters } from './bench/clusters.ts'
import { measureEngine } from './bench/engine.ts'
import { eventsPerSecond } from './bench/events.ts'
import { type Figure, figureTable, missedIn } from './bench/figure.ts'
import { measureManager } from './bench/manager.ts'
import { bundleAll, bundleTable } from './bundle.ts'
import { elapsedLines } from './elapsed.ts'

const say = elapsedLines()
const words = process.argv.slice(2)
const isNumber = (word: string) => /^\d+$/.test(word)
const counts = words.filter(isNumber).map(Number) // of clusters
const measures: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  bed: measureBed,
  manager: async () => measureManager(say),
  events: measureEvents,
  engine: async () => measureEngine(say),
  clusters: async () => measureClusters(say, counts),
}

async function measureEvents(): Promise<readonly Figure[]> {
  const values: number[] = []
  for (let run = 0; run < 3; run++) values.push(await eventsPerSecond(5000))
  return [{ what: 'watch to decision, new templates', unit: 'events/s', values }]
}

const names = words.filter((each) => !isNumber(each))
const asked = names.length > 0 ? names : Object.keys(measures)
const figures: Figure[] = []
for (const name of asked) {
  const measure = measures[name]
  if (!measure) throw new Error(`nobody measures ${name}: write some of ${Object.keys(measures).join(' ')}`)
  say(`measuring: ${name}`)
  figures.push(...(await measure()))
}
console.log(`\n${figureTable(figures)}\n\n${bundleTable(await bundleAll())}`)
const missed = missedIn(figures)
console.log(`\n${missed.length} budgets missed${missed.map(({ what }) => `\n  ${what}`).join('')}`)
process.exitCode = missed.length > 0 ? 1 : 0
