// A program that has nothing to run yet: it answers --help and --version.
import about from '../../package.json' with { type: 'json' }

export function announce(name: string, summary: string): void {
  const [asked] = process.argv.slice(2)
  if (asked === '--version') return void process.stdout.write(`${name} ${about.version}\n`)
  if (asked === '--help' || asked === '-h') {
    return void process.stdout.write(`${name}: ${summary}\n\nUsage: ${name} [--help] [--version]\n`)
  }
  const why = asked === undefined ? 'there is nothing to run yet' : `there is no flag ${asked}`
  process.stderr.write(`${why} (see --help)\n`)
  process.exitCode = 2
}
