// The engine's command line. Nothing else configures the engine, but for the environment that ProviderConfigs may name.
import {
  anyText,
  type Declare,
  duration,
  type Form,
  flagsOf,
  readFlags,
  tellFlags,
  wholeNumber,
} from '../runtime/flags.ts'
import { checkElection, clientFlags, processFlags } from '../runtime/settings.ts'
import { graceMs } from './cli.ts'

export type EngineSettings = ReturnType<typeof declare>

const maybeNone: Form<number> = {
  shape: 'duration',
  read: (text) => (/^0s?$/.test(text) ? 0 : duration.read(text)),
}

function declare(flag: Declare) {
  return {
    ...clientFlags(flag),

    pollMs: flag.one('poll', duration, '10m', 'How often a Workspace is planned although nothing changed.'),
    jitterMs: flag.one('poll-jitter', maybeNone, '1m', 'How much sooner or later than that, by chance.'),
    timeoutMs: flag.one('timeout', duration, '90m', 'How long one run of Terraform may take before it is interrupted.'),
    drainMs: flag.one('drain-timeout', duration, '92m', howToEnd),
    concurrency: flag.one('max-reconcile-rate', wholeNumber(1), '4', 'How many Workspaces are worked on at a time.'),
    binary: flag.one(
      'terraform-binary',
      anyText,
      '',
      'What to run: a path or a name; empty means tofu, else terraform.',
    ),
    root: flag.one('root', anyText, '/var/lib/capt-engine', 'A folder of our own for the work folders of Workspaces.'),

    ...processFlags(flag),
  }
}

const howToEnd =
  'How long runs may go on once the engine is told to end, before they are interrupted: 2 minutes less than its pod has to end.'

// From the interrupt to the end of the process: a run that does not heed it is killed, and what came of it is written down.
export const hurryMs = graceMs + 30_000

// What a pod with such settings needs to end.
export function gracePeriodSeconds({ drainMs }: Pick<EngineSettings, 'drainMs'>): number {
  return Math.ceil((drainMs + hurryMs + 30_000) / 1000)
}

export function engineSettingsOf(argv: readonly string[]): {
  readonly settings: EngineSettings
  readonly warnings: readonly string[]
} {
  const read = readFlags(argv, declare, [])
  checkElection(read.settings)
  return read
}

export const engineFlags = flagsOf(declare)

export function engineHelp(): string {
  return [
    'capt-engine: runs OpenTofu or Terraform for Workspaces, for people without Crossplane\n\n',
    'Usage: capt-engine [--flag=value …]\n\n',
    tellFlags(engineFlags),
  ].join('')
}
