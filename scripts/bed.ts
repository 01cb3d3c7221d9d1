// make bed: keeps a bed up until Ctrl-C, for people who want to poke at it.
import { startBed } from '../test/bed/bed.ts'
import { elapsedLines } from './elapsed.ts'
import { command, howToReach, untilInterrupted } from './stay.ts'

await command(async () => {
  const say = elapsedLines()
  const bed = await startBed({ say })
  say('the bed is ready')
  console.log(`
${howToReach(bed)}
  kubectl get namespaces

Logs of every part: ${bed.folder}/logs
Ctrl-C stops it and leaves nothing behind.`)
  await untilInterrupted()
  await bed.stop()
  console.log('\nstopped')
})
