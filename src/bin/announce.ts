// A program that has nothing to run yet: it answers --help and --version.
import about from '../../package.json' with { type: 'json' }

export function announce(name: string, summary: string): void {
  const help = `${name}: ${summary}\n\nUsage: ${name} [--help] [--version]\n`
  const [asked] = process.argv.slice(2)
  if (asked === '--version') return void process.stdout.write(`${name} ${about.version}\n`)
  if (asked === '--help' || asked === '-h') return void process.stdout.write(help)
  process.stderr.write(
    asked === undefined ? `${name} ${about.version} has nothing to run yet.\n${help}` : `unknown: ${asked}\n${help}`,
  )
  process.exitCode = 2
}
