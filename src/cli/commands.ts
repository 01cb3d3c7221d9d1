// The command line of CAPT: which commands there are, what they take, and how what goes wrong is told. What a command does is in its
// own file, loaded when it is called: --help must not wait for it.
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import type { Whereabouts } from './access.ts'

export interface Surroundings {
  readonly version: string
  readonly argv: readonly string[] // without node and program
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly tree: (cluster: string, options: TreeOptions) => Promise<number>
  readonly state: {
    readonly list: (apply: string, options: Whereabouts) => Promise<number>
    readonly export: (apply: string, options: ExportOptions) => Promise<number>
    readonly restore: (apply: string, options: RestoreOptions) => Promise<number>
  }
  readonly cleanUpMoved: (options: CleanupOptions) => Promise<number>
}

export interface CleanupOptions extends Whereabouts {
  readonly yes?: true
}

export interface ExportOptions extends Whereabouts {
  readonly at?: string
  readonly output?: string
}

export interface RestoreOptions extends Whereabouts {
  readonly at?: string
  readonly from?: string
  readonly secret?: string
  readonly force?: true
  readonly yes?: true
}

export interface TreeOptions extends Whereabouts {
  readonly watch?: true
  readonly until?: 'available'
  readonly color: boolean
}

// The exit code: 0 done, 1 could not be done, 2 not understood.
export async function runCommand({
  version,
  argv,
  out,
  err,
  tree,
  state,
  cleanUpMoved,
}: Surroundings): Promise<number> {
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
  const ended = async (run: Promise<number>) => {
    code = await run
  }
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
    .action(async (cluster: string, options: TreeOptions) => ended(tree(cluster, options)))
  const states = program
    .command('state')
    .summary("list, export and restore the copies of an apply's Terraform state")
    .copyInheritedSettings(program)
  const stateCommand = (name: string, summary: string) =>
    states
      .command(name)
      .summary(summary)
      .argument('<apply>', 'name of the WorkspaceTemplateApply')
      .option('-n, --namespace <namespace>', "its namespace (default: the context's)")
      .option('--kubeconfig <file>', 'kubeconfig file (default: KUBECONFIG, else ~/.kube/config)')
      .option('--context <name>', 'context of the kubeconfig (default: its current one)')
      .copyInheritedSettings(program)
  program
    .command('cleanup')
    .summary('remove what is left behind on purpose')
    .copyInheritedSettings(program)
    .command('moved')
    .summary('remove the Workspaces that clusterctl move left in its source')
    .option('-n, --namespace <namespace>', "of the applies that were moved (default: the context's)")
    .option('--kubeconfig <file>', 'kubeconfig file (default: KUBECONFIG, else ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('-y, --yes', 'do not ask')
    .copyInheritedSettings(program)
    .action(async (options: CleanupOptions) => ended(cleanUpMoved(options)))
  const at = '--at <copy>'
  stateCommand('list', 'show the state as it is, and the copies there are of it').action(
    async (apply: string, options: Whereabouts) => ended(state.list(apply, options)),
  )
  stateCommand('export', 'write the state, or a copy of it, to a file that only you can read')
    .option(at, 'which copy, as `capt state list` names it, or latest (default: the state as it is)')
    .option('-o, --output <file>', 'where to write it (default: APPLY-SERIAL.tfstate; - for standard output)')
    .action(async (apply: string, options: ExportOptions) => ended(state.export(apply, options)))
  stateCommand('restore', 'put a copy of the state, or a state from a file, in the place of the state')
    .option(at, 'which copy, as `capt state list` names it, or latest')
    .addOption(new Option('--from <file>', 'a state in a file, in the place of a copy').conflicts('at'))
    .option('--secret <namespace/name>', 'where the state belongs (default: where its copies are from)', inNamespace)
    .option('--force', 'also when it is of another lineage than the state was')
    .option('-y, --yes', 'do not ask')
    .action(async (apply: string, options: RestoreOptions) => ended(state.restore(apply, options)))
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

function inNamespace(text: string): string {
  if (/^[^/\s]+\/[^/\s]+$/.test(text)) return text
  throw new InvalidArgumentError('Write it as NAMESPACE/NAME.')
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

// "capt state list"
function pathOf(command: Command): string {
  const { parent } = command
  return parent ? `${pathOf(parent)} ${command.name()}` : command.name()
}

function helpOf(command: Command, help: ReturnType<Command['createHelp']>): string {
  const name = pathOf(command)
  const rows = (all: readonly (readonly [string, string])[]) => {
    const width = Math.max(...all.map(([term]) => term.length))
    return all.map(([term, meaning]) => `  ${term.padEnd(width)}  ${meaning}`).join('\n')
  }
  const commands = help.visibleCommands(command).map((each) => [each.name(), each.summary()] as const)
  const given = help.visibleArguments(command).map((each) => [help.argumentTerm(each), each.description] as const)
  const flags = help.visibleOptions(command).map((each) => [help.optionTerm(each), each.description] as const)
  const usage =
    commands.length > 0 ? 'COMMAND [flags]' : [...given.map(([term]) => term.toUpperCase()), '[flags]'].join(' ')
  return [
    `${name}: ${command.summary()}\n`,
    `Usage: ${name} ${usage}\n`,
    ...(commands.length > 0 ? [`Commands:\n${rows(commands)}\n`] : []),
    `Flags:\n${rows(flags)}\n`,
  ].join('\n')
}
