// What an apply waits for: how far each of it is, and whether it waits in a circle. Pure.
import { type Said, vocabulary } from '../../api/condition.ts'
import { tellObject } from '../../api/resource.ts'
import { listed, shortened } from '../../api/text.ts'
import type { Workspace } from '../../api/workspace.ts'
import { WorkspaceTemplateApply } from '../../api/workspacetemplateapply.ts'
import { progressOf } from '../../terraform/progress.ts'
import { usedBy } from './relations.ts'

export interface Dependency {
  readonly what: 'Secret' | 'Workspace'
  readonly name: string
  readonly is: 'ready' | 'waiting' | 'failed'
  readonly why: string // for people; empty when it is ready
}

const say = vocabulary(WorkspaceTemplateApply.words)

export function dependencyOnApply(name: string, other: WorkspaceTemplateApply): Dependency {
  const { metadata, status } = other
  const conditionOf = (type: string) => status?.conditions?.find((each) => each.type === type)
  const ready = conditionOf('Ready')
  const about = { what: 'Workspace', name } as const
  if (metadata.deletionTimestamp !== undefined) return { ...about, is: 'waiting', why: 'it is being deleted' }
  if (!ready || ready.observedGeneration !== metadata.generation) return { ...about, is: 'waiting', why: '' }
  if (ready.status === 'True') return { ...about, is: 'ready', why: '' }
  if (ready.reason === 'TerraformFailed' || ready.reason === 'StateMissing')
    return { ...about, is: 'failed', why: ready.message }
  if (ready.reason === 'DependencyFailed') return { ...about, is: 'failed', why: 'what it waits for has failed' }
  return { ...about, is: 'waiting', why: ready.reason }
}

export function dependencyOnWorkspace(name: string, workspace: Workspace | undefined): Dependency {
  const about = { what: 'Workspace', name } as const
  if (!workspace) return { ...about, is: 'waiting', why: 'there is neither an apply nor a Workspace of that name' }
  const progress = progressOf(workspace)
  if (progress.is === 'converged') return { ...about, is: 'ready', why: '' }
  // What it says may be meant for others.
  if (progress.is === 'failed' || progress.is === 'stateMissing')
    return { ...about, is: 'failed', why: `see ${tellObject(workspace)}` }
  return { ...about, is: 'waiting', why: '' }
}

// The applies that wait for each other in a circle which this one is part of, from itself to itself.
export function ringOf(
  apply: WorkspaceTemplateApply,
  find: (name: string) => WorkspaceTemplateApply | undefined,
): readonly string[] | undefined {
  const goal = apply.metadata.name
  const seen = new Set<string>()
  const walk = (at: WorkspaceTemplateApply, path: readonly string[]): readonly string[] | undefined => {
    for (const name of usedBy(at)) {
      if (name === goal) return [...path, name]
      if (seen.has(name)) continue
      seen.add(name)
      const next = find(name)
      const ring = next && walk(next, [...path, name])
      if (ring) return ring
    }
    return undefined
  }
  return walk(apply, [goal])
}

// `isLong`: it has been waiting for more than ten minutes, which is worth a word. It never gives up.
export function tellDependencies(
  dependencies: readonly Dependency[],
  ring: readonly string[] | undefined,
  isLong: boolean,
): Said {
  if (ring) {
    const message = `they wait for each other: ${listed(ring, 20, ' → ')}. Take one of the references out`
    return say('DependenciesReady', 'DependencyCycle', message)
  }
  const failed = dependencies.filter(({ is }) => is === 'failed')
  if (failed.length > 0) return say('DependenciesReady', 'DependencyFailed', listed(failed.map(tell), told, '; '))
  const waiting = dependencies.filter(({ is }) => is === 'waiting')
  const [first] = waiting
  if (!first) return say('DependenciesReady', 'Ready')
  const same = waiting.filter(({ what }) => what === first.what)
  const reason = first.what === 'Secret' ? 'WaitingForSecrets' : 'WaitingForWorkspaces'
  return say('DependenciesReady', reason, `waits for ${listed(same.map(tell), told)}${isLong ? long : ''}`)
}

const long = ' for more than 10 minutes'
const told = 10

function tell({ name, is, why }: Dependency): string {
  if (!why) return name
  return is === 'failed' ? `${name} failed: ${shortened(why, 500)}` : `${name} (${why})`
}
