// What Terraform's commands are told beyond what the engine always tells them. Pure.
import type { ForProvider } from '../api/workspace.ts'
import { type Inputs, ownFiles } from './inputs.ts'
import type { Furnished } from './terraform.ts'

type Said = Pick<ForProvider, 'initArgs' | 'planArgs' | 'applyArgs' | 'destroyArgs'>

export function argumentsOf(inputs: Pick<Inputs, 'varArgs' | 'hasBackendFile'>, said: Said): Furnished['args'] {
  const { initArgs = [], planArgs = [], applyArgs = [], destroyArgs = [] } = said
  const { planned, applied } = divided(applyArgs)
  return {
    init: [...(inputs.hasBackendFile ? [`-backend-config=${ownFiles.backend}`] : []), ...initArgs],
    plan: [...inputs.varArgs, ...planArgs, ...planned],
    apply: applied,
    destroy: [...inputs.varArgs, ...destroyArgs],
  }
}

const planning = /^--?(?:var|var-file|target|target-file|exclude|exclude-file|replace|refresh|refresh-only)(?:=|$)/
const withValue = /^--?(?:var|var-file|target|target-file|exclude|exclude-file|replace)$/

// The provider plans anew when it applies, so users write options of planning among those of applying. We apply the plan that
// was looked at: those options belong to it, and Terraform refuses them later.
function divided(args: readonly string[]) {
  const planned: string[] = []
  const applied: string[] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    const taken = withValue.test(arg) ? args.slice(index, index + 2) : [arg]
    ;(planning.test(arg) ? planned : applied).push(...taken)
    index += taken.length - 1
  }
  return { planned, applied }
}
