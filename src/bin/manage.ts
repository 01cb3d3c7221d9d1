// What a program does before and around its work: read flags, answer --help and --version, end in order.
import about from '../../package.json' with { type: 'json' }
import { findAccess } from '../kube/find.ts'
import { UsageError } from '../runtime/flags.ts'
import { createLog, levelOf, tellError } from '../runtime/log.ts'
import type { Process, Served } from '../runtime/process.ts'
import type { ProcessSettings } from '../runtime/settings.ts'

export interface Program<S extends ProcessSettings> {
  readonly name: string
  readonly endWithinMs: number // once told to end
  settingsOf(argv: readonly string[]): { readonly settings: S; readonly warnings: readonly string[] }
  helpOf(): string
  serve(served: Served<S>): Promise<Process & { hurry?(): void }> // hurry: it was told to end twice
}

export async function manage<S extends ProcessSettings>({
  name,
  endWithinMs,
  settingsOf,
  helpOf,
  serve,
}: Program<S>): Promise<void> {
  const { settings, warnings } = readSettings(settingsOf)
  if (settings.help) return void process.stdout.write(helpOf())
  if (settings.version) return void process.stdout.write(`${name} ${about.version}\n`)
  const log = createLog({ to: process.stdout, level: levelOf(settings.verbosity) })
  for (const warning of warnings) log.warn(warning)
  process.on('uncaughtException', (error) => {
    log.error('a bug ended the process', { error })
    process.exit(70)
  })
  log.info('starting', { program: name, version: about.version, node: process.version })
  try {
    const access = findAccess({
      ...(settings.kubeconfig && { kubeconfig: settings.kubeconfig }),
      ...(settings.context && { context: settings.context }),
      env: process.env,
    })
    const onLost = () => process.exit(1) // at once: another may lead by now
    const served = await serve({ settings, access, userAgent: `${name}/${about.version}`, log, onLost })
    endOnSignal(served, endWithinMs, (signal) => log.info('ending', { signal }))
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

function endOnSignal(
  { stop, hurry = () => process.exit(1) }: Process & { hurry?(): void },
  endWithinMs: number,
  told: (signal: string) => void,
): void {
  let isEnding = false
  const end = (signal: string) => {
    if (isEnding) return hurry()
    isEnding = true
    told(signal)
    setTimeout(() => process.exit(1), endWithinMs).unref()
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
}
