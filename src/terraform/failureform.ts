// Tells that a command of Terraform failed, in the form Crossplane's provider tells it: scripts and people read that one. Pure.
// Values that must not be seen have to be out of the text before.
import { gzipSync } from 'node:zlib'

// The words of Crossplane's provider; of the last three it has none.
const troubles = {
  get: 'cannot get remote Terraform module',
  init: 'cannot initialize Terraform configuration',
  plan: 'cannot diff (i.e. plan) Terraform configuration',
  apply: 'cannot apply Terraform configuration',
  destroy: 'cannot destroy Terraform configuration',
  outputs: 'cannot list Terraform outputs',
  forget: 'cannot delete Terraform workspace',
  showPlan: 'cannot read the Terraform plan',
  push: 'cannot write the state of the last run, which is kept in the work folder and in a copy: cannot push Terraform state',
  unlock: 'cannot release the Terraform state lock',
} as const

export type Command = keyof typeof troubles

export interface Failed {
  readonly code: number
  readonly err: string // stderr
  readonly ended: 'byItself' | 'timeout' | 'stopped'
}

const longest = 30_000 // a condition takes 32,768 characters, and the step comes before
const longestSummary = 1000
const marker = '\n[…]\n'

// As events tell it; a condition says the step before: `observe failed: …`.
export function tellFailure(command: Command, failed: Failed): string {
  const before = `${troubles[command]}: Terraform encountered an error. Summary: ${summaryOf(failed)}. To see the full error run: echo "`
  const after = '" | base64 -d | gunzip'
  for (let keep = 65_536; ; keep = Math.floor(keep / 2)) {
    const blob = gzipSync(shortened(failed.err, keep)).toString('base64')
    if (before.length + blob.length + after.length <= longest) return before + blob + after
  }
}

// Of a command that was interrupted, what it printed is not the reason.
export const interruptions = {
  timeout: 'it took longer than it may (--timeout) and was interrupted',
  stopped: 'it was interrupted because the engine stops',
} as const

function summaryOf({ code, err, ended }: Failed): string {
  if (ended !== 'byItself') return interruptions[ended]
  const told = /Error: (.+)/.exec(err)?.[1] ?? err.split('\n').find((line) => line.trim() !== '')
  return (told ?? `it ended with code ${code} and said nothing`).trim().slice(0, longestSummary)
}

// The beginning says what went wrong, the end what came of it.
function shortened(text: string, keep: number): string {
  if (text.length <= keep) return text
  const half = Math.floor(keep / 2)
  return text.slice(0, half) + marker + text.slice(text.length - half)
}
