// What goes wrong in a step of a pass: what is somebody's to mend becomes what the Workspace says, what the world does is thrown and
// tried again.
import { ApiError, isRefused, NotLeading } from '../kube/errors.ts'
import { PlanError } from '../terraform/planned.ts'
import { ConnectionError } from './connection.ts'
import type { Done, Failure, Phase, Step } from './decide.ts'

// What the API server or a rule of ours refuses, and what this machine cannot do.
export function refusal(error: unknown, phase: Phase): Failure {
  if (error instanceof ConnectionError || error instanceof PlanError || isRefused(error))
    return { phase, told: error.message }
  if (isOfFiles(error)) return { phase, told: `the work folder cannot be used: ${error.message}` }
  throw error
}

// A socket has a syscall, too; but what the API server does is an ApiError.
function isOfFiles(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error
}

// Of something on this machine, as a sentence; what the API server does is not told so.
export function troubleOf(error: unknown): string {
  if (!(error instanceof Error) || error instanceof ApiError || error instanceof NotLeading) throw error
  return error.message
}

// Which phase a step is part of; none: it would be tried again at once, and for ever.
export function phaseOf(step: Step, { begun }: Done): Phase | undefined {
  switch (step.do) {
    case 'name':
    case 'connect':
    case 'claim':
    case 'init':
      return 'connect'
    case 'plan':
    case 'handOver':
      return 'observe'
    case 'begin':
    case 'apply':
      return step.what
    case 'publish':
    case 'sign':
      return begun ?? 'observe'
    case 'destroy':
    case 'forget':
      return 'delete'
    case 'release':
    case 'settle':
    case 'tell':
    case 'rest':
      return undefined
  }
}
