// A life of an engine, to be killed: runs what its arguments say in the folder they begin with.
import { systemClock } from '../runtime/clock.ts'
import { runCommand } from './cli.ts'

const [folder = '', program = '', ...args] = process.argv.slice(2)
await runCommand({
  program,
  args,
  folder,
  env: { PATH: process.env['PATH'] ?? '', HOME: folder },
  beside: folder,
  name: 'apply',
  timeoutMs: 600_000,
  clock: systemClock,
  stopping: new AbortController().signal,
})
