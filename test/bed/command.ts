// Runs a command to its end: its output, or an error with what it said.
import { spawn } from 'node:child_process'
import { ended } from '../../tools/ended.ts'

export interface CommandOptions {
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
}

export async function runCommand(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const { input, env } = options
  const child = spawn(program, args, { env: { ...process.env, ...env } })
  child.stdin.on('error', () => {}) // it may end before it has read all; its exit code tells
  child.stdin.end(input ?? '')
  const { code, output, complaints } = await ended(child)
  if (code !== 0)
    throw new Error(`\`${[program.split('/').at(-1), ...args].join(' ')}\` ended with ${code}: ${complaints || output}`)
  return output
}
