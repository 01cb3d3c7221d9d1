// How a command ended, and all that it said.
import type { ChildProcess } from 'node:child_process'

export interface Ended {
  readonly code: number | NodeJS.Signals | null
  readonly output: string
  readonly complaints: string
}

export async function ended(child: ChildProcess): Promise<Ended> {
  let output = ''
  let complaints = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaints += text))
  const code = await new Promise<Ended['code']>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (exit, signal) => resolve(exit ?? signal))
  })
  return { code, output, complaints }
}
