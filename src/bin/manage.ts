// What a program does before and around its work: read flags, answer --help and --version, end in order.
import about from '../../package.json' with { type: 'json' }
import { findAccess } from '../kube/find.ts'
import { systemClock as clock } from '../runtime/clock.ts'
import { UsageError } from '../runtime/flags.ts'
import { createLog, levelOf, tellError } from '../runtime/log.ts'
import type { Served } from '../runtime/process.ts'
import type { ProcessSettings } from '../runtime/settings.ts'
import { createEnding, type Ended, type Times } from './ending.ts'

export interface Program<S extends ProcessSettings> {
  readonly name: string
  settingsOf(argv: readonly string[]): { readonly settings: S; readonly warnings: readonly string[] }
  helpOf(): string
  timesOf(settings: S): Times
  serve(served: Served<S>): Promise<Ended>
}

export async function manage<S extends ProcessSettings>({
  name,
  settingsOf,
  helpOf,
  timesOf,
  serve,
}: Program<S>): Promise<void> {
  const { settings, warnings } = readSettings(settingsOf)
  if (settings.help) return void process.stdout.write(helpOf())
  if (settings.version) return void process.stdout.write(`${name} ${about.version}\n`)
  const log = createLog({ to: process.stdout, level: levelOf(settings.verbosity) })
  for (const warning of warnings) log.warn(warning)
  let served: Ended | undefined
  let isBroken = false
  const exit = (code: number) => process.exit(code)
  const ending = createEnding({ clock, ...timesOf(settings), served: () => served, exit })
  process.on('uncaughtException', (error) => {
    log.error('a bug ended the process', { error })
    if (isBroken) return exit(70)
    isBroken = true
    return ending.atOnce(70)
  })
  log.info('starting', { program: name, version: about.version, node: process.version })
  try {
    const access = findAccess({
      ...(settings.kubeconfig && { kubeconfig: settings.kubeconfig }),
      ...(settings.context && { context: settings.context }),
      env: process.env,
    })
    const onLost = () => ending.atOnce(1)
    served = await serve({ settings, access, userAgent: `${name}/${about.version}`, log, onLost })
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        log.info('ending', { signal })
        ending.told()
      })
    }
  } catch (error) {
    log.error('cannot start', { why: tellError(error) })
    process.exit(1)
  }
}

function readSettings<S>(settingsOf: (argv: readonly string[]) => S): S {
  try {
    return settingsOf(process.argv.slice(2))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n`)
    return process.exit(2)
  }
}
