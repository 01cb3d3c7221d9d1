// Asks whoever sits at the terminal whether something is to be done.
import { createInterface } from 'node:readline/promises'
import { Complaint } from './complaint.ts'

export async function agrees({ stdin, stdout }: Pick<NodeJS.Process, 'stdin' | 'stdout'>, what: string) {
  if (!stdin.isTTY) throw new Complaint('nothing was done: nobody can be asked here, so pass --yes')
  const lines = createInterface({ input: stdin, output: stdout })
  try {
    return /^y(es)?$/i.test((await lines.question(`${what} [y/N] `)).trim())
  } finally {
    lines.close()
  }
}
