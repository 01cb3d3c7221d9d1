// make bed: keeps a bed up until Ctrl-C, for people who want to poke at it.
import { startBed } from '../test/bed/bed.ts'
import { elapsedLines } from './elapsed.ts'
import { howToReach, untilInterrupted } from './stay.ts'

const say = elapsedLines()
const bed = await startBed({ say })
say('the bed is ready')
console.log(
  `\n${howToReach(bed)}\n  kubectl get namespaces\n\nLogs of every part: ${bed.folder}/logs\nCtrl-C stops it and leaves nothing behind.`,
)
await untilInterrupted()
await bed.stop()
console.log('\nstopped')
