// The command line of CAPT: which commands there are, what they take, and how what goes wrong is told. What a command does is in its
// own file, loaded when it is called: --help must not wait for it.
import { Command, CommanderError, Option } from 'commander'

export interface Surroundings {
  readonly version: string
  readonly argv: readonly string[] // without node and program
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly tree: (cluster: string, options: TreeOptions) => Promise<number>
}

export interface TreeOptions {
  readonly namespace?: string
  readonly kubeconfig?: string
  readonly context?: string
  readonly watch?: true
  readonly until?: 'available'
  readonly color: boolean
}

// The exit code: 0 done, 1 could not be done, 2 not understood.
export async function runCommand({ version, argv, out, err, tree }: Surroundings): Promise<number> {
  let code = 0
  const program = new Command('capt')
    .summary('the command line of CAPT')
    .version(`capt ${version}`, '--version', 'print the version')
    .helpOption('-h, --help', 'print this')
    .helpCommand(false)
    .configureHelp({ formatHelp: helpOf })
    .configureOutput({ writeOut: out, writeErr: err, outputError: () => {} })
    .exitOverride()
    .allowExcessArguments(false)
  program
    .command('tree')
    .summary('show a cluster and all that hangs on it, and the one reason worth reading')
    .argument('<cluster>', 'name of the Cluster')
    .option('-n, --namespace <namespace>', "its namespace (default: the context's)")
    .option('-w, --watch', 'go on showing it until Ctrl-C: redrawn on a terminal, else a line for each change')
    .addOption(new Option('--until <state>', 'like --watch, and end with 0 when it is so').choices(['available']))
    .option('--kubeconfig <file>', 'kubeconfig file (default: KUBECONFIG, else ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--no-color', 'no colours (also: NO_COLOR=1)')
    .copyInheritedSettings(program)
    .action(async (cluster: string, options: TreeOptions) => {
      code = await tree(cluster, options)
    })
  try {
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return 0
    if (error.code === 'commander.help') return 2 // it was printed already
    err(`${told(error.message)} (see --help)\n`)
    return 2
  }
}

// In our words, and as our other programs say it.
function told(message: string): string {
  return message
    .replace(/^error: /, '')
    .replace(/^unknown option '(.*?)'/, 'there is no flag $1')
    .replace(/^unknown command '(.*?)'/, 'there is no command $1')
    .replace(/^too many arguments.*$/s, 'too many arguments')
    .replaceAll('\n', ' ')
}

function helpOf(command: Command, help: ReturnType<Command['createHelp']>): string {
  const isProgram = command.parent === null
  const name = isProgram ? command.name() : `${command.parent?.name()} ${command.name()}`
  const rows = (all: readonly (readonly [string, string])[]) => {
    const width = Math.max(...all.map(([term]) => term.length))
    return all.map(([term, meaning]) => `  ${term.padEnd(width)}  ${meaning}`).join('\n')
  }
  const commands = help.visibleCommands(command).map((each) => [each.name(), each.summary()] as const)
  const given = help.visibleArguments(command).map((each) => [help.argumentTerm(each), each.description] as const)
  const flags = help.visibleOptions(command).map((each) => [help.optionTerm(each), each.description] as const)
  const usage = isProgram ? 'COMMAND [flags]' : [...given.map(([term]) => term.toUpperCase()), '[flags]'].join(' ')
  return [
    `${name}: ${command.summary()}\n`,
    `Usage: ${name} ${usage}\n`,
    ...(commands.length > 0 ? [`Commands:\n${rows(commands)}\n`] : []),
    `Flags:\n${rows(flags)}\n`,
  ].join('\n')
}
