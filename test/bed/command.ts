// Runs a command to its end: its output, or an error with what it said.
import { spawn } from 'node:child_process'

export interface CommandOptions {
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

export async function runCommand(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const { input, env, cwd } = options
  const child = spawn(program, args, { env: { ...process.env, ...env }, ...(cwd !== undefined && { cwd }) })
  let output = ''
  let complaints = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text))
  child.stdin.on('error', () => {}) // it may end before it has read all; its exit code tells
  child.stdin.end(input ?? '')
  const code = await new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (exit, signal) => resolve(exit ?? signal))
  })
  if (code !== 0)
    throw new Error(`\`${[program.split('/').at(-1), ...args].join(' ')}\` ended with ${code}: ${complaints || output}`)
  return output
}
