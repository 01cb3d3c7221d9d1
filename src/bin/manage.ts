// What a program does before and around its work: read flags, answer --help and --version, end in order.
import about from '../../package.json' with { type: 'json' }
import { findAccess } from '../kube/find.ts'
import type { Controller } from '../runtime/controller.ts'
import { UsageError } from '../runtime/flags.ts'
import { createLog, levelOf, tellError } from '../runtime/log.ts'
import { serveManager } from '../runtime/serve.ts'
import { helpOf, type Settings, settingsOf } from '../runtime/settings.ts'

const endWithinMs = 25_000 // a pod has 30 s

export async function manage(controllersOf: (settings: Settings) => readonly Controller[]): Promise<void> {
  const name = 'capt-manager'
  const { settings, warnings } = readSettings(process.argv.slice(2))
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
    const manager = await serveManager({
      settings,
      access,
      controllers: controllersOf(settings),
      userAgent: `${name}/${about.version}`,
      log,
      onLost,
    })
    endOnSignal(manager.stop, (signal) => log.info('ending', { signal }))
  } catch (error) {
    log.error('cannot start', { why: tellError(error) })
    process.exit(1)
  }
}

function readSettings(argv: readonly string[]) {
  try {
    return settingsOf(argv)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n`)
    return process.exit(2)
  }
}

function endOnSignal(stop: () => Promise<void>, told: (signal: string) => void): void {
  let isEnding = false
  const end = (signal: string) => {
    if (isEnding) process.exit(1) // asked twice
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
