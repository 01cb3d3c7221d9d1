// What all three programs answer before anything else: --help and --version.
import { parseArgs } from 'node:util'
import about from '../../package.json' with { type: 'json' }

export interface Program {
  readonly name: string
  readonly summary: string
}

export function run({ name, summary }: Program): void {
  const help = `${name}: ${summary}\n\nUsage: ${name} [--help] [--version]\n`
  try {
    const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } } })
    if (values.version) return void process.stdout.write(`${name} ${about.version}\n`)
    if (values.help) return void process.stdout.write(help)
    process.stderr.write(`${name} ${about.version} has nothing to run yet.\n${help}`)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${help}`)
  }
  process.exitCode = 2
}
